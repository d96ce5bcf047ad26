package longterm

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
)

// Add decides on drafts, all in one transaction, and returns what became of each, in order. The same drafts again change nothing.
//
// A draft that misses something is ErrDraft, one for a namespace or label that is not the agent's ErrDenied, one that is too
// long ErrTooLarge: the error names it, and nothing of the call is stored. Secrets are blotted out; what is nothing else, and
// instructions to a model, are dropped, and the outcome says so.
//
// With an Embedder the vectors are made before the transaction. Where it fails the items are stored without, found by their
// words, and Work makes the vectors later.
func (s *Store) Add(ctx context.Context, sc memory.Scope, a memory.Agent, drafts ...Draft) (out []Outcome, err error) {
	acc := access(sc, a.Name(), "Add", conversationOf(drafts))
	if err := s.audit.Begin(ctx, acc); err != nil {
		return nil, err
	}
	defer audited.End(ctx, s.audit, acc, &out, &err, outcomeIDs)
	if err := errors.Join(sc.Valid(), a.Valid()); err != nil {
		return nil, err
	}
	ps := make([]*prepared, len(drafts))
	for i, d := range drafts {
		var err error
		if ps[i], err = s.prepare(sc, a, d); err != nil {
			return nil, fmt.Errorf("draft %d: %w", i, err)
		}
	}
	err = s.call(ctx, func(ctx context.Context) error {
		known := s.vectorsOf(ctx, ps)
		return s.inUpdate(ctx, sc, a, func(ctx context.Context, u *unit) (err error) {
			u.known = known
			out, err = u.decideAll(ctx, ps)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (u *unit) decideAll(ctx context.Context, ps []*prepared) ([]Outcome, error) {
	out := make([]Outcome, len(ps))
	for i, p := range ps {
		var err error
		c := *p // a transaction may be tried again
		if out[i], err = u.decide(ctx, &c); err != nil {
			return nil, fmt.Errorf("draft %d: %w", i, err)
		}
	}
	return out, nil
}
