package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/session/internal/rows"
)

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
	if o.Readers < 0 || o.BusyTimeout < 0 {
		return nil, fmt.Errorf("%w: a limit is negative", session.ErrOptions)
	}
	o.Readers, o.BusyTimeout = cmp.Or(o.Readers, 4), cmp.Or(o.BusyTimeout, 10*time.Second)
	db, err := open(path, o)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	s, err := session.New(rows.New(db), o.Session)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// A database has one connection that writes: a second one of the same process would only wait for it.
type database struct{ writer, readers *sql.DB }

func open(path string, o Options) (*database, error) {
	if path == "" || strings.HasPrefix(path, ":memory:") || strings.HasPrefix(path, "file:") {
		return nil, fmt.Errorf("%q is not the path of a file", path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// SQLite gives the files beside it the mode of this one.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	db := &database{}
	if db.writer, err = connect(path, 1, "_txlock=immediate", "_pragma=synchronous(full)"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.BusyTimeout)
	defer cancel()
	if err := db.prepare(ctx); err != nil {
		return nil, errors.Join(err, db.writer.Close())
	}
	if db.readers, err = connect(path, o.Readers, "_txlock=deferred", "_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, db.writer.Close())
	}
	return db, nil
}

// connect opens a pool. Calls wait for other processes by themselves: SQLite would sleep up to 100 ms between two tries, and
// would not look at the context.
func connect(path string, conns int, settings ...string) (*sql.DB, error) {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/...
	}
	settings = append(settings, "_pragma=busy_timeout(0)")
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: p, RawQuery: strings.Join(settings, "&")}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// Read implements rows.DB.
func (d *database) Read(ctx context.Context, f func(rows.Run) error) error {
	return within(ctx, d.readers, f)
}

// Write implements rows.DB.
func (d *database) Write(ctx context.Context, f func(rows.Run) error) error {
	return within(ctx, d.writer, f)
}

// Remove implements rows.DB: a writer is alone with the file.
func (d *database) Remove(ctx context.Context, f func(rows.Run) error) error { return d.Write(ctx, f) }

// Close implements rows.DB. The writer goes last and folds the log into the file.
func (d *database) Close() error { return errors.Join(d.readers.Close(), d.writer.Close()) }

// within runs f in a transaction, again where another process was in its way before it had written anything.
func within(ctx context.Context, db *sql.DB, f func(rows.Run) error) error {
	return patiently(ctx, func() error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return failure(err)
		}
		defer tx.Rollback() // does nothing after a commit
		if err := f(runner{tx}.run); err != nil {
			return err
		}
		return failure(tx.Commit())
	})
}

// A runner runs statements in a transaction.
type runner struct{ tx *sql.Tx }

func (r runner) run(ctx context.Context, stmts ...rows.Stmt) error {
	for _, s := range stmts {
		if err := r.one(ctx, rows.WithClock(s.Text, clock), s); err != nil {
			return failure(err)
		}
	}
	return nil
}

// clock is SQLite's own, which has milliseconds.
const clock = `cast(round(unixepoch('subsec') * 1000) as integer) * 1000`

func (r runner) one(ctx context.Context, text string, s rows.Stmt) error {
	if s.Each == nil {
		_, err := r.tx.ExecContext(ctx, text, s.Args...)
		return err
	}
	found, err := r.tx.QueryContext(ctx, text, s.Args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		if err := s.Each(found.Scan); err != nil {
			return fmt.Errorf("%w: %w", session.ErrCorrupt, err)
		}
	}
	return found.Err()
}
