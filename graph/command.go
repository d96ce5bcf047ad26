package graph

import (
	"context"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// renewed takes the outcome of a renewal. It runs beside the driver.
func (r *run) renewed(got checkpoint.Renewal) {
	if got.Lost {
		switch {
		case r.ending():
		case got.RolledBack:
			r.lose(checkpoint.ErrRolledBack)
		default:
			r.lose(checkpoint.ErrStale)
		}
		return
	}
	r.journal.news(got.Inbox)
	if r.journal.unseen() {
		r.peek()
	}
}

// ending reports whether the run is over, or its last write is under way and may have released the lease.
func (r *run) ending() bool {
	select {
	case <-r.done:
		return true
	default:
		return r.journal.parking()
	}
}

// peek looks for what must not wait for the next superstep: a cancel ends the context of the nodes, a drain is shown to
// them. Everything else is left to the driver.
func (r *run) peek() {
	ctx, cancel := context.WithTimeout(context.Background(), r.c.opts.Lease/2)
	defer cancel()
	cmds, err := r.c.store.Inbox(ctx, r.key)
	if err != nil {
		return
	}
	if c := r.cancelIn(cmds); c != nil {
		r.cancel(errCancel)
	}
	r.heed(cmds, func(b *drainBody) bool { return b.Epoch == r.epoch.Load() })
}

// fresh makes sure that the lease is good before a superstep starts. It returns false when the run is over.
func (r *run) fresh() bool {
	if err := r.hold(); err != nil {
		return r.crash(err)
	}
	return true
}

// mine makes sure of the lease before something happens that no refused write can undo: while the store does not answer
// it waits, as a write does.
func (r *run) mine() error {
	err := persist(r.ctx, r.c.opts.StorePatience, 0, func(context.Context) error {
		if r.hold() != nil || r.c.keeper.fresh(r.root) {
			return nil
		}
		return checkpoint.ErrUnavailable
	})
	switch lost := r.root.lost.Load(); {
	case lost != nil:
		return *lost
	case r.ctx.Err() != nil: // somebody lost patience with the run; the thread may still be its own
		return err
	}
	return r.wrote(err)
}

// hold returns an error if the thread is known to be somebody else's. It asks the store only if the lease may have run out,
// as after a process was stopped for long; if the store does not answer, the next write tells.
func (r *run) hold() error {
	r = r.root
	if r.lost.Load() == nil && !r.c.keeper.fresh(r) {
		r.c.keeper.renew(r)
	}
	if lost := r.lost.Load(); lost != nil {
		return *lost
	}
	return nil
}

// listen looks at what came in, if a reply told of it. It returns false when the run is over.
func (r *run) listen() bool {
	if !r.journal.unseen() {
		return true
	}
	if err := r.reload(); err != nil {
		return r.crash(err)
	}
	return true
}

// reload reads commands and answers, and notes that they were looked at.
func (r *run) reload() error {
	var l *checkpoint.Loaded
	err := persist(detached(r.ctx), r.c.opts.StorePatience, r.weight(), func(ctx context.Context) (err error) {
		l, err = r.c.store.Load(ctx, r.key, r.chain.Branch, r.chain.Namespace)
		return err
	})
	if err != nil {
		return r.wrote(err)
	}
	if l.Head.Nonce != r.journal.nonce {
		return r.wrote(checkpoint.ErrStale)
	}
	r.take(l)
	return nil
}

// take notes what a load has shown.
func (r *run) take(l *checkpoint.Loaded) {
	r.takeRows(l.Questions)
	if c := r.cancelIn(l.Inbox); c != nil {
		r.cancelled = c
		r.cancel(errCancel)
	}
	r.heed(l.Inbox, func(b *drainBody) bool { return b.Epoch == r.epoch.Load() })
	r.journal.looked(l.Head.Inbox, r.sort(l.Inbox))
}

// sort finds out what of the inbox is done, up to the first command that is not, and whether an input waits. What it does
// not know is of a newer release and stays for whoever understands it.
func (r *run) sort(cmds []checkpoint.Command) (taken int64) {
	done := max(r.passed, r.own(cmds))
	r.more = len(r.c.queued(cmds, done)) > 0
	for _, c := range cmds {
		switch c.Kind {
		case checkpoint.CommandCancel, checkpoint.CommandDrain:
		case checkpoint.CommandInput:
			if c.N > done && cancelOf(inputOf(&c).Run, cmds) == nil {
				return taken
			}
		default:
			return taken
		}
		taken = c.N
	}
	return taken
}

// reopen goes on after a pause that came too late: answers or commands had arrived. It returns false when the run is over.
func (r *run) reopen(why *pause) bool {
	for {
		if r.cancelling() {
			return r.settle()
		}
		if r.again() {
			return true
		}
		released, err := r.release()
		switch {
		case err != nil:
			return r.crash(r.wrote(err))
		case released:
			return r.finish(why.status, why.err)
		}
		if err := r.reload(); err != nil {
			return r.crash(err)
		}
	}
}

// again prepares tasks whose answers have all arrived to run once more. It reports whether there are any.
func (r *run) again() (ready bool) {
	for i, t := range r.current {
		if !t.waiting && !t.asked() || t.asked() && t.out.paused && len(t.out.asked) == 0 { // a breakpoint waits for Resume
			continue
		}
		s := t.successor(nil)
		s.marker, s.cause = t.marker, t.cause
		s.waiting = r.waitsFor(t)
		if !s.waiting {
			s.phase, ready = phaseNode, true
			if s.marker {
				s.phase, s.err = phaseHandler, t.cause
			}
		}
		r.current[i] = s
	}
	r.skipBreak = true // the superstep has begun
	return ready
}

// releaseLate gives the thread back after the run has completed although something came in for it.
func (r *run) releaseLate(why *pause) bool {
	for {
		if err := r.reload(); err != nil {
			return r.crash(err)
		}
		released, err := r.release()
		if err != nil {
			return r.crash(r.wrote(err))
		}
		if released {
			return r.finish(why.status, why.err)
		}
	}
}
