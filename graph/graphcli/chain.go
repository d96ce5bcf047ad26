package graphcli

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// noChain is a namespace that no chain has, for a load that is about everything else.
var noChain = checkpoint.NamespaceOf("head")

// headOf loads a thread without its records.
func headOf(ctx context.Context, s checkpoint.Store, key checkpoint.Key) (*checkpoint.Loaded, error) {
	if err := key.Valid(); err != nil {
		return nil, err
	}
	l, err := s.Load(ctx, key, checkpoint.Active, noChain)
	if err == nil && l.Head.Epoch == 0 {
		err = fmt.Errorf("%w: %s/%s", graph.ErrNoThread, key.Tenant, key.Thread)
	}
	return l, err
}

// eachRecord reads a chain in pages.
func eachRecord(ctx context.Context, s checkpoint.Store, chain checkpoint.Chain, visit func(*checkpoint.Record) error) error {
	q := checkpoint.Query{Chain: chain, To: -1, Limit: 500}
	for {
		recs, err := s.Read(ctx, q)
		if err != nil || len(recs) == 0 {
			return err
		}
		for i := range recs {
			if err := visit(&recs[i]); err != nil {
				return err
			}
		}
		q.From = recs[len(recs)-1].Pos + 1
	}
}

// eachChain visits every chain of a thread, by branch and namespace.
func eachChain(ctx context.Context, s checkpoint.Store, l *checkpoint.Loaded, visit func(checkpoint.Chain) error) error {
	for branch := range l.Head.Branches {
		list, err := s.Chains(ctx, l.Head.Key, branch)
		if err != nil {
			return err
		}
		for _, last := range list {
			if err := visit(checkpoint.Chain{Key: l.Head.Key, Branch: branch, Namespace: last.Namespace}); err != nil {
				return err
			}
		}
	}
	return nil
}
