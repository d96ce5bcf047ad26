// Package sqlitedb is sqldb over a SQLite file.
package sqlitedb

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
)

// Options of a database.
type Options struct {
	Readers     int           // connections for reading; default 4
	BusyTimeout time.Duration // how long Open waits for another process; default 10 s. Calls wait until they end
	Wipe        bool          // what is deleted is overwritten with zeros
}

// A DB has one connection that writes: a second one of the same process would only wait for it.
type DB struct {
	box             sqldb.Box
	texts           *sqldb.Texts
	writer, readers *sql.DB
	unfolded        atomic.Bool // the log is to be folded into the file at the next write
}

var _ sqldb.DB = (*DB)(nil)

// words are SQLite's. Its own clock has milliseconds. Who writes is alone with the file, and need not lock rows.
var words = sqldb.Words{
	"lock": ``, "skip": ``, "share": `$`, "alone": `$`,
	"now":  `cast(round(unixepoch('subsec') * 1000) as integer) * 1000`,
	"in":   `in (select value from json_each($))`,
	"ints": `in (select value from json_each($))`,
}

// Open opens the database at path, makes it if it is not there, readable only by its owner, and brings it up to date. Other files
// are left as they are.
func Open(path string, box sqldb.Box, o Options) (*DB, error) {
	if o.Readers < 0 || o.BusyTimeout < 0 {
		return nil, fmt.Errorf("%w: a limit is negative", box.Errors.Options)
	}
	o.Readers, o.BusyTimeout = cmp.Or(o.Readers, 4), cmp.Or(o.BusyTimeout, 10*time.Second)
	d, err := open(path, box, o)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	return d, nil
}

func open(path string, box sqldb.Box, o Options) (*DB, error) {
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
	settings := []string{"_txlock=immediate", "_pragma=synchronous(full)"}
	if o.Wipe {
		settings = append(settings, "_pragma=secure_delete(1)")
	}
	d := &DB{
		box:     box,
		texts:   &sqldb.Texts{Words: words, Prefix: box.Prefix},
		writer:  connect(path, 1, settings...),
		readers: connect(path, o.Readers, "_txlock=deferred", "_pragma=query_only(1)"),
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.BusyTimeout)
	defer cancel()
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// connect opens a pool. Calls wait for other processes by themselves: SQLite would sleep up to 100 ms between two tries, and
// would not look at the context.
func connect(path string, conns int, settings ...string) *sql.DB {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/...
	}
	settings = append(settings, "_pragma=busy_timeout(0)")
	db := sql.OpenDB(connector{(&url.URL{Scheme: "file", Path: p, RawQuery: strings.Join(settings, "&")}).String()})
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db
}

// Read implements sqldb.DB.
func (d *DB) Read(ctx context.Context, f func(sqldb.Run) error) error {
	return d.within(ctx, d.readers, f)
}

// Write implements sqldb.DB.
func (d *DB) Write(ctx context.Context, f func(sqldb.Run) error) error {
	err := d.within(ctx, d.writer, f)
	if err == nil && d.unfolded.Load() {
		if err = d.fold(ctx); busy(err) {
			return nil
		}
		d.unfolded.Store(err != nil)
	}
	return err
}

// Remove implements sqldb.DB: a writer is alone with the file.
func (d *DB) Remove(ctx context.Context, f func(sqldb.Run) error) error { return d.Write(ctx, f) }

// Close implements sqldb.DB. The writer goes last and folds the log into the file.
func (d *DB) Close() error { return errors.Join(d.readers.Close(), d.writer.Close()) }

func (d *DB) failure(err error) error { return failure(d.box.Errors, err) }

// within runs f in a transaction, again where another process was in its way before it had written anything.
func (d *DB) within(ctx context.Context, db *sql.DB, f func(sqldb.Run) error) error {
	return d.patiently(ctx, func() error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return d.failure(err)
		}
		defer tx.Rollback() // does nothing after a commit
		if err := f(runner{d, tx}.run); err != nil {
			return err
		}
		return d.failure(tx.Commit())
	})
}

// A runner runs statements in a transaction.
type runner struct {
	d  *DB
	tx *sql.Tx
}

func (r runner) run(ctx context.Context, stmts ...sqldb.Stmt) error {
	for _, s := range stmts {
		text := r.d.texts.Of(s.Text)
		for _, args := range s.Runs() {
			if err := r.one(ctx, text, s.Each, bind(args)); err != nil {
				return r.d.failure(err)
			}
		}
	}
	return nil
}

func (r runner) one(ctx context.Context, text string, each func(scan func(...any) error) error, args []any) error {
	if each == nil {
		_, err := r.tx.ExecContext(ctx, text, args...)
		return err
	}
	found, err := r.tx.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		if err := each(found.Scan); err != nil {
			return fmt.Errorf("%w: %w", r.d.box.Errors.Corrupt, err)
		}
	}
	return found.Err()
}

// bind makes lists JSON, and of no bytes an empty blob instead of NULL.
func bind(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case []string:
			out[i] = list(v)
		case []int64:
			out[i] = list(v)
		case []byte:
			if out[i] = v; v == nil {
				out[i] = []byte{}
			}
		default:
			out[i] = a
		}
	}
	return out
}

func list[T string | int64](values []T) string {
	if len(values) == 0 {
		return "[]"
	}
	doc, _ := json.Marshal(values) // these always can be
	return string(doc)
}

// Fold brings what is in the log into the file and empties the log. Who is reading at that moment is waited for, but not for long: then
// the next write does it.
func (d *DB) Fold(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, foldPatience)
	defer cancel()
	err := d.patiently(short, func() error { return d.fold(ctx) })
	if d.unfolded.Store(err != nil); busy(err) {
		return nil
	}
	return err
}

const foldPatience = 200 * time.Millisecond

// fold is one try. Where somebody is in the way that is an error too.
func (d *DB) fold(ctx context.Context) error {
	var inTheWay, pages, folded int
	err := d.writer.QueryRowContext(ctx, `pragma wal_checkpoint(truncate)`).Scan(&inTheWay, &pages, &folded)
	if err == nil && inTheWay != 0 {
		err = errInTheWay
	}
	return d.failure(err)
}
