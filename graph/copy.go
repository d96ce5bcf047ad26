package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// copyThread makes a thread that begins where another one stands. The source may be at work: what is copied is one moment of it.
func (c *core) copyThread(ctx context.Context, th, to Thread, ro RunOptions) error {
	if to.Branch != "" {
		return fmt.Errorf("graph: a copy is a thread of its own, without a branch: %q", to.Branch)
	}
	return c.again(ctx, to, ro, func() error {
		if err := c.checkCall(th, ro); err != nil {
			return err
		}
		l, err := c.loadOf(ctx, th)
		switch {
		case err != nil:
			return err
		case l.Head.Epoch == 0:
			return fmt.Errorf("%w: %s", ErrNoThread, th)
		case l.log.Pos < 0:
			return fmt.Errorf("%w: branch %q of thread %s", checkpoint.ErrPruned, th.Branch, th)
		}
		target, err := c.store.Load(ctx, to.key(), checkpoint.Active, "")
		if err != nil {
			return err
		}
		if target.Head.Epoch != 0 {
			return fmt.Errorf("%w: there is a thread %s", ErrInUse, to)
		}
		return c.writeCopy(ctx, to, ro, l, target)
	})
}

func (c *core) writeCopy(ctx context.Context, to Thread, ro RunOptions, l *loaded, target *checkpoint.Loaded) error {
	from := &cut{loaded: l, at: l.log, origin: record.Origin{Thread: l.Head.Thread, Branch: branchNames(l.Loaded)[l.Branch], Entry: l.log.EntryPos, Reason: record.OriginCopy}}
	children, err := c.childrenAt(ctx, checkpoint.Chain{Key: l.Head.Key, Branch: l.Branch}, l.log, lastOrd(l.Records))
	if err != nil {
		return err
	}
	from.children = children
	status := l.Head.Status
	if l.Branch != l.Head.Active {
		status = dormantStatus(l.log)
	}
	if status == checkpoint.Running {
		status = from.status()
	}
	ro.Owner = cmp.Or(ro.Owner, l.Head.Owner)
	if ro.Meta == nil {
		ro.Meta = l.Head.Meta
	}
	run := c.newRunRow(to.key(), l.log, ro, status)
	run.Request = ""
	return c.hold(ctx, to, ro, &loaded{Loaded: target, log: record.NewThread()}, run, func(*checkpoint.Acquire, *journal) ([]item, error) {
		return append(from.seal(run, l.log.Reuse), from.seals()...), nil
	})
}

// delete removes a thread and everything of it.
func (c *core) delete(ctx context.Context, th Thread) error {
	if c.store == nil {
		return ErrNoStore
	}
	if err := c.checkCall(th, RunOptions{}); err != nil {
		return err
	}
	if th.Branch != "" {
		return fmt.Errorf("%w: a branch is not deleted alone; delete the thread, or its runs", ErrInUse)
	}
	c.warm.forget(th.key())
	return c.store.Delete(ctx, th.key())
}

// A span is where a run begins in a chain.
type span struct {
	run  string
	from int64 // position of its first entry
}

// spans lists the runs of a chain, oldest first.
func (c *core) spans(ctx context.Context, chain checkpoint.Chain) (out []span, err error) {
	q := checkpoint.Query{Chain: chain, To: -1, Limit: 500, NoBody: true}
	for {
		recs, err := c.store.Read(ctx, q)
		if err != nil || len(recs) == 0 {
			return out, err
		}
		for i, r := range recs {
			first := len(out) == 0 && i == 0 // of what retention has left
			if !first && r.Kind != checkpoint.KindInput {
				continue
			}
			run, err := c.runAt(ctx, chain, r.Pos)
			if err != nil {
				return nil, err
			}
			out = append(out, span{run, r.Pos})
		}
		q.From = recs[len(recs)-1].Pos + 1
	}
}

func (c *core) runAt(ctx context.Context, chain checkpoint.Chain, pos int64) (string, error) {
	recs, err := c.store.Read(ctx, checkpoint.Query{Chain: chain, From: pos, To: pos})
	if err != nil {
		return "", err
	}
	if len(recs) == 0 {
		return "", fmt.Errorf("%w: position %d of thread %s", checkpoint.ErrPruned, pos, chain.Thread)
	}
	var b struct{ Run string }
	return b.Run, record.Decode(recs[0], &b)
}

// deleteRuns removes runs from one end of a branch.
func (c *core) deleteRuns(ctx context.Context, th Thread, runs []string, ro RunOptions) error {
	return c.again(ctx, th, ro, func() error {
		l, err := c.loadFree(ctx, th, ro)
		if err != nil {
			return err
		}
		chain := checkpoint.Chain{Key: th.key(), Branch: l.Branch}
		list, err := c.spans(ctx, chain)
		if err != nil {
			return err
		}
		named := func(s span) bool { return slices.Contains(runs, s.run) }
		n := 0
		for _, s := range list {
			if named(s) {
				n++
			}
		}
		front := slices.IndexFunc(list, func(s span) bool { return !named(s) })
		switch {
		case n < len(runs):
			return fmt.Errorf("%w: a run that is to be deleted is not in the branch, or named twice", ErrPruned)
		case n == 0:
			return nil
		case front < 0:
			return fmt.Errorf("%w: these are all runs of the branch; delete the thread", ErrInUse)
		case front == n:
			return c.deleteOldest(ctx, chain, list[front].from)
		case !slices.ContainsFunc(list[len(list)-n:], func(s span) bool { return !named(s) }):
			return c.deleteNewest(ctx, th, chain, list[len(list)-n].from, ro)
		}
		return fmt.Errorf("%w: a run in the middle of a branch is part of what follows; runs go from either end", ErrInUse)
	})
}

// deleteOldest removes what no entry from the given one on is read from.
func (c *core) deleteOldest(ctx context.Context, chain checkpoint.Chain, from int64) error {
	at, err := c.store.Read(ctx, checkpoint.Query{Chain: chain, From: from, To: from, NoBody: true})
	if err != nil || len(at) == 0 {
		return err
	}
	_, err = c.trimBranch(ctx, chain.Key, chain.Branch, at[0].Base)
	return err
}

// deleteNewest goes back to the entry before a run by a new branch, and empties the old one.
func (c *core) deleteNewest(ctx context.Context, th Thread, chain checkpoint.Chain, from int64, ro RunOptions) error {
	for rec, err := range c.backward(ctx, checkpoint.Query{Chain: chain, To: from - 1, NoBody: true}) {
		if err != nil {
			return err
		}
		if !isEntry(rec.Kind) {
			continue
		}
		if _, err := c.fork(ctx, th, rec.Pos, ForkOptions{Effects: Rerun}, record.OriginRollback, ro); err != nil {
			return err
		}
		return c.drop(ctx, chain)
	}
	return fmt.Errorf("%w: nothing is left to go back to; delete the thread", ErrPruned)
}

// drop removes all records of a branch.
func (c *core) drop(ctx context.Context, chain checkpoint.Chain) error {
	chains, err := c.store.Chains(ctx, chain.Key, chain.Branch)
	if err != nil {
		return err
	}
	for _, last := range chains {
		chain.Namespace = last.Namespace
		if _, err := c.store.Trim(ctx, chain, last.Pos+1); err != nil {
			return err
		}
	}
	return nil
}

// lastOrd is the moment of a chain that was read to its end.
func lastOrd(recs []checkpoint.Record) int64 {
	if len(recs) == 0 {
		return 0
	}
	return recs[len(recs)-1].Ord
}
