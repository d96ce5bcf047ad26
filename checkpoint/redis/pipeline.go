package redis

import (
	"context"
	"slices"
	"sync"
)

const (
	maxSending  = 2       // appends, or groups of them, on their way at once before others queue
	maxTogether = 64      // appends of a group
	maxBytes    = 4 << 20 // what they send together
)

// A pipeline sends ordinary appends of different threads together when many are under way: one request, and where the
// server syncs, one sync. When few are, each goes at once, on the goroutine of its caller.
type pipeline struct {
	s       *Store
	mu      sync.Mutex
	sending int
	queue   []*queued
	ended   sync.WaitGroup // goroutines that send what is queued
}

// A queued append waits for its turn. Its reply is set before done is closed.
type queued struct {
	task
	size  int
	reply *reply
	done  chan struct{}
}

// run sends one append and returns its reply. When the context ends first nobody knows whether it happened.
func (p *pipeline) run(ctx context.Context, t task, size int) *reply {
	p.mu.Lock()
	if p.sending < maxSending && len(p.queue) == 0 {
		p.sending++
		p.mu.Unlock()
		defer p.pass()
		v, err := scriptOne.Run(ctx, p.s.client, t.keys, t.args...).Result()
		return newReply(v, err)
	}
	q := &queued{task: t, size: size, done: make(chan struct{})}
	p.queue = append(p.queue, q)
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

// pass gives the place on the way to what is queued, if there is anything.
func (p *pipeline) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.sending--
		return
	}
	p.ended.Go(p.drain)
}

// drain sends groups until nothing is queued.
func (p *pipeline) drain() {
	for {
		group := p.take()
		if len(group) == 0 {
			return
		}
		p.send(group)
	}
}

// take removes a group from the queue. If there is none it gives the place up.
func (p *pipeline) take() []*queued {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, bytes := 0, 0
	for n < min(len(p.queue), maxTogether) && (n == 0 || bytes+p.queue[n].size <= maxBytes) {
		bytes += p.queue[n].size
		n++
	}
	if n == 0 {
		p.sending--
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
