package graph

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A Recovered is what became of one thread that Recover has continued. Err is what Resume would have returned: nil, an
// *Interrupted, a failure.
type Recovered struct {
	Thread Thread
	Err    error
}

// ServeOptions of Serve.
type ServeOptions struct {
	Every time.Duration   // pause between two rounds; default 1 s
	Done  func(Recovered) // is told of each continued thread; may be nil
}

// recover continues what is left over, a bounded number of threads at a time.
func (c *core) recover(ctx context.Context, ro RunOptions) ([]Recovered, error) {
	if c.store == nil {
		return nil, ErrNoStore
	}
	if c.bare() {
		return nil, ErrNoProgram
	}
	keys, err := c.orphans(ctx)
	if err != nil {
		return nil, err
	}
	out := make([][]Recovered, len(keys))
	slots := make(chan struct{}, c.opts.MaxConcurrency)
	var wg sync.WaitGroup
	for i, k := range keys {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			out[i] = c.sweep(ctx, Thread{Tenant: k.Tenant, ID: k.Thread}, ro)
		})
	}
	wg.Wait()
	return slices.Concat(out...), context.Cause(ctx)
}

// sweep continues one thread until nothing of it is left to do without a person.
func (c *core) sweep(ctx context.Context, th Thread, ro RunOptions) (out []Recovered) {
	for ctx.Err() == nil {
		r, err := c.resume(ctx, th, ro, []Command{{sweep: true}})
		switch {
		case err == nil:
			r.start()
			err = r.wait()
		case errors.Is(err, ErrInterrupted), errors.Is(err, ErrBusy), errors.Is(err, ErrNothingToDo):
			return out // nothing of it can run yet, or somebody else was faster
		}
		out = append(out, Recovered{th, err})
		if r == nil || !r.onward() {
			return out
		}
	}
	return out
}

// orphans lists the threads of this graph that nobody works on although there is something to do.
func (c *core) orphans(ctx context.Context) (keys []checkpoint.Key, err error) {
	seen := map[checkpoint.Key]bool{}
	add := func(k checkpoint.Key) {
		if !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	// Whoever died may have held the thread in any status; whoever drained has left a running one that nobody holds.
	for _, f := range []checkpoint.ThreadFilter{{Held: true}, {Status: checkpoint.Running}} {
		f.Graph = c.plan.id.Name
		for {
			heads, err := c.store.Threads(ctx, f)
			if err != nil {
				return nil, err
			}
			for i := range heads {
				h := &heads[i]
				f.After = h.Key
				if h.Held() && (h.Expired || c.dead(h)) || !h.Held() && h.Status == checkpoint.Running {
					add(h.Key)
				}
			}
			if len(heads) == 0 {
				break
			}
		}
	}
	for _, find := range []func(context.Context) ([]checkpoint.Key, error){c.decided, c.commanded} {
		more, err := find(ctx)
		if err != nil {
			return nil, err
		}
		for _, k := range more {
			add(k)
		}
	}
	return keys, nil
}

// commanded lists threads with a command that nobody looks at: a cancel of a run that waits, an input whose turn has come.
func (c *core) commanded(ctx context.Context) (keys []checkpoint.Key, err error) {
	f := checkpoint.ThreadFilter{Graph: c.plan.id.Name, HasInbox: true}
	for {
		heads, err := c.store.Threads(ctx, f)
		if err != nil || len(heads) == 0 {
			return keys, err
		}
		for i := range heads {
			h := &heads[i]
			f.After = h.Key
			if c.worked(h) {
				continue
			}
			cmds, err := c.store.Inbox(ctx, h.Key)
			if err != nil {
				return nil, err
			}
			if h.Status == checkpoint.Interrupted && cancelOf(h.Run, cmds) != nil || h.Status.Ended() && len(c.queued(cmds, 0)) > 0 {
				keys = append(keys, h.Key)
			}
		}
	}
}

// decided lists threads with answers that no task has used yet, and with questions that nobody can answer any more.
func (c *core) decided(ctx context.Context) (keys []checkpoint.Key, err error) {
	for _, f := range []checkpoint.QuestionFilter{{State: checkpoint.Answered}, {Expired: true}} {
		more, err := c.waitedFor(ctx, f)
		if err != nil {
			return nil, err
		}
		keys = append(keys, more...)
	}
	return keys, nil
}

// waitedFor lists threads that wait for such questions.
func (c *core) waitedFor(ctx context.Context, f checkpoint.QuestionFilter) (keys []checkpoint.Key, err error) {
	for {
		qs, err := c.store.Questions(ctx, f)
		if err != nil || len(qs) == 0 {
			return keys, err
		}
		for i := range qs {
			f.After = checkpoint.QuestionCursor{Asked: qs[i].Asked, Key: qs[i].Key, ID: qs[i].ID}
			h, err := c.headOf(ctx, qs[i].Key)
			if err != nil {
				return nil, err
			}
			if h.Graph == c.plan.id.Name && h.Status == checkpoint.Interrupted && (!h.Held() || h.Expired || c.dead(h)) {
				keys = append(keys, qs[i].Key)
			}
		}
	}
}

// noChain is a namespace that no chain has, for a load that is about the head alone.
var noChain = checkpoint.NamespaceOf("head")

func (c *core) headOf(ctx context.Context, k checkpoint.Key) (*checkpoint.Head, error) {
	l, err := c.store.Load(ctx, k, checkpoint.Active, noChain)
	if err != nil {
		return nil, err
	}
	return &l.Head, nil
}

func (c *core) serve(ctx context.Context, ro RunOptions, o ServeOptions) error {
	if c.store == nil {
		return ErrNoStore
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	c.serving.Add(1)
	c.mu.Unlock()
	defer c.serving.Done()
	if o.Every <= 0 {
		o.Every = time.Second
	}
	for {
		list, err := c.recover(ctx, ro)
		if err != nil && !isRetryable(err) && ctx.Err() == nil {
			return err
		}
		if o.Done != nil {
			for _, r := range list {
				o.Done(r)
			}
		}
		wake, stop := c.after(o.Every)
		select {
		case <-wake:
		case <-c.closing:
			stop()
			return ErrClosed
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
	}
}
