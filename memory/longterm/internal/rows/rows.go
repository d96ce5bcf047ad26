// Package rows keeps long-term memory in the tables of a SQL database. SQLite and Postgres share its statements; each of them brings
// the tables, transactions, and where vectors are.
package rows

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A DB is a database, with what each does in its own way.
type DB interface {
	sqldb.DB

	// After is called after a transaction that wrote. Where something was forgotten it removes from what the database keeps beside
	// its tables what these no longer have, as far as it can.
	After(ctx context.Context, forgot bool) error

	// Vectors are those of a scope, in a transaction.
	Vectors(run sqldb.Run, sc memory.Scope, rows search.Rows, now time.Time) Vectors
}

// Vectors are as in longterm.Tx.
type Vectors interface {
	PutVectors(ctx context.Context, shelf, space string, vectors map[uint32][]float32) error
	Nearest(ctx context.Context, shelves []string, space string, v []float32, limit int) ([]search.Hit, error)

	// EraseVectors removes those of the scope that are not in the index.
	EraseVectors(ctx context.Context) error
}

// New returns the back end over a database.
func New(db DB) longterm.Backend { return &backend{db} }

type backend struct{ db DB }

// tables of a scope; its own comes last.
var tables = []string{"hfl_item", "hfl_depend", "hfl_index", "hfl_shelf", "hfl_job", "hfl_scope"}

// The scope is locked by its row, which is made where it is missing. Who removes a scope removes that row too: then there is none, and
// it is made again. The time is asked for behind the lock: in the same select Postgres would read the clock before it waits, and who waited
// would be earlier than what it waited for.
const (
	sqlMakeScope = `insert into hfl_scope(tenant, usr) values ($1, $2) on conflict (tenant, usr) do nothing`
	sqlErased    = `select 1 from hfl_erased where scope = $1`
	sqlLockScope = `select 1 from hfl_scope where tenant = $1 and usr = $2 {lock}`
)

func clock(to *time.Time) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var micros int64
		err := scan(&micros)
		*to = sqldb.At(micros)
		return err
	}
}

// admit locks a scope for a write, unless it was erased.
func admit(ctx context.Context, run sqldb.Run, sc memory.Scope) (now time.Time, err error) {
	now, err = lock(ctx, run, sc)
	if err != nil {
		return now, err
	}
	erased := false
	err = run(ctx, sqldb.Query(sqlErased, func(scan func(...any) error) error { erased = true; return scan(new(int64)) }, sc.Hash()))
	if err == nil && erased {
		err = memory.ErrErased
	}
	return now, err
}

// lock makes the transaction alone with the scope, and returns the time.
func lock(ctx context.Context, run sqldb.Run, sc memory.Scope) (now time.Time, err error) {
	there := false
	locked := func(scan func(...any) error) error { there = true; return scan(new(int64)) }
	for err == nil && !there {
		err = run(ctx, sqldb.Exec(sqlMakeScope, sc.Tenant(), sc.User()), sqldb.Query(sqlLockScope, locked, sc.Tenant(), sc.User()),
			sqldb.Query(`select {now}`, clock(&now)))
	}
	return now, err
}

// View implements longterm.Backend.
func (b *backend) View(ctx context.Context, sc memory.Scope, f func(longterm.Tx) error) error {
	return b.db.Read(ctx, func(run sqldb.Run) error {
		var now time.Time
		if err := run(ctx, sqldb.Query(`select {now}`, clock(&now))); err != nil {
			return err
		}
		return f(b.tx(run, sc, now))
	})
}

// Update implements longterm.Backend.
func (b *backend) Update(ctx context.Context, sc memory.Scope, f func(longterm.Tx) error) error {
	forgot := false
	err := b.db.Write(ctx, func(run sqldb.Run) error {
		now, err := admit(ctx, run, sc)
		if err != nil {
			return err
		}
		x := b.tx(run, sc, now)
		x.writes = true
		err = f(x)
		forgot = x.forgot
		return err
	})
	if err != nil {
		return err
	}
	return b.db.After(ctx, forgot)
}

// Erase implements longterm.Backend.
func (b *backend) Erase(ctx context.Context, sc memory.Scope) error {
	err := b.db.Write(ctx, func(run sqldb.Run) error {
		now, err := lock(ctx, run, sc)
		if err != nil {
			return err
		}
		x := b.tx(run, sc, now)
		if err := x.EraseVectors(ctx); err != nil {
			return err
		}
		var stmts []sqldb.Stmt
		for _, t := range tables {
			stmts = append(stmts, sqldb.Exec(`delete from `+t+mineOnly, x.mine()...))
		}
		stmts = append(stmts, sqldb.Exec(`insert into hfl_erased(scope, at) values ($1, {now}) on conflict (scope) do nothing`, sc.Hash()))
		return run(ctx, stmts...)
	})
	if err != nil {
		return err
	}
	if err := b.db.After(ctx, true); err != nil {
		return err
	}
	return b.db.Erased(ctx)
}

// Readmit implements longterm.Backend.
func (b *backend) Readmit(ctx context.Context, sc memory.Scope) error {
	return b.db.Write(ctx, func(run sqldb.Run) error {
		return run(ctx, sqldb.Exec(`delete from hfl_erased where scope = $1`, sc.Hash()))
	})
}

// Count implements longterm.Backend.
func (b *backend) Count(ctx context.Context, sc memory.Scope) (n int, err error) {
	err = b.db.Read(ctx, func(run sqldb.Run) error {
		n = 0
		return run(ctx, sqldb.Counts(&n, tables, mineOnly, sc.Tenant(), sc.User())...)
	})
	return n, err
}

// Compact implements longterm.Backend.
func (b *backend) Compact(ctx context.Context) error { return b.db.Compact(ctx) }

// Close implements longterm.Backend.
func (b *backend) Close() error { return b.db.Close() }

var index = sqldb.Index{Table: "hfl_index", Owner: []string{"tenant", "usr"}}

func (b *backend) tx(run sqldb.Run, sc memory.Scope, now time.Time) *tx {
	rows := index.Rows(run, sc.Tenant(), sc.User())
	return &tx{Rows: rows, Vectors: b.db.Vectors(run, sc, rows, now), run: run, scope: sc, now: now}
}

// A tx implements longterm.Tx.
type tx struct {
	search.Rows
	Vectors
	run    sqldb.Run
	scope  memory.Scope
	now    time.Time
	writes bool
	forgot bool // something, which must be wiped out
}

// Now implements longterm.Tx.
func (x *tx) Now() time.Time { return x.now }

// mine are the arguments $1 and $2 of every statement, and more.
func (x *tx) mine(more ...any) []any { return append([]any{x.scope.Tenant(), x.scope.User()}, more...) }

// mineOnly is the condition that every statement has.
const mineOnly = ` where tenant = $1 and usr = $2`

// Errors are those of longterm.
var Errors = sqldb.Errors{
	Unavailable: longterm.ErrUnavailable, Corrupt: longterm.ErrCorrupt, NewerFormat: longterm.ErrNewerFormat, Options: longterm.ErrOptions,
}
