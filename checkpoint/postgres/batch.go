package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A batch is statements that go to the server together: one round trip, and one transaction, which the server ends by
// itself. So no client ever holds a lock while it thinks, sleeps or is frozen.
type batch struct {
	s *Store
	pgx.Batch
}

// add queues a statement in which our names begin with hf_.
func (b *batch) add(text string, args ...any) *pgx.QueuedQuery {
	return b.Queue(b.s.sql(text), args...)
}

// rows queues a query; each is called for every row.
func (b *batch) rows(each func(row) error, text string, args ...any) {
	b.scan(b.add(text, args...), each)
}

func (b *batch) scan(q *pgx.QueuedQuery, each func(row) error) {
	q.Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// rowsAffected keeps the count of rows that a statement changed.
func rowsAffected(n *int64) func(pgconn.CommandTag) error {
	return func(t pgconn.CommandTag) error {
		*n = t.RowsAffected()
		return nil
	}
}

// A row is what a query yields.
type row interface{ Scan(to ...any) error }

// local queues the settings of this transaction.
func (b *batch) local(tenant string, write bool) {
	if b.s.o.RowSecurity {
		b.set("holdfast.tenant", tenant)
	}
	if write {
		for _, v := range b.s.settings {
			b.set(v.name, v.value)
		}
	}
}

func (b *batch) set(name, value string) { b.Queue(`select set_config($1, $2, true)`, name, value) }

// tries is how often a batch is sent whose transaction collided with another, or whose connection was dead.
const tries = 4

// write sends a batch that may be repeated: its outcome is the same however often it happens.
func (s *Store) write(ctx context.Context, tenant string, build func(*batch)) error {
	return s.send(ctx, s.pool, true, func(b *batch) {
		b.local(tenant, true)
		build(b)
	})
}

// writeOnce sends a batch that would happen twice if it were repeated.
func (s *Store) writeOnce(ctx context.Context, tenant string, build func(*batch)) error {
	return s.send(ctx, s.pool, false, func(b *batch) {
		b.local(tenant, true)
		build(b)
	})
}

// read sends one query.
func (s *Store) read(ctx context.Context, tenant string, build func(*batch)) error {
	return s.send(ctx, s.pool, true, func(b *batch) {
		b.local(tenant, false)
		build(b)
	})
}

// readAsOfOneMoment sends several queries that see the same moment.
func (s *Store) readAsOfOneMoment(ctx context.Context, tenant string, build func(*batch)) error {
	return s.send(ctx, s.pool, true, func(b *batch) {
		b.Queue(`begin isolation level repeatable read read only`)
		b.local(tenant, false)
		build(b)
		b.Queue(`commit`)
	})
}

// send builds a batch and sends it, again where that is sure to be right. What build collects it must collect anew each time.
func (s *Store) send(ctx context.Context, pool *pgxpool.Pool, repeatable bool, build func(*batch)) error {
	for try := 1; ; try++ {
		lost, err := s.sendOnce(ctx, pool, build)
		again := collided(err) || pgconn.SafeToRetry(err) || lost && repeatable
		if err == nil || ctx.Err() != nil || !again || try == tries {
			return failure(ctx, lost, err)
		}
	}
}

// sendOnce holds a connection for one round trip. If that is lost in the middle nobody knows whether the batch happened.
func (s *Store) sendOnce(ctx context.Context, pool *pgxpool.Pool, build func(*batch)) (lost bool, err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return false, errNoConn{err}
	}
	defer conn.Release()
	b := &batch{s: s}
	build(b)
	err = conn.SendBatch(ctx, &b.Batch).Close()
	return err != nil && conn.Conn().IsClosed(), err
}
