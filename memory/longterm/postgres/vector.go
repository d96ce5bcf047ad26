package postgres

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/pgdb"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rows"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A database keeps vectors in a table of their own.
type database struct {
	*pgdb.DB
	vectors *pgdb.Vectors
}

// fresh is the condition that an item has not expired.
const fresh = `not exists (select 1 from hfl_item i where i.tenant = $1 and i.usr = $2 and i.shelf = n.shelf and i.no = n.no
	and i.expires > 0 and i.expires <= $3)`

// Vectors implements rows.DB.
func (d database) Vectors(run sqldb.Run, sc memory.Scope, _ search.Rows, now time.Time) rows.Vectors {
	return d.vectors.Of(run, []string{sc.Tenant(), sc.User()}, sqldb.Micros(now))
}

// After implements rows.DB.
func (d database) After(ctx context.Context, _ bool) error {
	d.vectors.After(ctx)
	return nil
}
