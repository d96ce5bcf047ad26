package postgres

import (
	"context"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb/pgdb"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// OpenBackend is Open without the store.
func OpenBackend(ctx context.Context, url string, o Options) (longterm.Backend, error) {
	return open(ctx, url, o)
}

// HashOf is the column of a space.
func HashOf(name string) string { return pgdb.HashOf(name) }
