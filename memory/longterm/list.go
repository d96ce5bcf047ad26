package longterm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/guard"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
)

// shown is an item as it leaves the store: a secret that an older release, or another program, has stored is blotted out.
func (r *record) shown() Item {
	i := r.clone().Item
	i.Text, _ = guard.Redact(i.Text)
	i.Words, _ = guard.Redact(i.Words)
	if clean, redacted, _, err := cleanJSON(i.Value); err == nil && redacted {
		i.Value = clean
	}
	if len(i.Meta) > 0 {
		i.Meta = map[string]string{}
		for name, text := range r.Meta {
			i.Meta[name], _ = cleanPair(name, text)
		}
	}
	return i
}

// planted reports whether an item holds an instruction to a model.
func (r *record) planted() bool {
	return len(guard.Planted(r.Text)) > 0 || r.Quoted && len(guard.Planted(r.Words)) > 0
}

// List returns a page of items. An empty page is the end; expired ones are among the past.
func (s *Store) List(ctx context.Context, sc memory.Scope, a memory.Agent, p Page) (out []Item, err error) {
	defer audited.Read(ctx, s.audit, access(sc, a.Name(), "List", ""), &out, &err, itemIDs)
	if err := checkPage(p.Kinds, p.After); err != nil {
		return nil, err
	}
	limit := pageLimit(p.Limit)
	sel := Select{Kinds: p.Kinds, After: p.After, Limit: limit, AsOf: moment(p.AsOf), States: []State{Holds}}
	if p.Past || !p.AsOf.IsZero() {
		sel.States = append(sel.States, Past)
	}
	if p.Inferred {
		sel.States = append(sel.States, Waits)
	}
	err = s.view(ctx, sc, a, func(ctx context.Context, u *unit) error {
		out = nil
		at := u.now
		if !p.AsOf.IsZero() {
			at = sel.AsOf
		}
		return u.each(ctx, u.seen(sel), func(r *record) bool {
			if p.AsOf.IsZero() && p.Past || r.held(at) || r.State == Waits && !r.expired(at) {
				out = append(out, r.shown())
			}
			return len(out) < limit
		})
	})
	return out, err
}

// held reports whether a record, of those that a selection AsOf a time has, held then.
func (r *record) held(at time.Time) bool {
	return r.State != Waits && r.End != RolledBack && r.End != Forgotten && !r.expired(at)
}

// checkPage keeps what no back end has, and not every one can look for, away from it.
func checkPage(ks []Kind, after string) error {
	for _, k := range ks {
		if !slices.Contains(kinds, k) {
			return fmt.Errorf("%w: kind %.80q", ErrQuery, k)
		}
	}
	if after != "" && !goodName(after) {
		return fmt.Errorf("%w: %.80q", ErrQuery, after)
	}
	return nil
}

func pageLimit(n int) int {
	if n <= 0 {
		return 100
	}
	return min(n, 1000)
}

// each calls f for the records of a selection until it returns false, a page at a time.
func (u *unit) each(ctx context.Context, sel Select, f func(*record) bool) error {
	for {
		found, err := u.items(ctx, sel)
		if err != nil {
			return err
		}
		for _, r := range found {
			if !f(r) {
				return nil
			}
		}
		if len(found) < sel.Limit {
			return nil
		}
		sel.After = found[len(found)-1].ID
	}
}

// Get returns one item, also one that no longer holds, or ErrNotFound.
func (s *Store) Get(ctx context.Context, sc memory.Scope, a memory.Agent, id string) (out Item, err error) {
	defer audited.Read(ctx, s.audit, access(sc, a.Name(), "Get", "", id), &out, &err, nil)
	err = s.view(ctx, sc, a, func(ctx context.Context, u *unit) error {
		r, err := u.item(ctx, id)
		if err == nil {
			out = r.shown()
		}
		return err
	})
	return out, err
}

// AsOf returns the item that held about a key at a time, zero for now, or ErrNotFound.
func (s *Store) AsOf(ctx context.Context, sc memory.Scope, a memory.Agent, namespace, key string, at time.Time) (out Item, err error) {
	defer audited.Read(ctx, s.audit, access(sc, a.Name(), "AsOf", ""), &out, &err, itemID)
	err = s.view(ctx, sc, a, func(ctx context.Context, u *unit) error {
		if !a.May(memory.Public, namespace) || !goodName(key) {
			return ErrNotFound
		}
		r, err := u.asOf(ctx, namespace, key, at)
		if err == nil {
			out = r.shown()
		}
		return err
	})
	return out, err
}

func (u *unit) asOf(ctx context.Context, namespace, key string, at time.Time) (*record, error) {
	if at = moment(at); at.IsZero() {
		at = u.now
	}
	found, err := u.items(ctx, Select{
		Namespaces: []string{namespace}, Label: u.agent.Clearance(), Keys: []string{key}, States: []State{Holds, Past}, AsOf: at, Newest: true,
	})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(found, func(r *record) bool { return r.held(at) })
	if i < 0 {
		return nil, ErrNotFound
	}
	return found[i], nil
}

// History returns all versions of the fact that an item belongs to, and what they superseded besides, in the order in which
// they held.
func (s *Store) History(ctx context.Context, sc memory.Scope, a memory.Agent, id string) (out []Item, err error) {
	defer audited.Read(ctx, s.audit, access(sc, a.Name(), "History", "", id), &out, &err, itemIDs)
	err = s.view(ctx, sc, a, func(ctx context.Context, u *unit) error {
		out = nil
		r, err := u.item(ctx, id)
		if err != nil {
			return err
		}
		all, err := u.chain(ctx, r)
		if err != nil {
			return err
		}
		slices.SortStableFunc(all, func(a, b *record) int { return a.From.Compare(b.From) })
		for _, r := range all {
			if u.sees(r) {
				out = append(out, r.shown())
			}
		}
		return nil
	})
	return out, err
}
