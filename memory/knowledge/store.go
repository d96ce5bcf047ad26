package knowledge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/audited"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A Store keeps the documents of tenants. Make it with NewMemory, or open one of memory/knowledge/sqlite or memory/knowledge/postgres. It is safe
// for concurrent use. All methods may be repeated.
//
// A method that reads takes a Reader and sees nothing of another tenant, nor what none of its roles may read: that looks as if it were not there.
type Store struct {
	back  Backend
	o     Options
	audit *audited.Log

	// life is held for reading by every call, so that Close waits for the calls under way.
	life   sync.RWMutex
	closed bool
}

// New returns a store over a back end, which it closes. It is for those who write a back end. On ErrOptions nothing is closed.
func New(b Backend, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Store{back: b, o: o, audit: audits(o)}, nil
}

// Documents returns a page of what a reader may read and is in force, without texts, by id, behind the one that is given; "" is before all.
// limit is at most 1000; 0 is 100.
func (s *Store) Documents(ctx context.Context, r Reader, after string, limit int) (out []Document, err error) {
	defer audited.Read(ctx, s.audit, access(ctx, r.tenant, "Documents"), &out, &err, documentIDs)
	if limit <= 0 {
		limit = 100
	}
	err = s.view(ctx, r, func(ctx context.Context, tx Tx, shelves []string) error {
		rows, err := tx.Versions(ctx, Select{Shelves: shelves, InForce: tx.Now(), After: after, Limit: min(limit, 1000)})
		if err != nil {
			return err
		}
		out = make([]Document, len(rows))
		for i, row := range rows {
			if out[i], err = row.document(); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// Document returns the version in force of a document, or ErrNotFound.
func (s *Store) Document(ctx context.Context, r Reader, id string) (out Document, err error) {
	defer audited.Read(ctx, s.audit, access(ctx, r.tenant, "Document", id), &out, &err, nil)
	found := false
	err = s.view(ctx, r, func(ctx context.Context, tx Tx, shelves []string) error {
		if found = false; name(id) != nil {
			return nil
		}
		rows, err := tx.Versions(ctx, Select{Documents: []string{id}, Shelves: shelves, InForce: tx.Now(), Text: true})
		if err != nil || len(rows) == 0 {
			return err
		}
		found = true
		out, err = rows[0].document()
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: %.300q", ErrNotFound, id)
	}
	if err != nil {
		return Document{}, err
	}
	return out, nil
}

// Erase removes all that a tenant has. On SQLite it ends with Compact; elsewhere that is for you to call.
func (s *Store) Erase(ctx context.Context, tenant string) (err error) {
	acc := access(ctx, tenant, "Erase")
	if err := s.audit.Begin(ctx, acc); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, acc, &err)
	return s.write(ctx, tenant, func(ctx context.Context) error { return s.back.Erase(ctx, tenant) })
}

// Compact writes the files of the store anew, without what was deleted: databases keep of it for a while what no query finds. It
// costs as much as copying the documents of all tenants, and as much space meanwhile. On SQLite writers wait for it. On Postgres it is
// VACUUM FULL: all calls wait, only the owner of the tables may, and the log of the server (pg_wal) has what was written until it is
// recycled. Where the context has no deadline it takes at most sixty times Options.OpTimeout.
func (s *Store) Compact(ctx context.Context) error {
	return s.call(ctx, 60*s.o.OpTimeout, s.back.Compact)
}

// Close waits for the calls under way. Later ones are ErrClosed.
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.back.Close()
}

// view runs f with the shelves that a reader may read; not at all if there are none.
func (s *Store) view(ctx context.Context, r Reader, f func(ctx context.Context, tx Tx, shelves []string) error) error {
	if err := r.valid(); err != nil {
		return err
	}
	return s.call(ctx, s.o.OpTimeout, func(ctx context.Context) error { return s.viewIn(ctx, r, f) })
}

// viewIn is a view within a call.
func (s *Store) viewIn(ctx context.Context, r Reader, f func(ctx context.Context, tx Tx, shelves []string) error) error {
	return s.back.View(ctx, r.tenant, func(tx Tx) error {
		shelves, err := tx.Readable(ctx, r.roles)
		if err != nil || len(shelves) == 0 {
			return err
		}
		return f(ctx, tx, shelves)
	})
}

// update runs f in a transaction of a tenant.
func (s *Store) update(ctx context.Context, tenant string, f func(context.Context, Tx) error) error {
	return s.write(ctx, tenant, func(ctx context.Context) error {
		return s.back.Update(ctx, tenant, func(tx Tx) error { return f(ctx, tx) })
	})
}

// write is a call of the index pipeline.
func (s *Store) write(ctx context.Context, tenant string, f func(context.Context) error) error {
	if err := name(tenant); err != nil {
		return fmt.Errorf("%w: %w", ErrTenant, err)
	}
	return s.call(ctx, 60*s.o.OpTimeout, f)
}

// call runs f unless the store is closed, with a deadline.
func (s *Store) call(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
	}
	err := f(ctx)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, ErrUnavailable):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case errors.Is(err, search.ErrFormat) && !errors.Is(err, ErrCorrupt):
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
