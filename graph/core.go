package graph

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/procid"
)

// core is an App without the type of its state: the plan, the store, and the runs under way.
type core struct {
	plan   *plan
	opts   Options
	store  checkpoint.Store
	cache  checkpoint.Cache
	keeper *keeper
	warm   *warm

	live sync.Map // checkpoint.Key -> *run: the runs whose events can be joined

	mu      sync.Mutex
	runs    map[*run]struct{}
	idle    *sync.Cond // no run is under way, no call is out
	drain   atomic.Bool
	closed  bool
	out     map[*task]string // abandoned tasks that have not returned, by node
	timed   map[string]int   // calls with a time-out that have not returned, by node
	serving sync.WaitGroup
	closing chan struct{} // closed by close
}

func newCore(p *plan, o Options) *core {
	c := &core{plan: p, opts: o.withDefaults(), store: o.Store, cache: cacheOf(&o), runs: map[*run]struct{}{}, out: map[*task]string{}, timed: map[string]int{}, closing: make(chan struct{}), warm: newWarm()}
	c.idle = sync.NewCond(&c.mu)
	if c.store != nil {
		c.keeper = newKeeper(c.store, c.opts.Lease)
	}
	return c
}

// held are the acquisitions of this process: a thread held by this process under any other nonce is held by nobody.
var held sync.Map // checkpoint.Nonce -> *run

// dead reports whether the holder of a thread is known to be gone: its process, or its run inside this process.
func (c *core) dead(h *checkpoint.Head) bool {
	if !h.Held() {
		return false
	}
	if h.Holder == procid.Self() {
		_, alive := held.Load(h.Nonce)
		return !alive
	}
	return procid.Dead(h.Holder, c.store.Info().Local)
}

// enroll counts a run in, unless the App is closed.
func (c *core) enroll(r *run) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	c.runs[r] = struct{}{}
	return nil
}

// forget stops what works for a run: its writer and the renewal of its lease.
func (c *core) forget(r *run) {
	if r.journal != nil {
		r.journal.writer.Wait()
		c.keeper.drop(r)
		held.Delete(r.journal.nonce)
	}
}

// leave counts a run out, as the last thing that is done for it.
func (c *core) leave(r *run) {
	c.mu.Lock()
	delete(c.runs, r)
	c.idle.Broadcast()
	c.mu.Unlock()
}

// missing notes a task that was abandoned and has not returned.
func (c *core) missing(t *task) {
	c.mu.Lock()
	c.out[t] = t.node.name
	c.mu.Unlock()
}

func (c *core) returned(t *task) {
	c.mu.Lock()
	delete(c.out, t)
	c.idle.Broadcast()
	c.mu.Unlock()
}

// enter counts a call with a time-out in; what it returns counts it out.
func (c *core) enter(node string) func() {
	c.mu.Lock()
	c.timed[node]++
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		if c.timed[node]--; c.timed[node] == 0 {
			delete(c.timed, node)
		}
		c.idle.Broadcast()
		c.mu.Unlock()
	}
}

func (c *core) draining() bool { return c.drain.Load() }

// close drains all runs and waits until nothing of this App is left, or ctx ends.
func (c *core) close(ctx context.Context) error {
	c.mu.Lock()
	if !c.closed {
		close(c.closing)
	}
	c.closed = true
	c.drain.Store(true)
	c.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		c.idle.Broadcast()
		c.mu.Unlock()
	})
	defer stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.runs)+len(c.out)+len(c.timed) > 0 && ctx.Err() == nil {
		c.idle.Wait()
	}
	if err := c.unreturned(); err != nil {
		return err
	}
	c.mu.Unlock()
	defer c.mu.Lock()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.serving.Wait()
		if c.keeper != nil {
			c.keeper.wait()
		}
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return &UnreturnedError{[]string{"Serve, or a call of the store"}}
	}
}

// unreturned names what is still out. The lock is held.
func (c *core) unreturned() error {
	var names []string
	for _, n := range c.out {
		names = append(names, n)
	}
	for n, k := range c.timed {
		names = append(names, slices.Repeat([]string{n}, k)...)
	}
	for r := range c.runs {
		select {
		case <-r.done: // it has ended, and is about to be counted out
			continue
		default:
		}
		busy := r.busy()
		if len(busy) == 0 && len(c.timed) == 0 {
			busy = []string{"run " + r.id + " of thread " + r.thread.String()}
		}
		names = append(names, busy...)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return &UnreturnedError{names}
}

// after is Clock.After; no duration never fires.
func (c *core) after(d time.Duration) (<-chan time.Time, func()) {
	if d <= 0 {
		return nil, func() {}
	}
	return c.opts.Clock.After(d)
}

// log writes a line about a run. No state, no prompt, no answer is ever in it.
func (c *core) log(r *run, msg string, args ...any) {
	l := c.opts.Logger
	if l == nil {
		return
	}
	l.LogAttrs(detached(r.ctx), slog.LevelInfo, msg, append([]slog.Attr{
		slog.String("graph", c.plan.id.Name), slog.String("thread", r.thread.String()), slog.String("run", r.root.id),
	}, attrs(args)...)...)
}

func attrs(args []any) []slog.Attr {
	g := slog.Group("", args...)
	return g.Value.Group()
}
