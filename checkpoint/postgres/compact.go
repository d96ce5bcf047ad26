package postgres

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var _ checkpoint.Compacter = (*Store)(nil)

// Compact implements checkpoint.Compacter: VACUUM FULL of the tables, and of the server's samples of them where the role owns the
// database. The role must own the tables. The server's log (pg_wal), its replicas and backups keep what was deleted for as long as
// they keep anything.
func (s *Store) Compact(ctx context.Context) error {
	ctx, cancel := within(ctx, 60*s.o.OpTimeout)
	defer cancel()
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	var own bool
	if err := s.pool.QueryRow(ctx, sqlOwn, s.o.Schema, tables[:]).Scan(&own); err != nil {
		return failure(ctx, false, err)
	}
	if !own { // the server would only warn
		return fmt.Errorf("%w: only the owner of the tables can compact them; open the store with that role for it", ErrUnsuitable)
	}
	for _, t := range tables {
		if _, err := s.pool.Exec(ctx, s.sql("vacuum (full, analyze) "+t)); err != nil {
			return failure(ctx, false, err)
		}
	}
	_, err = s.pool.Exec(ctx, "vacuum full pg_catalog.pg_statistic") // without the right to it a warning
	return failure(ctx, false, err)
}

const sqlOwn = `select coalesce(bool_and(pg_has_role(c.relowner, 'USAGE')), false) from pg_class c join pg_namespace n on n.oid = c.relnamespace
	where n.nspname = $1 and c.relname = any($2)`
