package sqlite

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/sqlitedb"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/internal/rows"
	"github.com/holdfast-go/holdfast/memory/search"
)

// Options of a store. The zero value is ready for production.
type Options struct {
	Knowledge   knowledge.Options // search and limits
	Readers     int               // connections for reading; default 4
	BusyTimeout time.Duration     // how long Open waits for another process; default 10 s. Calls wait until they end
}

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens the database at path and makes it if it is not there, readable only by its owner. A database of an older release is brought up to
// date; one of a newer release is knowledge.ErrNewerFormat; a file that is no database, or one of another program, is knowledge.ErrCorrupt. Both are
// left as they are.
func Open(path string, o Options) (*knowledge.Store, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	db, err := sqlitedb.Open(path, sqldb.Box{Prefix: "hfk_", Migrations: files, Errors: rows.Errors}, sqlitedb.Options{
		Readers: o.Readers, BusyTimeout: o.BusyTimeout, Wipe: true,
	})
	if err != nil {
		return nil, err
	}
	s, err := knowledge.New(rows.New(database{db}), o.Knowledge)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// A database keeps vectors in the rows of the index.
type database struct{ *sqlitedb.DB }

// After implements rows.DB.
func (database) After(context.Context) {}

// Vectors implements rows.DB.
func (database) Vectors(_ sqldb.Run, _ string, own search.Rows, now time.Time) rows.Vectors {
	return vectors{own, now}
}

type vectors struct {
	rows search.Rows
	now  time.Time
}

// PutVectors implements knowledge.Tx.
func (v vectors) PutVectors(ctx context.Context, shelf, space string, vs map[uint32][]float32) error {
	return search.SaveVectors(ctx, v.rows, shelf, space, vs)
}

// Nearest implements knowledge.Tx.
func (v vectors) Nearest(ctx context.Context, shelves []string, space string, q []float32, limit int) ([]search.Hit, error) {
	return search.Nearest(ctx, v.rows, shelves, space, q, v.now, limit)
}

// EraseVectors implements rows.Vectors: the index has them all.
func (vectors) EraseVectors(context.Context) error { return nil }
