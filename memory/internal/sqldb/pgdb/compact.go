package pgdb

import (
	"context"
	"fmt"
)

// tablesOf are those of the box, with whether the role may vacuum them.
const sqlTables = `select c.relname::text, pg_has_role(c.relowner, 'USAGE') from pg_class c join pg_namespace s on s.oid = c.relnamespace
	where s.nspname = $1 and c.relkind = 'r' and starts_with(c.relname, $2) order by 1`

// Compact implements sqldb.DB. Deleted rows are in the files of tables until VACUUM, and what is left of them in a page until that is
// written over; VACUUM FULL writes the tables anew. The samples of ANALYZE are replaced by new ones, and the catalog that has them
// is written anew where the role may do so: that of the owner of the database may.
func (d *DB) Compact(ctx context.Context) error {
	tables, err := d.ownTables(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := d.pool.Exec(ctx, `vacuum (full, analyze) `+quoted(d.schema)+`.`+quoted(t)); err != nil {
			return d.failure(ctx, err)
		}
	}
	// Without the right to it this is a warning of the server, and does nothing.
	_, err = d.pool.Exec(ctx, `vacuum full pg_catalog.pg_statistic`)
	return d.failure(ctx, err)
}

func (d *DB) ownTables(ctx context.Context) (names []string, err error) {
	found, err := d.pool.Query(ctx, sqlTables, d.schema, d.box.Prefix)
	if err != nil {
		return nil, d.failure(ctx, err)
	}
	defer found.Close()
	for found.Next() {
		var name string
		var own bool
		if err := found.Scan(&name, &own); err != nil {
			return nil, d.failure(ctx, err)
		}
		if !own {
			return nil, fmt.Errorf("%w: only the owner of the table %s can compact it", d.box.Errors.Options, name)
		}
		names = append(names, name)
	}
	return names, d.failure(ctx, found.Err())
}

// Erased implements sqldb.DB: others wait for the tables, so that a person says when they are written anew.
func (d *DB) Erased(context.Context) error { return nil }
