package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/procid"
	"github.com/holdfast-go/holdfast/internal/record"
)

// EditOptions of one edit.
type EditOptions struct {
	Goto Next        // where to go, beside what edges and routes say; needed for a node that chooses its own targets
	Fork ForkOptions // of an edit at an older entry
}

// errEdited is how a run ends that was only there to write an edit.
var errEdited = errors.New("graph: edited")

// An edit is what somebody does to a thread by hand, worked out and not yet written.
type edit struct {
	as   string
	t    *task // with its result
	open *task // the open task that it is the result of, or nil
}

// edit changes a thread by hand.
func (c *core) edit(ctx context.Context, th Thread, entry int64, as string, write func(any) error, opts []EditOptions, ro RunOptions) (Thread, error) {
	var o EditOptions
	switch len(opts) {
	case 0:
	case 1:
		o = opts[0]
	default:
		return th, errors.New("graph: one EditOptions at most")
	}
	old := false
	err := c.again(ctx, th, ro, func() error {
		l, err := c.loadFree(ctx, th, ro)
		if err != nil {
			return err
		}
		old = entry >= 0 && entry != l.log.EntryPos
		if old {
			return c.tryEdit(ctx, th, ro, l, entry, as, write, o.Goto)
		}
		return c.editHead(ctx, th, ro, l, as, write, o.Goto)
	})
	if err != nil || !old {
		return th, err
	}
	to, err := c.fork(ctx, th, entry, o.Fork, record.OriginEdit, ro)
	if err != nil {
		return th, err
	}
	return c.edit(ctx, to, -1, as, write, []EditOptions{{Goto: o.Goto}}, ro)
}

// tryEdit finds out whether an edit fits an older entry, before a branch is made for it.
func (c *core) tryEdit(ctx context.Context, th Thread, ro RunOptions, l *loaded, entry int64, as string, write func(any) error, to Next) error {
	at, err := c.foldTo(ctx, checkpoint.Chain{Key: th.key(), Branch: l.Branch}, entry)
	if err != nil {
		return err
	}
	old := *l.Loaded
	old.Questions = nil
	then := &loaded{Loaded: &old, log: at}
	if c.bare() {
		return c.editBare(ctx, th, ro, then, as, write, to, true)
	}
	r := c.newRun(ctx, th, ro)
	defer r.cancel(nil)
	c.plan.fit(then, "")
	_, err = c.prepareEdit(ctx, r, then, as, write, to)
	return err
}

// editHead writes an edit at the head of the active branch.
func (c *core) editHead(ctx context.Context, th Thread, ro RunOptions, l *loaded, as string, write func(any) error, to Next) error {
	if err := activeOnly(th, l.Loaded); err != nil {
		return err
	}
	if c.bare() {
		return c.editBare(ctx, th, ro, l, as, write, to, false)
	}
	r := c.newRun(ctx, th, ro)
	if err := c.enroll(r); err != nil {
		r.cancel(nil)
		return err
	}
	left := false // finish has counted the run out
	defer func() {
		if !left {
			c.discard(r)
		}
	}()
	e, err := c.prepareEdit(ctx, r, l, as, write, to)
	if err != nil {
		return err
	}
	var head any
	var folded record.Writes
	whole := e.open == nil || r.finished()
	switch {
	case e.open == nil:
		head, folded, err = c.plan.ops.commit(r.head, []part{{e.as, e.t.out.view}})
	case whole:
		head, folded, err = r.fold()
	}
	if err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	r.open(l, checkpoint.NewNonce(), l.Head.Epoch+1)
	a := &checkpoint.Acquire{Key: r.key, Mode: checkpoint.Free, Epoch: l.Head.Epoch, Nonce: r.journal.nonce, TTL: c.opts.Lease, Holder: procid.Self()}
	if err := c.acquire(r, a); err != nil {
		return err
	}
	if err := r.stage(l.move); err != nil {
		return err
	}
	switch {
	case e.open == nil:
		return r.writeEdit(l, e, folded)
	case !whole:
		return r.writeResult(l, e)
	}
	left = true
	return r.writeEntry(head, folded)
}

// prepareEdit works an edit out, on a run that holds nothing.
func (c *core) prepareEdit(ctx context.Context, r *run, l *loaded, as string, write func(any) error, to Next) (e *edit, err error) {
	if err := c.compatible(r.thread, l); err != nil {
		return nil, err
	}
	r.chain.Branch, r.bus.r = l.Branch, r
	r.takeRows(l.Questions)
	r.rebuild(l)
	if r.head, err = c.restore(r.thread, l.log); err != nil {
		return nil, err
	}
	if err := r.decodeResults(); err != nil {
		return nil, err
	}
	if as == "" {
		if as, err = c.ranLast(ctx, r.chain, l.log.EntryPos); err != nil {
			return nil, err
		}
	}
	e = &edit{as: as}
	n, err := r.editAs(e)
	if err != nil {
		return nil, err
	}
	t := &task{r: r, node: n, step: r.step, ctx: r.ctx, head: r.head}
	if e.open != nil {
		t = e.open.successor(nil)
		t.ctx, t.head = r.ctx, r.head
		r.current[slices.Index(r.current, e.open)] = t
	}
	e.t = t
	if err := t.byHand(write, to); err != nil {
		return nil, fmt.Errorf("edit as %s: %w", as, err)
	}
	return e, nil
}

// editAs finds what an edit is made as: a node, and the open task if it is one.
func (r *run) editAs(e *edit) (*node, error) {
	if err := r.openTask(e); err != nil {
		return nil, err
	}
	switch p := r.plan; {
	case e.open != nil:
		return e.open.node, nil
	case e.as == Start:
		return p.start, nil
	case e.as == End:
		return &node{name: End}, nil
	case p.node(e.as) == nil:
		return nil, fmt.Errorf("graph: an edit as %q: there is no such node or open task; there are %v", e.as, p.names())
	default:
		return p.node(e.as), nil
	}
}

// openTask finds the open task that an edit is the result of, if it is of one.
func (r *run) openTask(e *edit) error {
	var ids []string
	for _, t := range r.current {
		if t.id() == e.as || t.node.name == e.as {
			ids, e.open = append(ids, t.id()), t
		}
	}
	if len(ids) > 1 {
		return &AmbiguousTaskError{e.as, ids}
	}
	return nil
}

// ranLast is the one node that ran in an entry.
func (c *core) ranLast(ctx context.Context, chain checkpoint.Chain, entry int64) (string, error) {
	recs, err := c.store.Read(ctx, checkpoint.Query{Chain: chain, From: entry, To: entry})
	if err != nil {
		return "", err
	}
	if len(recs) == 0 {
		return "", &AmbiguousTaskError{Candidates: append(c.plan.names(), Start)}
	}
	e, err := entryInfo(recs[0])
	if err != nil {
		return "", err
	}
	if e.Kind == checkpoint.KindInput {
		return Start, nil
	}
	names := slices.Compact(sorted(slices.Clone(e.Tasks)))
	switch len(names) {
	case 1:
		return names[0], nil
	case 0:
		names = append(c.plan.names(), Start)
	}
	return "", &AmbiguousTaskError{Candidates: names}
}

// byHand gives a task a result that its node did not make.
func (t *task) byHand(write func(any) error, to Next) error {
	p := t.r.plan
	c := new(call)
	c.begin(t, 1, t.ctx)
	err := aside(func() error {
		view := p.ops.view(t.head)
		if err := write(view); err != nil {
			return err
		}
		switch {
		case !to.empty():
			if err := c.follow(to, p.names(), "Edit"); err != nil {
				return err
			}
		case t.node.branch:
			return &RouteError{t.node.name, "", "the node chooses its targets itself; say them in EditOptions.Goto"}
		}
		if err := c.leave(view); err != nil {
			return err
		}
		return c.close(view)
	})
	t.out, t.phase = c, phaseEnd
	return err
}

// finished reports whether every task of the open superstep has a result.
func (r *run) finished() bool {
	return !slices.ContainsFunc(r.current, func(t *task) bool { return t.phase != phaseEnd || t.err != nil || t.waiting })
}

// writeEdit writes an entry of its own.
func (r *run) writeEdit(l *loaded, e *edit, folded record.Writes) error {
	it, err := r.editItem(e.t, folded, e.as)
	if err != nil {
		return err
	}
	return r.parkEdit(l, nil, began(l.log) && len(l.log.Next) > 0, it)
}

// writeResult writes the result of a task whose siblings are open still.
func (r *run) writeResult(l *loaded, e *edit) error {
	return r.parkEdit(l, r.usedQuestions([]*task{e.t}), true, item{kind: checkpoint.KindResult, step: r.step, body: &record.Result{Done: e.t.result()}})
}

// parkEdit writes a record and lets the thread go, waiting for what is open.
func (r *run) parkEdit(l *loaded, closed []string, begun bool, it item) error {
	park := &checkpoint.Park{Status: checkpoint.Completed}
	p := &record.Pause{Run: l.log.Run, Reason: record.ReasonEdit, Begun: begun}
	if len(r.current)+len(r.deferred) > 0 {
		park.Status = checkpoint.Interrupted
	}
	for _, t := range r.current {
		if res := l.log.Results[t.id()]; res != nil && res.Fail != "" && t.out == nil {
			park.Status, park.Error, p.Error = checkpoint.Failed, res.Fail, res.Fail
		}
	}
	if was := l.log.Pause; was != nil {
		p.Breaks = was.Breaks
		for _, id := range was.Held {
			if slices.ContainsFunc(r.current, func(t *task) bool { return t.id() == id && t.out == nil }) {
				p.Held = append(p.Held, id)
			}
		}
		for _, q := range was.Questions {
			if !slices.Contains(closed, q.ID) {
				p.Questions = append(p.Questions, q)
			}
		}
	}
	b, err := r.addWith(closed, park, it, item{kind: checkpoint.KindPause, step: r.step, body: p})
	if err != nil {
		return err
	}
	ack, err := r.journal.flush(b)
	if err != nil || ack.Released {
		return err
	}
	return r.letGo()
}

// writeEntry commits the superstep that the edit has completed. The run ends with it.
func (r *run) writeEntry(head any, folded record.Writes) error {
	ran := r.current
	r.schedule(ran)
	r.head = head
	why := &pause{status: checkpoint.Completed}
	if len(r.current) > 0 {
		why = &pause{checkpoint.Interrupted, &record.Pause{Run: r.id, Reason: record.ReasonEdit}, errEdited}
	}
	if r.commitLog(ran, folded, why) { // something came in meanwhile: it is for whoever resumes
		err := r.letGo()
		r.finish(why.status, err)
		return err
	}
	if err := r.wait(); err != errEdited {
		return err
	}
	return nil
}
