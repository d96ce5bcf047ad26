package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/jackc/pgx/v5"
)

// tables have a tenant in each row.
var tables = [...]string{"hf_cache", "hf_thread", "hf_record", "hf_branch", "hf_run", "hf_meta", "hf_question", "hf_inbox"}

// threadTables have a thread, too.
var threadTables = tables[1:]

// setRowSecurity wakes or silences the policies of the tables. Under force they bind their owner too.
func setRowSecurity(ctx context.Context, conn *pgx.Conn, o Options) error {
	action := "disable row level security, no force row level security"
	if o.RowSecurity {
		action = "enable row level security, force row level security"
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlLock, int32(lockClass), o.Schema); err != nil {
			return err
		}
		for _, t := range tables {
			if _, err := tx.Exec(ctx, "alter table "+pgx.Identifier{o.Schema, t}.Sanitize()+" "+action); err != nil {
				return err
			}
		}
		return nil
	})
}

const sqlRole = `select r.rolname, r.rolsuper, r.rolbypassrls,
		count(*) filter (where pg_has_role(r.oid, c.relowner, 'MEMBER')) > 0,
		count(*) filter (where c.relrowsecurity and c.relforcerowsecurity), count(*) filter (where c.relrowsecurity)
	from pg_roles r, pg_class c join pg_namespace n on n.oid = c.relnamespace
	where r.rolname = current_user and n.nspname = $1 and c.relname = any($2) group by r.oid, r.rolname, r.rolsuper, r.rolbypassrls`

// checkRole refuses a role that row-level security does not bind, and one that it binds unasked.
func (s *Store) checkRole(ctx context.Context, conn *pgx.Conn) error {
	if s.o.RowSecurity {
		if err := upToDate(ctx, conn, s.o.Schema); err != nil {
			return err
		}
	}
	var name string
	var super, bypass, owner bool
	var forced, enabled int
	err := conn.QueryRow(ctx, sqlRole, s.o.Schema, tables[:]).Scan(&name, &super, &bypass, &owner, &forced, &enabled)
	if err != nil {
		return err
	}
	var why []string
	for _, c := range []struct {
		bad bool
		why string
	}{
		{s.o.RowSecurity && super, "role " + name + " is a superuser"},
		{s.o.RowSecurity && bypass, "role " + name + " has BYPASSRLS"},
		{s.o.RowSecurity && owner && !super, "role " + name + " owns the tables, or may act as their owner"},
		{s.o.RowSecurity && forced < len(tables), "it is not switched on: run postgres.Migrate as the owner"},
		{!s.o.RowSecurity && enabled > 0 && !super && !bypass, "it is switched on: set Options.RowSecurity"},
	} {
		if c.bad {
			why = append(why, c.why)
		}
	}
	if len(why) > 0 {
		return fmt.Errorf("%w: %s", ErrRowSecurity, strings.Join(why, "; "))
	}
	return nil
}

// upToDate refuses a schema whose format is not this program's, where it may not migrate.
func upToDate(ctx context.Context, conn *pgx.Conn, schema string) error {
	version, err := versionOf(ctx, conn, schema)
	switch {
	case err != nil:
		return err
	case version > formats:
		return fmt.Errorf("%w: format %d, this program knows %d", checkpoint.ErrNewerFormat, version, formats)
	case version < formats:
		return fmt.Errorf("%w: the tables are not up to date; run postgres.Migrate as the owner", ErrUnsuitable)
	}
	return nil
}
