package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// before folds a chain up to the entry that its present run began behind, with the child graphs that are kept for the thread. The
// first run of a thread began behind an empty state; one that a fork or a copy began goes back to that entry, with nothing
// left to do. It reads the places of the run's records, and the bodies of the folds.
func (c *core) before(ctx context.Context, chain checkpoint.Chain, log *record.Thread) (*cut, error) {
	found := false
	for rec, err := range c.backward(ctx, checkpoint.Query{Chain: chain, To: -1, NoBody: true}) {
		switch {
		case err != nil:
			return nil, err
		case found && isEntry(rec.Kind), rec.Kind == checkpoint.KindSeal:
			return c.closedAt(ctx, chain, rec.Pos)
		case rec.Kind == checkpoint.KindInput && rec.Step == log.Start:
			if found = true; rec.Pos == 0 {
				empty := record.NewThread()
				empty.Graph, empty.Mode = log.Graph, log.Mode
				return &cut{at: empty}, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: the entry before run %s of thread %s", checkpoint.ErrPruned, log.Run, chain.Thread)
}

// closedAt folds a chain up to an entry and leaves what is scheduled there.
func (c *core) closedAt(ctx context.Context, chain checkpoint.Chain, entry int64) (*cut, error) {
	at, err := c.foldTo(ctx, chain, entry)
	if err != nil {
		return nil, err
	}
	at.Next, at.Joins, at.Reuse = nil, nil, nil
	clear(at.Results)
	clear(at.Onces)
	children, err := c.childrenAt(ctx, chain, at, momentOf(at))
	return &cut{at: at, children: children}, err
}

// goBack is the beginning of the branch in which the thread stands before the present run. None if that entry is gone: whoever
// asked has looked before and looks again.
func (r *run) goBack() (items []item, err error) {
	var failed error
	err = persist(context.Background(), r.c.opts.StorePatience, r.weight(), func(ctx context.Context) error {
		if items, failed = r.sealBefore(ctx); isRetryable(failed) {
			return failed
		}
		return nil
	})
	if errors.Is(failed, checkpoint.ErrPruned) {
		failed = nil
	}
	return items, errors.Join(err, failed)
}

// sealBefore makes the seal of that branch, under the thread's lease: nobody else makes branches meanwhile.
func (r *run) sealBefore(ctx context.Context) ([]item, error) {
	back, err := r.c.before(ctx, r.chain, r.log)
	if err != nil {
		return nil, err
	}
	l, err := r.c.store.Load(ctx, r.key, r.chain.Branch, noChain)
	if err != nil {
		return nil, err
	}
	names, n := branchNames(l), l.Head.Branches
	back.origin = record.Origin{Branch: names[r.chain.Branch], Entry: back.at.EntryPos, Reason: record.OriginRollback}
	items := back.seal(&checkpoint.Run{ID: r.id, By: r.starter}, nil)
	items[0].track = &track{pos: -1}
	items = append(items, back.seals()...)
	b := &checkpoint.Branch{N: n, Name: freeName(names, n), Origin: r.chain.Branch, Ord: back.at.EntryOrd, Reason: record.OriginRollback}
	for i := range items {
		items[i].branch = b
	}
	return items, nil
}

// freeName names a branch that is made without being asked for.
func freeName(names []string, n int32) string {
	for ; ; n++ {
		if name := fmt.Sprintf("%s-%d", record.OriginRollback, n); !slices.Contains(names, name) {
			return name
		}
	}
}

// canGoBack returns an error if the thread has no entry left to go back to.
func (c *core) canGoBack(ctx context.Context, l *loaded) error {
	_, err := c.before(ctx, checkpoint.Chain{Key: l.Head.Key, Branch: l.Branch}, l.log)
	return err
}

// wentBack looks whether a run that ended for an input was rolled back. If it could not be, the input must not follow it; if it had
// ended by itself, or for somebody else, the input comes after it.
func (c *core) wentBack(ctx context.Context, th Thread, run string) error {
	l, err := c.load(ctx, th.key())
	if err != nil || l.Head.Run != run || l.Head.Status != checkpoint.Cancelled {
		return err
	}
	return c.canGoBack(ctx, l)
}
