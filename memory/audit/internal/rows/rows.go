// Package rows keeps audit logs in the tables of a SQL database. SQLite and Postgres share its statements; each of them brings its
// tables.
package rows

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
)

// Errors are those of audit.
var Errors = sqldb.Errors{
	Unavailable: audit.ErrUnavailable, Corrupt: audit.ErrCorrupt, NewerFormat: audit.ErrNewerFormat, Options: audit.ErrOptions,
}

// New returns the back end over a database.
func New(db sqldb.DB) audit.Backend { return &backend{db} }

type backend struct{ db sqldb.DB }

// The chain of a tenant is locked by its head, which is made where it is missing and never removed.
const (
	sqlMakeChain = `insert into hfa_chain(tenant, n, hash, trimmed, base) values ($1, 0, '', 0, '') on conflict (tenant) do nothing`
	sqlHead      = `select n, hash, trimmed, base, {now} from hfa_chain where tenant = $1`
	sqlLockHead  = sqlHead + ` {lock}`
	sqlPutHead   = `update hfa_chain set n = $2, hash = $3, trimmed = $4, base = $5 where tenant = $1`
)

func (x *tx) scanHead(scan func(...any) error) error {
	var now int64
	err := scan(&x.head.N, &x.head.Hash, &x.head.Trimmed, &x.head.Base, &now)
	x.now = sqldb.At(now)
	return err
}

// View implements audit.Backend.
func (b *backend) View(ctx context.Context, tenant string, f func(audit.Tx) error) error {
	return b.db.Read(ctx, func(run sqldb.Run) error {
		x := &tx{run: run, tenant: tenant}
		now := func(scan func(...any) error) error {
			var micros int64
			err := scan(&micros)
			x.now = sqldb.At(micros)
			return err
		}
		if err := run(ctx, sqldb.Query(`select {now}`, now), sqldb.Query(sqlHead, x.scanHead, tenant)); err != nil {
			return err
		}
		return f(x)
	})
}

// Update implements audit.Backend.
func (b *backend) Update(ctx context.Context, tenant string, f func(audit.Tx) error) error {
	return b.db.Write(ctx, func(run sqldb.Run) error {
		x := &tx{run: run, tenant: tenant}
		if err := run(ctx, sqldb.Exec(sqlMakeChain, tenant), sqldb.Query(sqlLockHead, x.scanHead, tenant)); err != nil {
			return err
		}
		return f(x)
	})
}

// Erased implements audit.Backend.
func (b *backend) Erased(ctx context.Context) error { return b.db.Erased(ctx) }

// Compact implements audit.Backend.
func (b *backend) Compact(ctx context.Context) error { return b.db.Compact(ctx) }

// Close implements audit.Backend.
func (b *backend) Close() error { return b.db.Close() }

// A tx implements audit.Tx.
type tx struct {
	run    sqldb.Run
	tenant string
	head   audit.Head
	now    time.Time
}

// Now implements audit.Tx.
func (x *tx) Now() time.Time { return x.now }

// Head implements audit.Tx.
func (x *tx) Head(context.Context) (audit.Head, error) { return x.head, nil }

func (x *tx) putHead(h audit.Head) sqldb.Stmt {
	x.head = h
	return sqldb.Exec(sqlPutHead, x.tenant, h.N, h.Hash, h.Trimmed, h.Base)
}

// Append implements audit.Tx.
func (x *tx) Append(ctx context.Context, h audit.Head, names []audit.Name, rows []audit.Row) error {
	named, entries := make([][]any, len(names)), make([][]any, len(rows))
	for i, n := range names {
		named[i] = []any{x.tenant, n.Token, n.User, n.Secret}
	}
	for i, r := range rows {
		entries[i] = []any{
			x.tenant, r.N, r.At.UnixMicro(), r.User, r.Agent, r.Box, r.Verb, flag(r.Write), r.Conversation, r.Items, r.More, r.Result, r.Hash,
		}
	}
	return x.run(ctx,
		sqldb.ExecMany(`insert into hfa_name(tenant, token, name, secret) values ($1, $2, $3, $4)`, named),
		sqldb.ExecMany(`insert into hfa_entry(tenant, `+columns+`) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`, entries),
		x.putHead(h))
}

// Trim implements audit.Tx.
func (x *tx) Trim(ctx context.Context, h audit.Head, upTo int64) error {
	return x.run(ctx,
		sqldb.Exec(`delete from hfa_entry where tenant = $1 and n <= $2`, x.tenant, upTo),
		sqldb.Exec(`delete from hfa_name as x where x.tenant = $1
			and not exists (select 1 from hfa_entry e where e.tenant = x.tenant and e.usr = x.token)`, x.tenant),
		x.putHead(h))
}

// NamesOf implements audit.Tx.
func (x *tx) NamesOf(ctx context.Context, users []string) ([]audit.Name, error) {
	return x.names(ctx, `select token, name, secret from hfa_name where tenant = $1 and name {in $2}`, users)
}

// Names implements audit.Tx.
func (x *tx) Names(ctx context.Context, tokens []string) ([]audit.Name, error) {
	return x.names(ctx, `select token, name, secret from hfa_name where tenant = $1 and token {in $2}`, tokens)
}

func (x *tx) names(ctx context.Context, text string, of []string) (out []audit.Name, err error) {
	err = x.run(ctx, sqldb.Query(text, func(scan func(...any) error) error {
		var n audit.Name
		err := scan(&n.Token, &n.User, &n.Secret)
		out = append(out, n)
		return err
	}, x.tenant, of))
	return out, err
}

// DeleteName implements audit.Tx.
func (x *tx) DeleteName(ctx context.Context, token string) error {
	return x.run(ctx, sqldb.Exec(`delete from hfa_name where tenant = $1 and token = $2`, x.tenant, token))
}

// Erased implements audit.Tx.
func (x *tx) Erased(ctx context.Context, scopes []string) (out []string, err error) {
	err = x.run(ctx, sqldb.Query(`select scope from hfa_erased where tenant = $1 and scope {in $2}`, func(scan func(...any) error) error {
		var s string
		err := scan(&s)
		out = append(out, s)
		return err
	}, x.tenant, scopes))
	return out, err
}

// PutErased implements audit.Tx.
func (x *tx) PutErased(ctx context.Context, scope string, erased bool) error {
	if !erased {
		return x.run(ctx, sqldb.Exec(`delete from hfa_erased where tenant = $1 and scope = $2`, x.tenant, scope))
	}
	return x.run(ctx, sqldb.Exec(`insert into hfa_erased(tenant, scope, at) values ($1, $2, {now}) on conflict (tenant, scope) do nothing`,
		x.tenant, scope))
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
