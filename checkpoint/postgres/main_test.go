package postgres_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5"
)

// fresh names a schema that no other test uses.
func fresh() string { return "t_" + strings.ToLower(rand.Text()) }

// open opens a store in a schema of its own; the test's end closes it and drops the schema.
func open(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	return openAt(t, testserver.Postgres(t).URL(), o)
}

func openAt(t testing.TB, url string, o postgres.Options) *postgres.Store {
	t.Helper()
	if o.Schema == "" {
		o.Schema = fresh()
		dropAtEnd(t, o.Schema)
	}
	s, err := postgres.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func dropAtEnd(t testing.TB, schema string) {
	pg := testserver.Postgres(t)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), pg.URL())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), "set client_min_messages = warning; drop schema if exists "+schema+" cascade"); err != nil {
			t.Error(err)
		}
	})
}

// connect is a connection of the superuser; the test's end closes it.
func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func mustExec(t testing.TB, conn *pgx.Conn, text string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
		t.Fatalf("%s: %v", text[:min(len(text), 200)], err)
	}
}
