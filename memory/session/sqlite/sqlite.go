package sqlite

import (
	"embed"
	"errors"
	"io/fs"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/sqlitedb"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/session/internal/rows"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Options of a store. The zero value is ready for production.
type Options struct {
	Session     session.Options // fields and limits
	Readers     int             // connections for reading; default 4
	BusyTimeout time.Duration   // how long Open waits for another process; default 10 s. Calls wait until they end
}

// Open opens the database at path and makes it if it is not there, readable only by its owner. A database of an older
// release is brought up to date; one of a newer release is session.ErrNewerFormat; a file that is no database, or one of
// another program, is session.ErrCorrupt. Both are left as they are.
func Open(path string, o Options) (*session.Store, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	box := sqldb.Box{Prefix: "hfs_", Migrations: files, Errors: rows.Errors}
	db, err := sqlitedb.Open(path, box, sqlitedb.Options{Readers: o.Readers, BusyTimeout: o.BusyTimeout})
	if err != nil {
		return nil, err
	}
	s, err := session.New(rows.New(db), o.Session)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}
