package sqlitedb

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strconv"
)

// applicationID marks the files of this module in the header of the database ("HFST"). All boxes and the stores of threads have the
// same, so that one file can hold them all; each keeps its own version.
const applicationID = 0x48465354

// prepare makes the database what this release expects. Nothing is changed before the file is known to be ours.
func (d *DB) prepare(ctx context.Context) error {
	err := d.patiently(ctx, func() error {
		tx, err := d.writer.BeginTx(ctx, nil)
		if err != nil {
			return d.failure(err)
		}
		defer tx.Rollback()
		if err := d.migrate(ctx, tx); err != nil {
			return d.failure(err)
		}
		return d.failure(tx.Commit())
	})
	if err != nil {
		return err
	}
	return d.patiently(ctx, func() error {
		_, err := d.writer.ExecContext(ctx, `pragma journal_mode=wal`)
		return d.failure(err)
	})
}

// migrate applies the migrations that are missing in one transaction together with their numbers, so that a process that dies in
// the middle leaves the database as it was.
func (d *DB) migrate(ctx context.Context, tx *sql.Tx) error {
	version, err := d.recognise(ctx, tx)
	if err != nil {
		return err
	}
	names, err := fs.Glob(d.box.Migrations, "*.sql")
	if err != nil {
		return err
	}
	if version > len(names) {
		return fmt.Errorf("%w: format %d, this program knows %d", d.box.Errors.NewerFormat, version, len(names))
	}
	for i, name := range names[version:] {
		text, err := fs.ReadFile(d.box.Migrations, name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("migration %s: %w", name, err)
		}
		if _, err := tx.ExecContext(ctx, `insert into `+d.box.Prefix+`version(n) values ($1)`, version+i+1); err != nil {
			return err
		}
	}
	return nil
}

// recognise returns the number of the last migration, or an error for a file of another program.
func (d *DB) recognise(ctx context.Context, tx *sql.Tx) (version int, err error) {
	table := d.box.Prefix + "version"
	var tables, ours, app int
	err = tx.QueryRowContext(ctx, `select count(*), count(case name when $1 then 1 end) from sqlite_master`, table).Scan(&tables, &ours)
	if err == nil {
		err = tx.QueryRowContext(ctx, `pragma application_id`).Scan(&app)
	}
	switch {
	case err != nil:
		return 0, err
	case app != applicationID && (app != 0 || tables != 0):
		return 0, fmt.Errorf("%w: the file belongs to another program", d.box.Errors.Corrupt)
	case ours == 1:
		err = tx.QueryRowContext(ctx, `select coalesce(max(n), 0) from `+table).Scan(&version)
		return version, err
	}
	_, err = tx.ExecContext(ctx, `create table `+table+`(n integer not null primary key); pragma application_id=`+strconv.Itoa(applicationID))
	return 0, err
}
