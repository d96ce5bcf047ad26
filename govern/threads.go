package govern

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/memory"
)

// Threads returns the eraser of a user's threads: those whose Owner is the user (graph.RunOptions.Owner, which nodes.RunOptions sets), in
// the tenant that is named, or in that of the scope if it is "". It deletes them with all branches, questions and commands, whoever
// holds them: a run that is under way is refused at its next write. Then it clears the tenant's cache of node results, which does not
// know of whom they are. A store of this machine alone (SQLite) it compacts, as the boxes of memory do; for others see Compact.
//
// It keeps no tombstone. A message of the user that arrives later makes a new thread; its first node that touches memory is refused.
func Threads(store checkpoint.Store, tenant string) Eraser { return threads{store, tenant} }

type threads struct {
	store  checkpoint.Store
	tenant string
}

func (t threads) of(sc memory.Scope) checkpoint.ThreadFilter {
	f := checkpoint.ThreadFilter{Tenant: t.tenant, Owner: sc.User(), Limit: 1000}
	if f.Tenant == "" {
		f.Tenant = sc.Tenant()
	}
	return f
}

// each calls f for every thread of a scope.
func (t threads) each(ctx context.Context, sc memory.Scope, f func(checkpoint.Key) error) error {
	if err := sc.Valid(); err != nil {
		return err
	}
	filter := t.of(sc)
	for {
		heads, err := t.store.Threads(ctx, filter)
		if err != nil || len(heads) == 0 {
			return err
		}
		for _, h := range heads {
			if err := f(h.Key); err != nil {
				return fmt.Errorf("thread %.80q: %w", h.Thread, err)
			}
		}
		filter.After = heads[len(heads)-1].Key
	}
}

// Erase implements Eraser.
func (t threads) Erase(ctx context.Context, sc memory.Scope) error {
	if err := t.each(ctx, sc, func(k checkpoint.Key) error { return t.store.Delete(ctx, k) }); err != nil {
		return err
	}
	if cache, ok := t.store.(checkpoint.Cache); ok {
		if err := cache.CacheClear(ctx, t.of(sc).Tenant); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	if c, ok := t.store.(checkpoint.Compacter); ok && t.store.Info().Local {
		return c.Compact(ctx)
	}
	return nil
}

// Count implements Eraser: it counts threads.
func (t threads) Count(ctx context.Context, sc memory.Scope) (n int, err error) {
	err = t.each(ctx, sc, func(checkpoint.Key) error { n++; return nil })
	return n, err
}
