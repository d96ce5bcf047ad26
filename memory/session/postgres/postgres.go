package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/pgdb"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/session/internal/rows"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Options of a store. The zero value is ready for production.
type Options struct {
	Session session.Options // fields and limits
	Schema  string          // holds the tables; default "holdfast". Open makes it if it is not there

	// Pooler is for a pooler that gives a connection to each transaction (PgBouncer in transaction mode): no statement is
	// prepared, and nothing is set for a session.
	Pooler bool
}

// Open connects to a database and brings its tables up to date. The url is pgx's: pool_max_conns in it sets the size of the
// pool.
//
// A schema of a newer release is session.ErrNewerFormat. A server that cannot be reached is session.ErrUnavailable. Where the
// context has no deadline Open gives up after a minute.
func Open(ctx context.Context, url string, o Options) (*session.Store, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	box := sqldb.Box{Prefix: "hfs_", Migrations: files, Errors: rows.Errors}
	db, err := pgdb.Open(ctx, url, box, pgdb.Options{Schema: o.Schema, Pooler: o.Pooler})
	if err != nil {
		return nil, err
	}
	s, err := session.New(rows.New(db), o.Session)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}
