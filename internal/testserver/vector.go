package testserver

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Vector is Postgres, for a test that needs the extension pgvector.
func Vector(tb testing.TB) *PG {
	tb.Helper()
	pg := Postgres(tb)
	ctx := context.Background()
	c, err := pgx.Connect(ctx, pg.URL())
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close(ctx)
	var there bool
	if err := c.QueryRow(ctx, `select exists (select 1 from pg_available_extensions where name = 'vector')`).Scan(&there); err != nil {
		tb.Fatal(err)
	}
	if !there {
		Lacking(tb, "no pgvector: run scripts/pgvector.sh as root on Debian, or install the extension for the Postgres of the tests")
	}
	return pg
}
