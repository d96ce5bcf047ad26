package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// ForkOptions of a fork.
type ForkOptions struct {
	Name    string   // of the new branch, unique in the thread; empty: "fork-1" and so on
	Child   []string // the entry is one of this child graph (ChildInfo.In), and its parents stand as they stood then
	Effects Effects  // what becomes of effects that were recorded behind the entry
}

// Effects says what becomes of the effects of Once that a fork comes by again.
type Effects string

// The choices. If nothing was recorded none is needed.
const (
	Reuse Effects = "reuse" // they are not run: a task that comes by one of them gets the recorded result
	Rerun Effects = "rerun" // they are run again, under other idempotency keys
)

func (e Effects) validate() error {
	switch e {
	case "", Reuse, Rerun:
		return nil
	}
	return fmt.Errorf("unknown effects %q: use graph.Reuse or graph.Rerun", string(e))
}

// An Effect is a recorded call of Once.
type Effect struct {
	Child   []string `json:"child,omitzero"` // of a child graph: ChildInfo.In
	Task    string   `json:"task"`
	Name    string   `json:"name"`
	N       int      `json:"n,omitzero"`       // ordinal of the name in the task
	Unknown bool     `json:"unknown,omitzero"` // it began, and nobody knows whether it happened
}

// An EffectsError lists the effects that a fork would come by again, when it was not said what becomes of them.
type EffectsError struct {
	Thread  Thread
	Entry   int64
	Effects []Effect
}

// Error lists the effects.
func (e *EffectsError) Error() string {
	names := make([]string, len(e.Effects))
	for i, o := range e.Effects {
		names[i] = o.Name + " (task " + o.Task + ")"
	}
	return fmt.Sprintf("graph: behind entry %d of thread %s effects are recorded, say ForkOptions.Effects: Reuse or Rerun: %s", e.Entry, e.Thread, strings.Join(names, ", "))
}

// Is makes errors.Is(err, ErrEffects) true.
func (e *EffectsError) Is(target error) bool { return target == ErrEffects }

// A cut is an entry that something new begins with.
type cut struct {
	*loaded                 // the thread, as it is now
	at       *record.Thread // the fold up to the entry
	ord      int64          // of the entry; 0: everything is there
	origin   record.Origin
	children []childChain
}

// fork makes a branch that begins with an entry, and makes it the active one.
func (c *core) fork(ctx context.Context, th Thread, entry int64, o ForkOptions, reason string, ro RunOptions) (Thread, error) {
	if err := o.Effects.validate(); err != nil {
		return Thread{}, err
	}
	to := Thread{Tenant: th.Tenant, ID: th.ID}
	err := c.again(ctx, th, ro, func() error {
		from, err := c.cutAt(ctx, th, entry, o.Child, ro)
		if err != nil {
			return err
		}
		from.origin.Reason = reason
		to.Branch = cmp.Or(o.Name, fmt.Sprintf("%s-%d", reason, from.Head.Branches))
		if slices.Contains(branchNames(from.Loaded), to.Branch) {
			return fmt.Errorf("%w: thread %s has a branch %q", ErrInUse, th, to.Branch)
		}
		reuse, err := c.effects(ctx, th, from, o.Effects)
		if err != nil {
			return err
		}
		return c.writeFork(ctx, to, ro, from, reuse)
	})
	return to, err
}

// cutAt folds a free thread, with its child graphs, up to an entry of the root or of a child; -1 is the head.
func (c *core) cutAt(ctx context.Context, th Thread, entry int64, in []string, ro RunOptions) (*cut, error) {
	l, err := c.loadFree(ctx, th, ro)
	if err != nil {
		return nil, err
	}
	if entry < 0 {
		entry = l.log.EntryPos
	}
	if l.log.Pos < 0 {
		return nil, fmt.Errorf("%w: branch %q of thread %s", checkpoint.ErrPruned, th.Branch, th)
	}
	root, ord := checkpoint.Chain{Key: th.key(), Branch: l.Branch}, int64(0)
	if len(in) > 0 {
		if entry, ord, err = c.rootEntry(ctx, root, in, entry); err != nil {
			return nil, err
		}
	}
	at, err := c.foldTo(ctx, root, entry)
	if err != nil {
		return nil, err
	}
	from := &cut{loaded: l, at: at, ord: cmp.Or(ord, momentOf(at)), origin: record.Origin{Branch: branchNames(l.Loaded)[l.Branch], Entry: entry}}
	from.children, err = c.childrenAt(ctx, root, at, from.ord)
	return from, err
}

// momentOf is the place of the last entry in the order of the thread, with what was written together with it.
func momentOf(log *record.Thread) int64 {
	if log.Sealed { // that acquisition wrote nothing else
		return log.EntryOrd | (1<<32 - 1)
	}
	return log.EntryOrd
}

// rootEntry is the root's entry at which the task began that an entry of a child graph belongs to, and the child's place in the
// order of the thread.
func (c *core) rootEntry(ctx context.Context, root checkpoint.Chain, in []string, entry int64) (at, ord int64, err error) {
	child := root
	child.Namespace = checkpoint.NamespaceOf(in...)
	recs, err := c.store.Read(ctx, checkpoint.Query{Chain: child, From: entry, To: entry, NoBody: true})
	switch {
	case err != nil:
		return 0, 0, err
	case len(recs) == 0 || !isEntry(recs[0].Kind):
		return 0, 0, fmt.Errorf("graph: position %d is no entry of child %v of thread %s", entry, in, root.Thread)
	}
	if ord = recs[0].Ord; recs[0].Kind == checkpoint.KindSeal {
		ord |= 1<<32 - 1 // with what was written together with it
	}
	for rec, err := range c.backward(ctx, checkpoint.Query{Chain: root, To: -1, MaxOrd: ord, NoBody: true}) {
		if err != nil {
			return 0, 0, err
		}
		if isEntry(rec.Kind) {
			return rec.Pos, ord, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: what called child %v of thread %s", checkpoint.ErrPruned, in, root.Thread)
}

// writeFork is one write: the seal, what is recorded of open tasks, the branch, its run.
func (c *core) writeFork(ctx context.Context, to Thread, ro RunOptions, from *cut, reuse []record.Once) error {
	n := from.Head.Branches
	run := c.newRunRow(to.key(), from.at, ro, from.status())
	run.Request = "" // it is for runs with an input
	return c.hold(ctx, to, ro, from.loaded, run, func(a *checkpoint.Acquire, j *journal) ([]item, error) {
		j.chain.Branch = n
		a.Branch = &checkpoint.Branch{N: n, Name: to.Branch, Origin: from.Branch, Ord: from.at.EntryOrd, Reason: from.origin.Reason}
		a.Activate = &n
		return append(from.seal(run, reuse), from.seals()...), nil
	})
}

// status is that of a run which begins with the entry.
func (f *cut) status() checkpoint.Status {
	if len(f.at.Next) == 0 {
		return checkpoint.Completed
	}
	return checkpoint.Interrupted
}

// seal is what a chain begins with: the entry, and what was recorded before it of tasks that are still open.
func (f *cut) seal(run *checkpoint.Run, reuse []record.Once) []item {
	log := f.at
	s := log.Snapshot()
	s.Of, s.Run, s.By, s.Origin, s.Reuse = 0, run.ID, cmp.Or(run.By, log.By), &f.origin, reuse
	items := []item{{kind: checkpoint.KindSeal, step: log.EntryStep, body: s}}
	for _, t := range log.Next {
		if res := log.Results[t.ID]; res != nil {
			items = append(items, item{kind: checkpoint.KindResult, step: log.EntryStep + 1, body: res})
		}
	}
	for _, o := range onceList(log.Onces) {
		items = append(items, item{kind: checkpoint.KindOnce, step: log.EntryStep + 1, body: &o})
	}
	return items
}

// seals are what the chains of the child graphs begin with.
func (f *cut) seals() (items []item) {
	for _, ch := range f.children {
		own := &cut{at: ch.log, origin: f.origin}
		tr := &track{ns: ch.ns, pos: -1}
		for _, it := range own.seal(&checkpoint.Run{ID: ch.log.Run}, nil) {
			it.track = tr
			items = append(items, it)
		}
	}
	return items
}

// onceList lists onces in order.
func onceList(onces map[record.OnceID]*record.Once) []record.Once {
	var out []record.Once
	for _, o := range onces {
		out = append(out, *o)
	}
	record.SortOnces(out)
	return out
}

// effects collects what the branch is to take over. If there is something and nothing was said, that is an error.
func (c *core) effects(ctx context.Context, th Thread, from *cut, e Effects) ([]record.Once, error) {
	if len(from.at.Next) == 0 || e == Rerun {
		return nil, nil
	}
	onces := map[record.OnceID]*record.Once{}
	for i := range from.at.Reuse {
		onces[from.at.Reuse[i].ID()] = &from.at.Reuse[i]
	}
	chain := checkpoint.Chain{Key: th.key(), Branch: from.Branch}
	end, err := c.oncesBehind(ctx, chain, from.origin.Entry, 0, nil, onces)
	if err != nil {
		return nil, err
	}
	if err := c.oncesOfChildren(ctx, chain, from.ord, end, onces); err != nil {
		return nil, err
	}
	list := onceList(onces)
	if len(list) == 0 || e == Reuse {
		return list, nil
	}
	said := &EffectsError{Thread: th, Entry: from.origin.Entry}
	for _, o := range list {
		said.Effects = append(said.Effects, Effect{o.In, o.Task, o.Name, o.N, o.Result == nil})
	}
	return nil, said
}

// oncesOfChildren collects the effects of child graphs between two moments of the thread.
func (c *core) oncesOfChildren(ctx context.Context, chain checkpoint.Chain, from, end int64, into map[record.OnceID]*record.Once) error {
	chains, err := c.store.Chains(ctx, chain.Key, chain.Branch)
	if err != nil {
		return err
	}
	for _, last := range chains {
		if last.Namespace == "" || last.Ord <= from {
			continue
		}
		in, err := last.Namespace.Segments()
		if err != nil {
			return err
		}
		chain.Namespace = last.Namespace
		before, err := c.store.Read(ctx, checkpoint.Query{Chain: chain, To: -1, MaxOrd: from, Limit: 1, Newest: true, NoBody: true})
		if err != nil {
			return err
		}
		pos := int64(-1)
		if len(before) > 0 {
			pos = before[0].Pos
		}
		if _, err := c.oncesBehind(ctx, chain, pos, end, in, into); err != nil {
			return err
		}
	}
	return nil
}

// oncesBehind collects the effects that were recorded behind an entry. In the root's chain it stops at the next input, and returns
// its place in the order of the thread, or 0; in a child's chain it stops there. It reads bodies only where there are effects.
func (c *core) oncesBehind(ctx context.Context, chain checkpoint.Chain, entry, end int64, in []string, into map[record.OnceID]*record.Once) (int64, error) {
	q := checkpoint.Query{Chain: chain, From: entry + 1, To: -1, Limit: 500, NoBody: true}
	if in != nil && end > 0 {
		q.MaxOrd = end
	}
	for {
		recs, err := c.store.Read(ctx, q)
		if err != nil || len(recs) == 0 {
			return 0, err
		}
		for _, r := range recs {
			switch {
			case r.Kind == checkpoint.KindInput && in == nil:
				return r.Ord, nil
			case r.Kind != checkpoint.KindOnce:
				continue
			}
			if err := c.readOnce(ctx, chain, r.Pos, in, into); err != nil {
				return 0, err
			}
		}
		q.From = recs[len(recs)-1].Pos + 1
	}
}

func (c *core) readOnce(ctx context.Context, chain checkpoint.Chain, pos int64, in []string, into map[record.OnceID]*record.Once) error {
	recs, err := c.store.Read(ctx, checkpoint.Query{Chain: chain, From: pos, To: pos})
	if err != nil {
		return err
	}
	if len(recs) == 0 {
		return fmt.Errorf("%w: position %d of thread %s", checkpoint.ErrPruned, pos, chain.Thread)
	}
	o := &record.Once{}
	if err := record.Decode(recs[0], o); err != nil {
		return err
	}
	o.In = in
	if o.Result == nil && !o.Begun { // it has returned an error, so there is nothing to take over
		delete(into, o.ID())
		return nil
	}
	into[o.ID()] = o
	return nil
}

func isHeld(err error) bool { return errors.Is(err, checkpoint.ErrHeld) }
