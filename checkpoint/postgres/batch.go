package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A batch is statements that go to the server together: one round trip, and one transaction, which the server ends by
// itself. The server runs each statement as it arrives, so whatever may be large is in the first one that locks. What comes
// behind it is small enough that the system takes it whole, and sends it whatever becomes of the client: so no client holds
// a lock while it thinks, sleeps or is frozen.
type batch struct {
	s     *Store
	queue []statement
}

// maxLocked is how many bytes of values a batch may send behind its first lock. A socket of Linux takes 85 KB at once.
const maxLocked = 64 << 10

// A statement is one of a batch, and what becomes of its rows.
type statement struct {
	text     string
	args     []any
	each     func(row) error // for every row; nil: they do not matter
	affected *int64          // the count of rows that it changed; nil: it does not matter
}

// A row is what a query yields.
type row interface{ Scan(to ...any) error }

// add queues a statement in which our names begin with hf_.
func (b *batch) add(text string, args ...any) { b.rows(nil, text, args...) }

// rows queues a query; each is called for every row.
func (b *batch) rows(each func(row) error, text string, args ...any) {
	b.queue = append(b.queue, statement{text: b.s.sql(text), args: args, each: each})
}

// count queues a statement and keeps the count of rows that it changes.
func (b *batch) count(n *int64, text string, args ...any) {
	b.queue = append(b.queue, statement{text: b.s.sql(text), args: args, affected: n})
}

// plain queues a statement without names of ours, or with names that have their schema.
func (b *batch) plain(each func(row) error, text string, args ...any) {
	b.queue = append(b.queue, statement{text: text, args: args, each: each})
}

// run sends the batch over a connection.
func (b *batch) run(ctx context.Context, conn *pgxpool.Conn) error {
	if len(b.queue) == 1 { // without the work of a pipeline
		st := &b.queue[0]
		rows, err := conn.Query(ctx, st.text, st.args...)
		if err != nil {
			return err
		}
		return st.take(rows)
	}
	var all pgx.Batch
	for i := range b.queue {
		st := &b.queue[i]
		all.Queue(st.text, st.args...).Query(st.take)
	}
	return conn.SendBatch(ctx, &all).Close()
}

// take reads what the server answers.
func (st *statement) take(rows pgx.Rows) error {
	defer rows.Close()
	for rows.Next() {
		if st.each == nil {
			continue
		}
		if err := st.each(rows); err != nil {
			return err
		}
	}
	rows.Close()
	if st.affected != nil {
		*st.affected = rows.CommandTag().RowsAffected()
	}
	return rows.Err()
}

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

func (b *batch) set(name, value string) { b.plain(nil, `select set_config($1, $2, true)`, name, value) }

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
		b.plain(nil, `begin isolation level repeatable read read only`)
		b.local(tenant, false)
		build(b)
		b.plain(nil, `commit`)
	})
}

// send builds a batch and sends it, again where that is sure to be right. What build collects it must collect anew each time.
//
// A server that was restarted leaves dead connections in the pool, more perhaps than there are tries: after the second one
// none of those that are idle is used again.
func (s *Store) send(ctx context.Context, pool *pgxpool.Pool, repeatable bool, build func(*batch)) error {
	for try := 1; ; try++ {
		lost, err := s.sendOnce(ctx, pool, build)
		again := collided(err) || pgconn.SafeToRetry(err) || lost && repeatable
		if err == nil || ctx.Err() != nil || !again || try == tries {
			return failure(ctx, lost, err)
		}
		if lost && try > 1 {
			pool.Reset()
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
	err = b.run(ctx, conn)
	return err != nil && conn.Conn().IsClosed(), err
}
