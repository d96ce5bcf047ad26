package redis

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	maxSending  = 2                     // appends, or groups of them, on their way at once before others queue
	maxHeld     = 16                    // the same when those on their way are slow
	maxTogether = 64                    // appends of a group
	maxBytes    = 4 << 20               // what they send together
	maxGrouped  = 256 << 10             // a larger body goes by itself: it would make the others wait
	patience    = 10 * time.Millisecond // how long an append stays in the queue before it is sent beside those on their way
)

// A pipeline sends ordinary appends of different threads together when many are under way: one request, and where the
// server syncs, one sync. When few are, each goes at once, on the goroutine of its caller. One that is stuck does not hold
// up the others: what has been queued for too long is sent beside it.
type pipeline struct {
	s       *Store
	apart   bool // of several servers: an append goes by itself, so that a server that is away holds up nobody else
	mu      sync.Mutex
	sending int
	queue   []*queued
	watch   *time.Timer    // not nil while something is queued
	ended   sync.WaitGroup // goroutines that send what is queued
}

// A queued append waits for its turn. Its reply is set before done is closed.
type queued struct {
	task
	size  int
	since time.Time
	reply *reply
	done  chan struct{}
}

// run sends one append and returns its reply. When the context ends first nobody knows whether it happened.
func (p *pipeline) run(ctx context.Context, t task, size int) *reply {
	if p.apart || size > maxGrouped {
		return p.sendOne(ctx, t)
	}
	p.mu.Lock()
	if p.sending < maxSending && len(p.queue) == 0 {
		p.sending++
		p.mu.Unlock()
		defer p.pass()
		return p.sendOne(ctx, t)
	}
	q := &queued{task: t, size: size, since: time.Now(), done: make(chan struct{})}
	p.queue = append(p.queue, q)
	if p.watch == nil {
		p.watch = time.AfterFunc(patience, p.hurry)
	}
	p.mu.Unlock()
	select {
	case <-q.done:
		return q.reply
	case <-ctx.Done():
		p.mu.Lock()
		p.queue = slices.DeleteFunc(p.queue, func(o *queued) bool { return o == q })
		p.mu.Unlock()
		return &reply{err: late(context.Cause(ctx))}
	}
}

func (p *pipeline) sendOne(ctx context.Context, t task) *reply {
	v, err := scriptOne.Run(ctx, p.s.client, t.keys, t.args...).Result()
	return newReply(v, err)
}

// hurry sends what has been queued for too long beside what is on its way, and looks again as long as anything is queued.
func (p *pipeline) hurry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.watch = nil
		return
	}
	if p.overdue() && p.sending < maxHeld {
		p.sending++
		p.ended.Go(p.drain)
	}
	p.watch = time.AfterFunc(patience, p.hurry)
}

// overdue reports whether the first of the queue has waited too long. The mutex is held.
func (p *pipeline) overdue() bool {
	return len(p.queue) > 0 && time.Since(p.queue[0].since) >= patience
}

// pass gives the place on the way to what is queued, if there is anything.
func (p *pipeline) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leave() {
		return
	}
	p.ended.Go(p.drain)
}

// leave gives a place up that nobody needs: nothing is queued, or it was an additional one and nothing waits too long. The
// mutex is held.
func (p *pipeline) leave() bool {
	gone := len(p.queue) == 0 || p.sending > maxSending && !p.overdue()
	if gone {
		p.sending--
	}
	return gone
}

// drain sends groups as long as its place is needed.
func (p *pipeline) drain() {
	for {
		group := p.take()
		if len(group) == 0 {
			return
		}
		p.send(group)
	}
}

// take removes a group from the queue. If there is none for this place it gives the place up.
func (p *pipeline) take() []*queued {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leave() {
		return nil
	}
	n, bytes := 0, 0
	for n < min(len(p.queue), maxTogether) && (n == 0 || bytes+p.queue[n].size <= maxBytes) {
		bytes += p.queue[n].size
		n++
	}
	group := slices.Clone(p.queue[:n])
	p.queue = slices.Delete(p.queue, 0, n)
	return group
}

// send sends a group. Each append has a verdict of its own: they share a request, not a fate.
func (p *pipeline) send(group []*queued) {
	ctx, cancel := context.WithTimeout(context.Background(), p.s.o.OpTimeout)
	defer cancel()
	tasks := make([]task, len(group))
	for i, q := range group {
		tasks[i] = q.task
	}
	for i, r := range evalAll(ctx, p.s.client, scriptOne, tasks) {
		group[i].reply = r
		close(group[i].done)
	}
}
