package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/audit/internal/rows"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/pgdb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Options of a log. The zero value is ready for production.
type Options struct {
	Audit  audit.Options
	Schema string // holds the tables; default "holdfast". Open makes it if it is not there

	// Pooler is for a pooler that gives a connection to each transaction (PgBouncer in transaction mode): no statement is
	// prepared, and nothing is set for a session.
	Pooler bool
}

// Open connects to a database and brings its tables up to date. The url is pgx's: pool_max_conns in it sets the size of the pool.
//
// A schema of a newer release is audit.ErrNewerFormat. A server that cannot be reached is audit.ErrUnavailable. Where the context has
// no deadline Open gives up after a minute.
func Open(ctx context.Context, url string, o Options) (*audit.Log, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	box := sqldb.Box{Prefix: "hfa_", Migrations: files, Errors: rows.Errors}
	db, err := pgdb.Open(ctx, url, box, pgdb.Options{Schema: o.Schema, Pooler: o.Pooler})
	if err != nil {
		return nil, err
	}
	l, err := audit.New(rows.New(db), o.Audit)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}
