package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/holdfast-go/holdfast/memory/session"
)

// migrations are applied in order, all that are missing in one transaction together with their number, so that a process that
// dies in the middle leaves the database as it was. A released file is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks the files of this module in the header of the database ("HFST"). Stores of threads have the same, so that
// one file can hold both; each keeps its own version.
const applicationID = 0x48465354

// prepare makes the database what this release expects. Nothing is changed before the file is known to be ours.
func (d *database) prepare(ctx context.Context) error {
	err := patiently(ctx, func() error {
		tx, err := d.writer.BeginTx(ctx, nil)
		if err != nil {
			return failure(err)
		}
		defer tx.Rollback()
		if err := migrate(ctx, tx); err != nil {
			return failure(err)
		}
		return failure(tx.Commit())
	})
	if err != nil {
		return err
	}
	return patiently(ctx, func() error {
		_, err := d.writer.ExecContext(ctx, `pragma journal_mode=wal`)
		return failure(err)
	})
}

func migrate(ctx context.Context, tx *sql.Tx) error {
	version, err := recognise(ctx, tx)
	if err != nil {
		return err
	}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	if version > len(names) {
		return fmt.Errorf("%w: format %d, this program knows %d", session.ErrNewerFormat, version, len(names))
	}
	for i, name := range names[version:] {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("migration %s: %w", name, err)
		}
		if _, err := tx.ExecContext(ctx, `insert into hfs_version(n) values ($1)`, version+i+1); err != nil {
			return err
		}
	}
	return nil
}

// recognise returns the number of the last migration, or an error for a file of another program.
func recognise(ctx context.Context, tx *sql.Tx) (version int, err error) {
	var tables, ours, app int
	err = tx.QueryRowContext(ctx, `select count(*), count(case name when 'hfs_version' then 1 end) from sqlite_master`).Scan(&tables, &ours)
	if err == nil {
		err = tx.QueryRowContext(ctx, `pragma application_id`).Scan(&app)
	}
	switch {
	case err != nil:
		return 0, err
	case app != applicationID && (app != 0 || tables != 0):
		return 0, fmt.Errorf("%w: the file belongs to another program", session.ErrCorrupt)
	case ours == 1:
		err = tx.QueryRowContext(ctx, `select coalesce(max(n), 0) from hfs_version`).Scan(&version)
		return version, err
	}
	_, err = tx.ExecContext(ctx, `create table hfs_version(n integer not null primary key); pragma application_id=`+strconv.Itoa(applicationID))
	return 0, err
}
