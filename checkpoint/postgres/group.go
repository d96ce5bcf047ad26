package postgres

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

const (
	maxDirect  = 2        // appends or groups under way at once before others queue
	writers    = 3        // goroutines that send what is queued
	maxGroup   = 64       // appends of a group
	maxBytes   = 1 << 20  // what they send together
	maxGrouped = 64 << 10 // a larger append always goes alone: it would make the others wait
)

// A group shares commits: when many appends are under way, those that come next wait for each other and go to the server in
// one statement, which is one commit. When few are, an append goes at once.
type group struct {
	s     *Store
	mu    sync.Mutex
	wake  *sync.Cond
	busy  int // appends that are under way by themselves, and groups
	queue []*waiter
	stop  bool
	ended sync.WaitGroup
}

// A waiter is an append in the queue. Its fields are the group's until done is closed.
type waiter struct {
	*hot
	ctx     context.Context
	verdict verdict
	done    chan struct{}
}

type verdict uint8

const (
	single  verdict = iota // the caller sends it by itself, and then leaves
	grouped                // it is stored
	unfit                  // it did not fit; nothing of it was stored
)

func newGroup(s *Store) *group {
	g := &group{s: s}
	g.wake = sync.NewCond(&g.mu)
	for range writers {
		g.ended.Go(g.loop)
	}
	return g
}

// add decides whether an append goes alone, and otherwise waits for its outcome.
func (g *group) add(ctx context.Context, h *hot) (verdict, error) {
	g.mu.Lock()
	if h.size > maxGrouped || !h.form.oneChain() || g.busy < maxDirect && len(g.queue) == 0 {
		g.busy++
		g.mu.Unlock()
		return single, nil
	}
	w := &waiter{hot: h, ctx: ctx, done: make(chan struct{})}
	g.queue = append(g.queue, w)
	g.wake.Signal()
	g.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
		return unfit, g.abandon(w)
	}
	if w.verdict == single {
		g.mu.Lock()
		g.busy++
		g.mu.Unlock()
	}
	return w.verdict, nil
}

// abandon takes an append out of the queue. If it is on its way already nobody knows whether it happens.
func (g *group) abandon(w *waiter) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = slices.DeleteFunc(g.queue, func(o *waiter) bool { return o == w })
	return late(context.Cause(w.ctx))
}

// leave ends an append that went alone, or a group.
func (g *group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
}

// close waits until the queue is empty.
func (g *group) close() {
	g.mu.Lock()
	g.stop = true
	g.wake.Broadcast()
	g.mu.Unlock()
	g.ended.Wait()
}

func (g *group) loop() {
	for {
		ws := g.take()
		if len(ws) == 0 {
			return
		}
		g.commit(ws)
		g.leave()
	}
}

// take waits for work. It returns nothing when the store was closed and the queue is empty.
func (g *group) take() []*waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.queue) == 0 && !g.stop {
		g.wake.Wait()
	}
	if len(g.queue) == 0 {
		return nil
	}
	g.busy++
	tenant := g.queue[0].Tenant
	var ws, rest []*waiter
	bytes := 0
	for _, w := range g.queue {
		if len(ws) < maxGroup && bytes+w.size <= maxBytes && (w.Tenant == tenant || !g.s.o.RowSecurity) {
			ws = append(ws, w)
			bytes += w.size
		} else {
			rest = append(rest, w)
		}
	}
	g.queue = rest
	if len(g.queue) > 0 {
		g.wake.Signal()
	}
	return ws
}

// commit sends a group. If the server refuses any of it, each caller sends its own again, so that nobody pays for another's
// append; so too when the outcome is unknown, for an append may be repeated.
func (g *group) commit(ws []*waiter) {
	// Everybody locks in this order, so that two groups never wait for each other.
	slices.SortStableFunc(ws, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Thread, b.Thread))
	})
	ctx, cancel := context.WithTimeout(context.Background(), g.s.o.OpTimeout)
	defer cancel()
	done := make([]bool, len(ws))
	err := g.s.send(ctx, g.s.pool, false, func(b *batch) {
		clear(done)
		b.local(ws[0].Tenant, true)
		b.bundle(ws, done)
	})
	for i, w := range ws {
		switch {
		case err != nil:
			w.verdict = single
		case done[i]:
			w.verdict = grouped
		default:
			w.verdict = unfit
		}
		close(w.done)
	}
}
