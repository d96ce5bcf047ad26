package pgdb

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
)

// migrate applies the migrations that are missing in one transaction together with their numbers, so that a process that dies in
// the middle leaves the database as it was.
func (d *DB) migrate(ctx context.Context) error {
	names, err := fs.Glob(d.box.Migrations, "*.sql")
	if err != nil {
		return err
	}
	version, err := d.versionOf(ctx, d.pool)
	if err != nil || version == len(names) {
		return err
	}
	if version > len(names) {
		return fmt.Errorf("%w: format %d, this program knows %d", d.box.Errors.NewerFormat, version, len(names))
	}
	return d.alone(ctx, func(tx pgx.Tx) error {
		// Under the lock: another process may have been faster.
		if version, err = d.versionOf(ctx, tx); err != nil {
			return err
		}
		if err := d.makeSchema(ctx, tx); err != nil {
			return err
		}
		for n := version; n < len(names); n++ {
			if err := d.migrateOnce(ctx, tx, names[n], n+1); err != nil {
				return fmt.Errorf("migration %s: %w", names[n], err)
			}
		}
		return nil
	})
}

// alone runs f in a transaction that no other migration of the box in the schema is beside.
func (d *DB) alone(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, d.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtext($1), hashtext($2))`, "holdfast "+d.box.Prefix, d.schema); err != nil {
			return err
		}
		return f(tx)
	})
}

func (d *DB) migrateOnce(ctx context.Context, tx pgx.Tx, name string, n int) error {
	text, err := fs.ReadFile(d.box.Migrations, name)
	if err != nil {
		return err
	}
	script := "set local search_path to " + quoted(d.schema) + ";\n" + string(text)
	if _, err := tx.Conn().PgConn().Exec(ctx, script).ReadAll(); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, d.texts.Of(`insert into `+d.box.Prefix+`version(n) values ($1)`), n)
	return err
}

// makeSchema looks first: "if not exists" alone would ask for the right to make schemas. Another box may be making it too.
func (d *DB) makeSchema(ctx context.Context, tx pgx.Tx) error {
	var there bool
	err := tx.QueryRow(ctx, `select exists(select 1 from pg_namespace where nspname = $1)`, d.schema).Scan(&there)
	if err == nil && !there {
		_, err = tx.Exec(ctx, "create schema if not exists "+quoted(d.schema))
	}
	return err
}

// versionOf is the number of the last migration of the schema, or 0 if there is none.
func (d *DB) versionOf(ctx context.Context, q queryer) (n int, err error) {
	there, err := d.hasTable(ctx, q, "version")
	if err != nil || !there {
		return 0, err
	}
	err = q.QueryRow(ctx, d.texts.Of(`select coalesce(max(n), 0) from `+d.box.Prefix+`version`)).Scan(&n)
	return n, err
}

// hasTable reports whether the schema has a table of the box, named without its prefix.
func (d *DB) hasTable(ctx context.Context, q queryer, name string) (there bool, err error) {
	err = q.QueryRow(ctx, `select exists (select 1 from pg_class c join pg_namespace s on s.oid = c.relnamespace
		where s.nspname = $1 and c.relname = $2)`, d.schema, d.box.Prefix+name).Scan(&there)
	return there, err
}

type queryer interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
