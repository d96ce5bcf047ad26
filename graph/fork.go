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
	Name    string  // of the new branch, unique in the thread; empty: "fork-1" and so on
	Effects Effects // what becomes of effects that were recorded behind the entry
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
	Task    string `json:"task"`
	Name    string `json:"name"`
	N       int    `json:"n,omitzero"`       // ordinal of the name in the task
	Unknown bool   `json:"unknown,omitzero"` // it began, and nobody knows whether it happened
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
	*loaded                // the thread, as it is now
	at      *record.Thread // the fold up to the entry
	origin  record.Origin
}

// fork makes a branch that begins with an entry, and makes it the active one.
func (c *core) fork(ctx context.Context, th Thread, entry int64, o ForkOptions, reason string, ro RunOptions) (Thread, error) {
	if err := o.Effects.validate(); err != nil {
		return Thread{}, err
	}
	to := Thread{Tenant: th.Tenant, ID: th.ID}
	err := c.again(ctx, th, ro, func() error {
		from, err := c.cutAt(ctx, th, entry, ro)
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

// cutAt folds a free thread up to an entry; -1 is the head.
func (c *core) cutAt(ctx context.Context, th Thread, entry int64, ro RunOptions) (*cut, error) {
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
	at, err := c.foldTo(ctx, checkpoint.Chain{Key: th.key(), Branch: l.Branch}, entry)
	if err != nil {
		return nil, err
	}
	return &cut{l, at, record.Origin{Branch: branchNames(l.Loaded)[l.Branch], Entry: entry}}, nil
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
		return from.seal(run, reuse), nil
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
	if err := c.oncesBehind(ctx, chain, from.origin.Entry, onces); err != nil {
		return nil, err
	}
	list := onceList(onces)
	if len(list) == 0 || e == Reuse {
		return list, nil
	}
	err := &EffectsError{Thread: th, Entry: from.origin.Entry}
	for _, o := range list {
		err.Effects = append(err.Effects, Effect{o.Task, o.Name, o.N, o.Result == nil})
	}
	return nil, err
}

// oncesBehind collects the effects that were recorded behind an entry, up to the next input. It reads bodies only where there are
// effects.
func (c *core) oncesBehind(ctx context.Context, chain checkpoint.Chain, entry int64, into map[record.OnceID]*record.Once) error {
	q := checkpoint.Query{Chain: chain, From: entry + 1, To: -1, Limit: 500, NoBody: true}
	for {
		recs, err := c.store.Read(ctx, q)
		if err != nil || len(recs) == 0 {
			return err
		}
		end := slices.IndexFunc(recs, func(r checkpoint.Record) bool { return r.Kind == checkpoint.KindInput })
		if end >= 0 {
			recs = recs[:end]
		}
		for _, r := range recs {
			if r.Kind != checkpoint.KindOnce {
				continue
			}
			if err := c.readOnce(ctx, chain, r.Pos, into); err != nil {
				return err
			}
		}
		if end >= 0 {
			return nil
		}
		q.From = recs[len(recs)-1].Pos + 1
	}
}

func (c *core) readOnce(ctx context.Context, chain checkpoint.Chain, pos int64, into map[record.OnceID]*record.Once) error {
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
	if o.Result == nil && !o.Begun { // it has returned an error, so there is nothing to take over
		delete(into, o.ID())
		return nil
	}
	into[o.ID()] = o
	return nil
}

func isHeld(err error) bool { return errors.Is(err, checkpoint.ErrHeld) }
