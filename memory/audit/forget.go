package audit

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// Entries of the log itself.
const (
	ownBox      = "audit"
	verbForget  = "Forget"
	verbReadmit = "Readmit"
	verbTrim    = "Trim"
)

// Forget removes the name and the secret of a user, so that nobody can say any more whom the entries of them were of, nor which conversations
// and items, and leaves the Hash of the scope: accesses of the user from then on have no name either (Forgotten), until Readmit. That it
// was done is an entry. It may be repeated. On SQLite it ends with Compact; elsewhere that is for you to call.
func (l *Log) Forget(ctx context.Context, sc memory.Scope) error {
	err := l.change(ctx, sc, func(tx Tx) error { return forget(ctx, tx, sc) })
	if err != nil {
		return err
	}
	return l.within(ctx, 60*l.o.OpTimeout, l.back.Erased)
}

// Erase is Forget. With Count and Readmit it lets govern.Erase have a log among its boxes.
func (l *Log) Erase(ctx context.Context, sc memory.Scope) error { return l.Forget(ctx, sc) }

// Readmit gives a user a name again who was forgotten, a new one.
func (l *Log) Readmit(ctx context.Context, sc memory.Scope) error {
	return l.change(ctx, sc, func(tx Tx) error { return readmit(ctx, tx, sc) })
}

// Count returns how many names a user has: 1 or 0.
func (l *Log) Count(ctx context.Context, sc memory.Scope) (n int, err error) {
	if err := sc.Valid(); err != nil {
		return 0, err
	}
	err = l.within(ctx, l.o.OpTimeout, func(ctx context.Context) error {
		return l.back.View(ctx, sc.Tenant(), func(tx Tx) error {
			names, err := tx.NamesOf(ctx, []string{sc.User()})
			n = len(names)
			return err
		})
	})
	return n, err
}

func (l *Log) change(ctx context.Context, sc memory.Scope, f func(Tx) error) error {
	if err := sc.Valid(); err != nil {
		return err
	}
	return l.within(ctx, l.o.OpTimeout, func(ctx context.Context) error { return l.back.Update(ctx, sc.Tenant(), f) })
}

func forget(ctx context.Context, tx Tx, sc memory.Scope) error {
	names, err := tx.NamesOf(ctx, []string{sc.User()})
	if err != nil {
		return err
	}
	erased, err := tx.Erased(ctx, []string{sc.Hash()})
	if err != nil || len(names) == 0 && len(erased) > 0 {
		return err
	}
	token := Forgotten
	for _, n := range names {
		token = n.Token
		if err := tx.DeleteName(ctx, token); err != nil {
			return err
		}
	}
	if err := tx.PutErased(ctx, sc.Hash(), true); err != nil {
		return err
	}
	return chain(ctx, tx, sc.Tenant(), nil, own(verbForget, token, 0))
}

func readmit(ctx context.Context, tx Tx, sc memory.Scope) error {
	erased, err := tx.Erased(ctx, []string{sc.Hash()})
	if err != nil || len(erased) == 0 {
		return err
	}
	if err := tx.PutErased(ctx, sc.Hash(), false); err != nil {
		return err
	}
	return chain(ctx, tx, sc.Tenant(), nil, own(verbReadmit, Forgotten, 0))
}

// own is an entry of the log itself.
func own(verb, token string, more int64) Row {
	return Row{User: token, Box: ownBox, Verb: verb, Write: true, More: more, Result: memory.AccessOK}
}

// Trim removes the entries from the oldest on up to the first that was made at a time or later, and the names that no entry has any more, and
// returns how many entries there were. The hash before the first that is kept stays, so that Verify still works. That it was done is an
// entry. Take an anchor first: older ones say nothing of what is kept.
func (l *Log) Trim(ctx context.Context, tenant string, before time.Time) (removed int, err error) {
	err = l.about(ctx, tenant, 60*l.o.OpTimeout, func(ctx context.Context) error {
		return l.back.Update(ctx, tenant, func(tx Tx) (err error) {
			removed, err = trim(ctx, tx, tenant, before)
			return err
		})
	})
	return removed, err
}

func trim(ctx context.Context, tx Tx, tenant string, before time.Time) (int, error) {
	h, err := tx.Head(ctx)
	if err != nil || h.N == h.Trimmed {
		return 0, err
	}
	last, err := lastBefore(ctx, tx, h, before)
	if err != nil || last.N == h.Trimmed {
		return 0, err
	}
	removed := last.N - h.Trimmed
	h.Trimmed, h.Base = last.N, last.Hash
	if err := tx.Trim(ctx, h, last.N); err != nil {
		return 0, err
	}
	return int(removed), chain(ctx, tx, tenant, nil, own(verbTrim, "", removed))
}

// lastBefore is the row before the first that was made at a time or later; where nothing goes it has the number of the last that was trimmed.
func lastBefore(ctx context.Context, tx Tx, h Head, before time.Time) (Row, error) {
	kept, err := tx.Rows(ctx, Select{From: before, Limit: 1})
	if err != nil {
		return Row{}, err
	}
	last := Row{N: h.N, Hash: h.Hash}
	if len(kept) == 0 {
		return last, nil
	}
	if last.N = kept[0].N - 1; last.N == h.Trimmed {
		return last, nil
	}
	rows, err := tx.Rows(ctx, Select{After: last.N - 1, Limit: 1})
	if err != nil || len(rows) == 0 {
		return Row{N: h.Trimmed}, err
	}
	return rows[0], nil
}
