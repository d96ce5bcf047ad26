package postgres

import (
	"context"
	"io/fs"
	"log/slog"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/pgdb"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/internal/rows"
)

// OpenBackend opens what Open puts a store before, without vectors.
func OpenBackend(ctx context.Context, url, schema string) (knowledge.Backend, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	pg, err := pgdb.Open(ctx, url, sqldb.Box{Prefix: "hfk_", Migrations: files, Errors: rows.Errors}, pgdb.Options{Schema: schema})
	if err != nil {
		return nil, err
	}
	return rows.New(database{pg, &pgdb.Vectors{DB: pg, Owner: []string{"tenant"}, Logger: slog.Default()}}), nil
}
