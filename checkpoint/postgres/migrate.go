package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/jackc/pgx/v5"
)

// migrations are applied in order, each in one transaction together with its number, so that a process that dies in the
// middle of one leaves the database as it was. A released file is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// formats is the number of migrations.
const formats = 2

// lockClass is the first half of the advisory locks that migrations take ("HFST"); the second is the schema's.
const lockClass = 0x48465354

const sqlLock = `select pg_advisory_xact_lock($1, hashtext($2))`

// migrate applies the migrations that the schema lacks.
func migrate(ctx context.Context, conn *pgx.Conn, schema string) error {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	if len(names) != formats {
		panic("postgres: formats does not count the migrations")
	}
	version, err := versionOf(ctx, conn, schema)
	if err != nil {
		return err
	}
	if version > len(names) {
		return fmt.Errorf("%w: format %d, this program knows %d", checkpoint.ErrNewerFormat, version, len(names))
	}
	for n := version + 1; n <= len(names); n++ {
		text, err := migrations.ReadFile(names[n-1])
		if err != nil {
			return err
		}
		if err := migrateOnce(ctx, conn, schema, n, string(text)); err != nil {
			return fmt.Errorf("migration %s: %w", names[n-1], err)
		}
	}
	return nil
}

// versionOf is the number of the last migration of the schema, or 0 if there is none.
func versionOf(ctx context.Context, conn queryer, schema string) (n int, err error) {
	// Not to_regclass: it may answer from a cache that does not yet know what another process has just made.
	var there bool
	err = conn.QueryRow(ctx, `select exists (select 1 from pg_class c join pg_namespace s on s.oid = c.relnamespace
		where s.nspname = $1 and c.relname = 'hf_version')`, schema).Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	err = conn.QueryRow(ctx, `select coalesce(max(n), 0) from `+pgx.Identifier{schema, "hf_version"}.Sanitize()).Scan(&n)
	return n, err
}

type queryer interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func migrateOnce(ctx context.Context, conn *pgx.Conn, schema string, n int, text string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlLock, int32(lockClass), schema); err != nil {
			return err
		}
		// Under the lock: another process may have been faster.
		if version, err := versionOf(ctx, tx, schema); err != nil || version >= n {
			return err
		}
		name := pgx.Identifier{schema}.Sanitize()
		// "if not exists" alone would ask for the right to make schemas.
		var there bool
		if err := tx.QueryRow(ctx, `select exists(select 1 from pg_namespace where nspname = $1)`, schema).Scan(&there); err != nil {
			return err
		}
		if !there {
			text = "create schema " + name + ";\nset local search_path to " + name + ";\n" + text
		} else {
			text = "set local search_path to " + name + ";\n" + text
		}
		if _, err := tx.Conn().PgConn().Exec(ctx, text).ReadAll(); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `insert into hf_version(n) values ($1)`, n)
		return err
	})
}
