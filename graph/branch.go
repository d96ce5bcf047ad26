package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/procid"
	"github.com/holdfast-go/holdfast/internal/record"
)

// Main names the first branch of a thread, the one that was not forked from another.
const Main = "main"

// A BranchInfo is one branch of a thread.
type BranchInfo struct {
	Name   string `json:"name"`
	Active bool   `json:"active,omitzero"` // it runs, is answered, and is what a Thread without a branch means
	From   string `json:"from,omitzero"`   // the branch that it was made from
	Reason string `json:"reason,omitzero"` // fork, edit or rollback
}

// branchNames lists the names of all branches by number.
func branchNames(l *checkpoint.Loaded) []string {
	names := []string{Main}
	for _, b := range l.Branches {
		names = append(names, b.Name)
	}
	return names
}

// branchNumber finds the branch that a thread value means.
func branchNumber(th Thread, l *checkpoint.Loaded) (int32, error) {
	if th.Branch == "" {
		return l.Head.Active, nil
	}
	n := slices.Index(branchNames(l), th.Branch)
	if n < 0 {
		return 0, fmt.Errorf("%w: thread %s has no branch %q", ErrNoThread, th, th.Branch)
	}
	return int32(n), nil
}

// activeOnly refuses calls that run, for a branch that is not the active one.
func activeOnly(th Thread, l *checkpoint.Loaded) error {
	n, err := branchNumber(th, l)
	if err == nil && n != l.Head.Active {
		err = fmt.Errorf("%w: branch %q of thread %s; the active one is %q", ErrDormant, th.Branch, th, branchNames(l)[l.Head.Active])
	}
	return err
}

// loadOf loads the branch that a thread value means: one read, or two for a named branch.
func (c *core) loadOf(ctx context.Context, th Thread) (*loaded, error) {
	if th.Branch == "" {
		return c.load(ctx, th.key())
	}
	l, err := c.store.Load(ctx, th.key(), checkpoint.Active, noChain)
	if err != nil || l.Head.Epoch == 0 {
		return &loaded{Loaded: l, log: record.NewThread()}, err
	}
	n, err := branchNumber(th, l)
	if err != nil {
		return nil, err
	}
	if l, err = c.store.Load(ctx, th.key(), n, ""); err != nil {
		return nil, err
	}
	return c.plan.folded(l, "")
}

// branches describes all branches of a thread.
func branches(l *checkpoint.Loaded) (out []BranchInfo) {
	names := branchNames(l)
	for i, name := range names {
		b := BranchInfo{Name: name, Active: int32(i) == l.Head.Active}
		if i > 0 {
			b.From, b.Reason = names[l.Branches[i-1].Origin], l.Branches[i-1].Reason
		}
		out = append(out, b)
	}
	return out
}

// dormant says which branch a question belongs to that is not pending in the active one.
func (c *core) dormant(ctx context.Context, l *checkpoint.Loaded, id string, pending error) error {
	for n, name := range branchNames(l) {
		if int32(n) == l.Branch {
			continue
		}
		other, err := c.store.Load(ctx, l.Head.Key, int32(n), noChain)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(other.Questions, func(q checkpoint.Question) bool { return q.ID == id }) {
			return fmt.Errorf("%w; it belongs to branch %q, which is not the active one: %w", pending, name, ErrDormant)
		}
	}
	return pending
}

// activate makes a branch the active one, with the run that it was left with.
func (c *core) activate(ctx context.Context, th Thread, ro RunOptions) error {
	return c.again(ctx, th, ro, func() error {
		l, err := c.loadFree(ctx, th, ro)
		if err != nil || l.Branch == l.Head.Active {
			return err
		}
		run, err := c.findRun(ctx, th.key(), func(r *checkpoint.Run) bool { return r.ID == l.log.Run })
		if err != nil {
			return err
		}
		if run == nil {
			return fmt.Errorf("%w: branch %q of thread %s has no run left", checkpoint.ErrPruned, th.Branch, th)
		}
		branch := l.Branch
		return c.hold(ctx, th, ro, l, run, func(a *checkpoint.Acquire, _ *journal) ([]item, error) {
			a.Again, a.Activate = true, &branch
			return nil, nil
		})
	})
}

// again repeats a call that found the thread other than it had read it.
func (c *core) again(ctx context.Context, th Thread, ro RunOptions, call func() error) error {
	if c.store == nil {
		return ErrNoStore
	}
	if err := c.checkCall(th, ro); err != nil {
		return err
	}
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := aside(call)
		if !isHeld(err) || try == mostTries {
			return c.outrun(ctx, th, err)
		}
	}
}

// loadFree loads a branch of a thread that exists and that nobody holds. A holder that is dead is removed.
func (c *core) loadFree(ctx context.Context, th Thread, ro RunOptions) (*loaded, error) {
	l, err := c.loadOf(ctx, th)
	if err != nil {
		return nil, err
	}
	switch h := &l.Head; {
	case h.Epoch == 0:
		return nil, fmt.Errorf("%w: %s", ErrNoThread, th)
	case h.Held() && (h.Expired || c.dead(h)):
		r := c.newRun(ctx, th, ro)
		if err := c.enroll(r); err != nil {
			r.cancel(nil)
			return nil, err
		}
		defer c.discard(r)
		return nil, c.unlock(r, l)
	case h.Held():
		return nil, c.busy(th, l)
	}
	return l, nil
}

// hold takes a free thread for one write, which travels with the acquisition, and lets it go. The items go to the beginning of an
// empty chain.
func (c *core) hold(ctx context.Context, th Thread, ro RunOptions, l *loaded, run *checkpoint.Run, write func(*checkpoint.Acquire, *journal) ([]item, error)) error {
	r := c.newRun(ctx, th, ro)
	if err := c.enroll(r); err != nil {
		r.cancel(nil)
		return err
	}
	defer c.discard(r)
	r.id = run.ID
	empty := *l.Loaded
	empty.Questions = nil
	r.open(&loaded{Loaded: &empty, log: record.NewThread()}, checkpoint.NewNonce(), l.Head.Epoch+1)
	a := &checkpoint.Acquire{
		Key: r.key, Mode: checkpoint.Free, Epoch: l.Head.Epoch, Nonce: r.journal.nonce, TTL: c.opts.Lease, Holder: procid.Self(), Owner: ro.Owner, Run: run,
	}
	items, err := write(a, r.journal)
	if err != nil {
		return err
	}
	if len(items) > 0 {
		if a.Records, _, err = r.journal.add(nil, nil, items...); err != nil {
			return err
		}
		r.journal.put()
	}
	if err := c.acquire(r, a); err != nil {
		return err
	}
	return r.letGo()
}

// letGo gives a thread back, whatever comes in meanwhile.
func (r *run) letGo() error {
	for {
		if released, err := r.release(); err != nil || released {
			return err
		}
		if err := r.reload(); err != nil {
			return err
		}
	}
}

// findRun looks for a run of a thread; nil: there is none. It reads their rows until it is found.
func (c *core) findRun(ctx context.Context, key checkpoint.Key, is func(*checkpoint.Run) bool) (*checkpoint.Run, error) {
	f := checkpoint.RunFilter{Tenant: key.Tenant, Thread: key.Thread}
	for {
		runs, err := c.store.Runs(ctx, f)
		if err != nil || len(runs) == 0 {
			return nil, err
		}
		for i := range runs {
			if is(&runs[i]) {
				return &runs[i], nil
			}
			f.After = checkpoint.RunCursor{Key: runs[i].Key, Run: runs[i].ID}
		}
	}
}

// newRunRow is the row of the run that a branch or a copy begins with.
func (c *core) newRunRow(key checkpoint.Key, log *record.Thread, ro RunOptions, status checkpoint.Status) *checkpoint.Run {
	return &checkpoint.Run{Key: key, ID: uuid.NewString(), Request: ro.Request, Status: status, Graph: log.Graph.Name, By: ro.By, Meta: ro.Meta}
}
