package audit

import (
	"context"
	"fmt"
)

// Verify reads the whole chain of a tenant and returns how many entries it has. It returns a *TamperedError if an entry was changed, removed, added
// or moved, the head or a name does not belong to it, or the chain does not go through an anchor. An anchor of which nothing can be said
// is ErrAnchor.
func (l *Log) Verify(ctx context.Context, tenant string, anchors ...Anchor) (count int64, err error) {
	err = l.about(ctx, tenant, 60*l.o.OpTimeout, func(ctx context.Context) error {
		return l.back.View(ctx, tenant, func(tx Tx) error {
			h, err := tx.Head(ctx)
			if err != nil {
				return err
			}
			w := &walk{tenant: tenant, n: h.Trimmed, hash: h.Base, anchors: anchors, nameless: map[string]int64{}}
			err = w.whole(ctx, tx, h)
			count = w.n - h.Trimmed
			return err
		})
	})
	return count, err
}

// A walk goes along a chain.
type walk struct {
	tenant   string
	n        int64
	hash     string
	anchors  []Anchor
	nameless map[string]int64 // pseudonyms without a name, with their first entry, until the entry that says they were forgotten
}

func (w *walk) tampered(n int64, format string, args ...any) error {
	return &TamperedError{w.tenant, n, fmt.Sprintf(format, args...)}
}

func (w *walk) whole(ctx context.Context, tx Tx, h Head) error {
	if err := w.check(); err != nil {
		return err
	}
	err := eachPage(ctx, tx, Select{Limit: page}, func(rows []Row, names map[string]Name) (bool, error) {
		for i := range rows {
			if err := w.step(&rows[i], names); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return w.end(h)
}

// step is the next entry.
func (w *walk) step(r *Row, names map[string]Name) error {
	switch {
	case r.N != w.n+1:
		return w.tampered(w.n+1, "it is missing; entry %d follows", r.N)
	case r.Hash != r.sum(w.tenant, w.hash):
		return w.tampered(r.N, "its hash is not that of its columns and of the hash before")
	}
	w.n, w.hash = r.N, r.Hash
	if err := w.named(r, names); err != nil {
		return err
	}
	return w.check()
}

func (w *walk) named(r *Row, names map[string]Name) error {
	if r.User == "" || r.User == Forgotten {
		return nil
	}
	n, there := names[r.User]
	switch {
	case there && n.token() != r.User:
		return w.tampered(r.N, "the name of its user was changed")
	case there:
	case r.Box == ownBox && r.Verb == verbForget:
		delete(w.nameless, r.User)
	case w.nameless[r.User] == 0:
		w.nameless[r.User] = r.N
	}
	return nil
}

// check compares the anchors of this place.
func (w *walk) check() error {
	for _, a := range w.anchors {
		if a.Tenant == w.tenant && a.N == w.n && a.Hash != w.hash {
			return w.tampered(a.N, "it is not the one of the anchor of %s", a.At)
		}
	}
	return nil
}

// end is behind the last entry.
func (w *walk) end(h Head) error {
	for _, a := range w.anchors {
		if a.Tenant == w.tenant && a.N > w.n {
			return w.tampered(w.n+1, "the anchor of %s saw %d entries", a.At, a.N)
		}
	}
	switch {
	case h.N > w.n:
		return w.tampered(w.n+1, "it is missing; there were %d", h.N)
	case h.N < w.n || h.Hash != w.hash:
		return w.tampered(w.n, "it is not the one of the head of the chain")
	}
	for token, n := range w.nameless {
		return w.tampered(n, "the name of its user %s was removed, and not by Forget", token)
	}
	for _, a := range w.anchors {
		if a.Tenant != w.tenant || a.N < h.Trimmed {
			return fmt.Errorf("%w (tenant %q, entry %d)", ErrAnchor, a.Tenant, a.N)
		}
	}
	return nil
}
