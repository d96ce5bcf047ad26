package sqlite

import (
	"embed"
	"errors"
	"io/fs"
	"time"

	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/audit/internal/rows"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/sqlitedb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Options of a log. The zero value is ready for production.
type Options struct {
	Audit       audit.Options
	Readers     int           // connections for reading; default 4
	BusyTimeout time.Duration // how long Open waits for another process; default 10 s. Calls wait until they end
}

// Open opens the database at path and makes it if it is not there, readable only by its owner. A database of an older release is brought
// up to date; one of a newer release is audit.ErrNewerFormat; a file that is no database, or one of another program, is
// audit.ErrCorrupt. Both are left as they are.
func Open(path string, o Options) (*audit.Log, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	db, err := sqlitedb.Open(path, sqldb.Box{Prefix: "hfa_", Migrations: files, Errors: rows.Errors}, sqlitedb.Options{
		Readers: o.Readers, BusyTimeout: o.BusyTimeout, Wipe: true,
	})
	if err != nil {
		return nil, err
	}
	l, err := audit.New(rows.New(db), o.Audit)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}
