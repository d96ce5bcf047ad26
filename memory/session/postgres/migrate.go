package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/jackc/pgx/v5"
)

// migrations are applied in order, all that are missing in one transaction together with their numbers, so that a process that
// dies in the middle leaves the database as it was. A released file is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// lockClass is the first half of the advisory locks that migrations take ("HFSS"); the second is the schema's.
const lockClass = 0x48465353

func (d *database) migrate(ctx context.Context, schema string) error {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	version, err := versionOf(ctx, d.pool, schema)
	if err != nil || version == len(names) {
		return err
	}
	if version > len(names) {
		return fmt.Errorf("%w: format %d, this program knows %d", session.ErrNewerFormat, version, len(names))
	}
	return pgx.BeginTxFunc(ctx, d.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1, hashtext($2))`, int32(lockClass), schema); err != nil {
			return err
		}
		// Under the lock: another process may have been faster.
		if version, err = versionOf(ctx, tx, schema); err != nil {
			return err
		}
		if err := d.makeSchema(ctx, tx, schema); err != nil {
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

func (d *database) migrateOnce(ctx context.Context, tx pgx.Tx, name string, n int) error {
	text, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	script := "set local search_path to " + d.schema + ";\n" + string(text)
	if _, err := tx.Conn().PgConn().Exec(ctx, script).ReadAll(); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into hfs_version(n) values ($1)`, n)
	return err
}

// makeSchema looks first: "if not exists" alone would ask for the right to make schemas. A checkpoint store may be making it too.
func (d *database) makeSchema(ctx context.Context, tx pgx.Tx, schema string) error {
	var there bool
	err := tx.QueryRow(ctx, `select exists(select 1 from pg_namespace where nspname = $1)`, schema).Scan(&there)
	if err == nil && !there {
		_, err = tx.Exec(ctx, "create schema if not exists "+d.schema)
	}
	return err
}

// versionOf is the number of the last migration of the schema, or 0 if there is none.
func versionOf(ctx context.Context, q queryer, schema string) (n int, err error) {
	var there bool
	err = q.QueryRow(ctx, `select exists (select 1 from pg_class c join pg_namespace s on s.oid = c.relnamespace
		where s.nspname = $1 and c.relname = 'hfs_version')`, schema).Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	err = q.QueryRow(ctx, `select coalesce(max(n), 0) from `+pgx.Identifier{schema, "hfs_version"}.Sanitize()).Scan(&n)
	return n, err
}

type queryer interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}
