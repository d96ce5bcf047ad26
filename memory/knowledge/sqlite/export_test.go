package sqlite

import (
	"io/fs"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/sqlitedb"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/internal/rows"
)

// OpenBackend opens what Open puts a store before.
func OpenBackend(path string) (knowledge.Backend, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	db, err := sqlitedb.Open(path, sqldb.Box{Prefix: "hfk_", Migrations: files, Errors: rows.Errors}, sqlitedb.Options{})
	if err != nil {
		return nil, err
	}
	return rows.New(database{db}), nil
}
