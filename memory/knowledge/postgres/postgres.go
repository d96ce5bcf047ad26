package postgres

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/pgdb"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/internal/rows"
	"github.com/holdfast-go/holdfast/memory/search"
)

// Options of a store. The zero value is ready for production.
type Options struct {
	Knowledge knowledge.Options // search and limits
	Schema    string            // holds the tables; default "holdfast". Open makes it if it is not there

	// Pooler is for a pooler that gives a connection to each transaction (PgBouncer in transaction mode): no statement is prepared, and nothing is
	// set for a session.
	Pooler bool

	// Exact is how many vectors of what a reader may read are looked at one by one, which finds the nearest for certain; more are searched by index.
	// Default 10,000. Negative: never.
	Exact int
}

// ErrVectors is returned by an Open with an embedder for a database that has no pgvector, or an old one.
var ErrVectors = pgdb.ErrVectors

//go:embed migrations/*.sql
var migrations embed.FS

// Open connects to a database and brings its tables up to date. The url is pgx's: pool_max_conns in it sets the size of the pool.
//
// A schema of a newer release is knowledge.ErrNewerFormat. A server that cannot be reached is knowledge.ErrUnavailable. Where the context has no
// deadline Open gives up after a minute.
func Open(ctx context.Context, url string, o Options) (*knowledge.Store, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	embeds := o.Knowledge.Embedder != nil
	pg, err := pgdb.Open(ctx, url, sqldb.Box{Prefix: "hfk_", Migrations: files, Errors: rows.Errors}, pgdb.Options{
		Schema: o.Schema, Pooler: o.Pooler, Vectors: embeds,
	})
	if err != nil {
		return nil, err
	}
	db := database{pg, &pgdb.Vectors{
		DB: pg, Owner: []string{"tenant"}, Exact: cmp.Or(o.Exact, 10_000), Logger: cmp.Or(o.Knowledge.Logger, slog.Default()),
	}}
	if embeds {
		if err := db.vectors.Prepare(ctx); err != nil {
			return nil, errors.Join(err, pg.Close())
		}
	}
	s, err := knowledge.New(rows.New(db), o.Knowledge)
	if err != nil {
		return nil, errors.Join(err, pg.Close())
	}
	return s, nil
}

// A database keeps vectors in a table of their own.
type database struct {
	*pgdb.DB
	vectors *pgdb.Vectors
}

// After implements rows.DB.
func (d database) After(ctx context.Context) { d.vectors.After(ctx) }

// Vectors implements rows.DB.
func (d database) Vectors(run sqldb.Run, tenant string, _ search.Rows, _ time.Time) rows.Vectors {
	return d.vectors.Of(run, []string{tenant})
}
