package sqlite

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// migrations are applied in order, each in one transaction together with its number, so that a process that dies in the
// middle of one leaves the database as it was. A released file is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks our files in the header of the database ("HFST").
const applicationID = 0x48465354

// openWriterConn opens the connection that writes, after it has made the database what this release expects.
func openWriterConn(ctx context.Context, path string, o Options) (_ *conn, err error) {
	c, err := openConn(dsn(path))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	// Nothing is changed before the file is known to be ours: a foreign database stays as it is.
	if err := patiently(ctx, func() error { return recognise(ctx, c) }); err != nil {
		return nil, err
	}
	for _, p := range writerPragmas(o) {
		if err := patiently(ctx, func() error { return c.query(ctx, p, func(*row) {}) }); err != nil {
			return nil, err
		}
	}
	if err := migrate(ctx, c); err != nil {
		return nil, err
	}
	if o.MaxBytes == 0 {
		return c, nil
	}
	pages := max(o.MaxBytes/4096, 1)
	return c, c.query(ctx, "pragma max_page_count="+strconv.FormatInt(pages, 10), func(*row) {})
}

func writerPragmas(o Options) []string {
	synchronous := "pragma synchronous=full"
	if o.Synchronous == Normal {
		synchronous = "pragma synchronous=normal"
	}
	// The writer waits for other processes by itself, and leaves the WAL to the checkpointer.
	return []string{"pragma journal_mode=wal", synchronous, "pragma busy_timeout=0", "pragma wal_autocheckpoint=0", "pragma cache_size=-8192"}
}

// recognise refuses a file that is not ours or is of a newer release.
func recognise(ctx context.Context, c *conn) error {
	app, version, tables, err := identity(ctx, c)
	if err != nil {
		return err
	}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	switch {
	case err != nil:
		return err
	case app == 0 && version == 0 && tables == 0:
		return nil
	case app != applicationID:
		return fmt.Errorf("%w (%w)", ErrForeign, checkpoint.ErrCorrupt)
	case version > int64(len(names)):
		return fmt.Errorf("%w: format %d, this program knows %d", checkpoint.ErrNewerFormat, version, len(names))
	}
	return nil
}

// identity reads what tells whose file it is, in one transaction: another process may be making it at this moment.
func identity(ctx context.Context, c *conn) (app, version, tables int64, err error) {
	if _, err := c.exec(ctx, sqlBeginRead); err != nil {
		return 0, 0, 0, err
	}
	defer c.exec(bg, sqlRollback)
	// The table of tables first: reading it takes the lock that holds the rest still.
	for _, q := range []struct {
		text string
		to   *int64
	}{{"select count(*) from sqlite_master", &tables}, {"pragma application_id", &app}, {"pragma user_version", &version}} {
		if err := c.query(ctx, q.text, func(r *row) { *q.to = r.int() }); err != nil {
			return 0, 0, 0, err
		}
	}
	return app, version, tables, nil
}

// migrate applies the migrations that the database lacks.
func migrate(ctx context.Context, c *conn) error {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for i, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if err := migrateOnce(ctx, c, int64(i+1), string(text)); err != nil {
			return fmt.Errorf("migration %s: %w", name, err)
		}
	}
	return nil
}

func migrateOnce(ctx context.Context, c *conn, n int64, text string) error {
	if err := patiently(ctx, func() error { _, err := c.exec(ctx, sqlBegin); return err }); err != nil {
		return err
	}
	err := func() error {
		var version int64
		// Read under the lock: another process may have been faster.
		if err := c.query(ctx, "pragma user_version", func(r *row) { version = r.int() }); err != nil || version >= n {
			return err
		}
		script := text + ";\npragma application_id=" + strconv.Itoa(applicationID) + ";\npragma user_version=" + strconv.FormatInt(n, 10) + ";"
		for _, statement := range statements(script) {
			if err := c.query(ctx, statement, func(*row) {}); err != nil {
				return err
			}
		}
		return nil
	}()
	end := sqlCommit
	if err != nil {
		end = sqlRollback
	}
	_, endErr := c.exec(ctx, end)
	return cmp.Or(err, endErr)
}

// statements splits a script of ours: no statement in it contains a semicolon followed by a line end.
func statements(script string) (out []string) {
	for s := range strings.SplitSeq(script, ";\n") {
		if s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), ";")); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// patiently repeats what another process is in the way of, until the context ends.
func patiently(ctx context.Context, f func() error) error {
	for try := 0; ; try++ {
		err := f()
		if !busy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return late(err)
		case <-time.After(pause(try)):
		}
	}
}
