package longterm

import (
	"context"

	"github.com/holdfast-go/holdfast/memory"
)

// Forget removes the content of items in all their versions, from rows, index and vectors. What is left of each says that it
// was forgotten, and when. Items that follow from them become doubtful. Messages that said them and still wait in the outbox
// are removed from it, with whatever else they say. The files of a database may keep what no query finds until Compact. Ids that are not there, or not the agent's to see, are ErrNotFound, and
// nothing is changed.
func (s *Store) Forget(ctx context.Context, sc memory.Scope, a memory.Agent, ids ...string) (err error) {
	acc := access(sc, a.Name(), "Forget", "", ids...)
	if err := s.audit.Begin(ctx, acc); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, acc, &err)
	return s.update(ctx, sc, a, func(ctx context.Context, u *unit) error {
		var gone []*record
		for _, id := range ids {
			r, err := u.item(ctx, id)
			if err != nil {
				return err
			}
			all, err := u.chain(ctx, r)
			if err != nil {
				return err
			}
			gone = append(gone, all...)
		}
		return u.forget(ctx, gone)
	})
}

func (u *unit) forget(ctx context.Context, gone []*record) error {
	var sources []Source
	var ids []string
	done := map[string]bool{}
	for _, r := range gone {
		if done[r.ID] || r.End == Forgotten {
			continue
		}
		done[r.ID] = true
		sources, ids = append(sources, r.Sources...), append(ids, r.ID)
		if err := u.save(ctx, r, r.tombstone(u)); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := u.doubt(ctx, ids...); err != nil {
		return err
	}
	return u.unqueue(ctx, sources, ids)
}

// tombstone is what is left of an item: ids, times, and where it lay.
func (r *record) tombstone(u *unit) *record {
	t := &record{Item: Item{
		ID: r.ID, Namespace: r.Namespace, Label: r.Label, Version: r.Version, Replaces: r.Replaces, Also: r.Also, By: r.By,
		From: r.From, Until: r.Until, Stored: r.Stored, End: Forgotten,
	}, State: Past}
	if t.Until.IsZero() || t.Until.After(u.now) {
		t.Until = u.now
	}
	return t
}
