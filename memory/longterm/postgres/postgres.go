package postgres

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/pgdb"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rows"
)

// Options of a store. The zero value is ready for production.
type Options struct {
	Longterm longterm.Options // extraction, search and limits
	Schema   string           // holds the tables; default "holdfast". Open makes it if it is not there

	// Pooler is for a pooler that gives a connection to each transaction (PgBouncer in transaction mode): no statement is
	// prepared, and nothing is set for a session.
	Pooler bool

	// Exact is how many vectors of a user in a space are looked at one by one, which finds the nearest for certain; users with more
	// are searched by index. Default 10,000. Negative: never.
	Exact int
}

// ErrVectors is returned by an Open with an embedder for a database that has no pgvector, or an old one.
var ErrVectors = pgdb.ErrVectors

//go:embed migrations/*.sql
var migrations embed.FS

// Open connects to a database and brings its tables up to date. The url is pgx's: pool_max_conns in it sets the size of the
// pool.
//
// A schema of a newer release is longterm.ErrNewerFormat. A server that cannot be reached is longterm.ErrUnavailable. Where the
// context has no deadline Open gives up after a minute.
func Open(ctx context.Context, url string, o Options) (*longterm.Store, error) {
	b, err := open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	s, err := longterm.New(b, o.Longterm)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return s, nil
}

func open(ctx context.Context, url string, o Options) (longterm.Backend, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	box := sqldb.Box{Prefix: "hfl_", Migrations: files, Errors: rows.Errors}
	embeds := o.Longterm.Embedder != nil
	pg, err := pgdb.Open(ctx, url, box, pgdb.Options{Schema: o.Schema, Pooler: o.Pooler, Vectors: embeds})
	if err != nil {
		return nil, err
	}
	db := database{pg, &pgdb.Vectors{
		DB: pg, Owner: []string{"tenant", "usr"}, Fresh: fresh, Exact: cmp.Or(o.Exact, 10_000), Logger: cmp.Or(o.Longterm.Logger, slog.Default()),
	}}
	if embeds {
		if err := db.vectors.Prepare(ctx); err != nil {
			return nil, errors.Join(err, pg.Close())
		}
	}
	return rows.New(db), nil
}
