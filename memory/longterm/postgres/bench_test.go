package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/longterm/postgres"
	"github.com/jackc/pgx/v5"
)

// BenchmarkSearch is a whole search of one user: 99 of 100 take less than 20 ms over 2,000 facts, 150 ms over 100,000.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{2_000, 100_000} {
		schema := fresh(b)
		back, err := postgres.OpenBackend(b.Context(), testserver.Postgres(b).URL(), postgres.Options{Schema: schema})
		if err != nil {
			b.Fatal(err)
		}
		if err := rowstest.Fill(b.Context(), back, "u", n); err != nil {
			b.Fatal(err)
		}
		analyze(b, schema)
		s, err := longterm.New(back, longterm.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) { rowstest.Bench(b, s, "u") })
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// analyze lets the planner know the tables, which autovacuum does within a minute after they were filled.
func analyze(b *testing.B, schema string) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), testserver.Postgres(b).URL())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(b.Context(), `analyze `+schema+`.hfl_item, `+schema+`.hfl_index`); err != nil {
		b.Fatal(err)
	}
}
