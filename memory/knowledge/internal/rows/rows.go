// Package rows keeps documents in the tables of a SQL database. SQLite and Postgres share its statements; each of them brings the tables,
// transactions, and where vectors are.
package rows

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A DB is a database, with what each does in its own way.
type DB interface {
	sqldb.DB

	// After is called after a transaction that wrote.
	After(ctx context.Context)

	// Vectors are those of a tenant, in a transaction.
	Vectors(run sqldb.Run, tenant string, rows search.Rows, now time.Time) Vectors
}

// Vectors are as in knowledge.Tx.
type Vectors interface {
	PutVectors(ctx context.Context, shelf, space string, vectors map[uint32][]float32) error
	Nearest(ctx context.Context, shelves []string, space string, v []float32, limit int) ([]search.Hit, error)

	// EraseVectors removes those of the tenant that are not in the index.
	EraseVectors(ctx context.Context) error
}

// New returns the back end over a database.
func New(db DB) knowledge.Backend { return &backend{db} }

type backend struct{ db DB }

// Errors are those of knowledge.
var Errors = sqldb.Errors{
	Unavailable: knowledge.ErrUnavailable, Corrupt: knowledge.ErrCorrupt, NewerFormat: knowledge.ErrNewerFormat, Options: knowledge.ErrOptions,
}

// tables of a tenant; its own comes last.
var tables = []string{"hfk_document", "hfk_chunk", "hfk_index", "hfk_role", "hfk_shelf", "hfk_relation", "hfk_tenant"}

// The tenant is locked by its row, which is made where it is missing. Who removes a tenant removes that row too: then there is none, and
// it is made again. The time is asked for behind the lock: in the same select Postgres would read the clock before it waits, and who waited
// would be earlier than what it waited for.
const (
	sqlMakeTenant = `insert into hfk_tenant(tenant) values ($1) on conflict (tenant) do nothing`
	sqlLockTenant = `select 1 from hfk_tenant where tenant = $1 {lock}`
)

// SQLite fixes the moment that a transaction sees at its first look at a table. A time from before that moment could be one whose chunks are
// swept away in it, so both are asked for at once.
const sqlMoment = `select {now}, exists (select 1 from hfk_tenant where tenant = $1)`

func clock(to *time.Time) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var micros int64
		err := scan(&micros)
		*to = sqldb.At(micros)
		return err
	}
}

// lock makes the transaction alone with the tenant, and returns the time.
func lock(ctx context.Context, run sqldb.Run, tenant string) (now time.Time, err error) {
	there := false
	locked := func(scan func(...any) error) error { there = true; return scan(new(int64)) }
	for err == nil && !there {
		err = run(ctx, sqldb.Exec(sqlMakeTenant, tenant), sqldb.Query(sqlLockTenant, locked, tenant), sqldb.Query(`select {now}`, clock(&now)))
	}
	return now, err
}

// View implements knowledge.Backend.
func (b *backend) View(ctx context.Context, tenant string, f func(knowledge.Tx) error) error {
	return b.db.Read(ctx, func(run sqldb.Run) error {
		var micros int64
		err := run(ctx, sqldb.Query(sqlMoment, func(scan func(...any) error) error { return scan(&micros, new(bool)) }, tenant))
		if err != nil {
			return err
		}
		return f(b.tx(run, tenant, sqldb.At(micros)))
	})
}

// Update implements knowledge.Backend.
func (b *backend) Update(ctx context.Context, tenant string, f func(knowledge.Tx) error) error {
	err := b.db.Write(ctx, func(run sqldb.Run) error {
		now, err := lock(ctx, run, tenant)
		if err != nil {
			return err
		}
		return f(b.tx(run, tenant, now))
	})
	if err == nil {
		b.db.After(ctx)
	}
	return err
}

// Erase implements knowledge.Backend.
func (b *backend) Erase(ctx context.Context, tenant string) error {
	err := b.db.Write(ctx, func(run sqldb.Run) error {
		now, err := lock(ctx, run, tenant)
		if err != nil {
			return err
		}
		if err := b.tx(run, tenant, now).EraseVectors(ctx); err != nil {
			return err
		}
		var stmts []sqldb.Stmt
		for _, t := range tables {
			stmts = append(stmts, sqldb.Exec(`delete from `+t+mineOnly, tenant))
		}
		return run(ctx, stmts...)
	})
	if err != nil {
		return err
	}
	return b.db.Erased(ctx)
}

// Compact implements knowledge.Backend.
func (b *backend) Compact(ctx context.Context) error { return b.db.Compact(ctx) }

// Close implements knowledge.Backend.
func (b *backend) Close() error { return b.db.Close() }

var index = sqldb.Index{Table: "hfk_index", Owner: []string{"tenant"}}

func (b *backend) tx(run sqldb.Run, tenant string, now time.Time) *tx {
	rows := index.Rows(run, tenant)
	return &tx{Rows: rows, Vectors: b.db.Vectors(run, tenant, rows, now), run: run, tenant: tenant, now: now}
}

// A tx implements knowledge.Tx.
type tx struct {
	search.Rows
	Vectors
	run    sqldb.Run
	tenant string
	now    time.Time
}

// Now implements knowledge.Tx.
func (x *tx) Now() time.Time { return x.now }

// mineOnly is the condition that every statement has; $1 is the tenant.
const mineOnly = ` where tenant = $1`

// A condition grows with what a selection asks for.
type condition struct {
	text strings.Builder
	args []any
}

// write adds a text; each ? is the place of the next argument.
func (c *condition) write(text string, args ...any) {
	for _, a := range args {
		c.args = append(c.args, a)
		text = strings.Replace(text, "?", fmt.Sprintf("$%d", len(c.args)), 1)
	}
	c.text.WriteString(text)
}
