package audit

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// Entries of the log itself.
const (
	ownBox     = "audit"
	verbForget = "Forget"
	verbTrim   = "Trim"
)

// Forget removes the name and the secret of a user, so that nobody can say any more whom the entries of them were of, nor which conversations
// and items. That it was done is an entry. It is no error if there is none. On SQLite it ends with Compact; elsewhere that is for you
// to call. An access of the user after it makes a new name, so it comes last.
func (l *Log) Forget(ctx context.Context, sc memory.Scope) error {
	if err := sc.Valid(); err != nil {
		return err
	}
	return l.about(ctx, sc.Tenant(), 60*l.o.OpTimeout, func(ctx context.Context) error {
		err := l.back.Update(ctx, sc.Tenant(), func(tx Tx) error { return forget(ctx, tx, sc) })
		if err != nil {
			return err
		}
		return l.back.Erased(ctx)
	})
}

func forget(ctx context.Context, tx Tx, sc memory.Scope) error {
	names, err := tx.NamesOf(ctx, []string{sc.User()})
	if err != nil || len(names) == 0 {
		return err
	}
	if err := tx.DeleteName(ctx, names[0].Token); err != nil {
		return err
	}
	return chain(ctx, tx, sc.Tenant(), nil, Row{User: names[0].Token, Box: ownBox, Verb: verbForget, Write: true, Result: memory.AccessOK})
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
	return int(removed), chain(ctx, tx, tenant, nil, Row{Box: ownBox, Verb: verbTrim, Write: true, More: removed, Result: memory.AccessOK})
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
