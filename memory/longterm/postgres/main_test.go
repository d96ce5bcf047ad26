package postgres_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/longterm/longtermtest"
	"github.com/holdfast-go/holdfast/memory/longterm/postgres"
	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	rowstest.Child(func(place string) (longterm.Backend, error) {
		schema, url, _ := strings.Cut(place, " ")
		return postgres.OpenBackend(context.Background(), url, postgres.Options{Schema: schema})
	})
	goleak.VerifyTestMain(testserver.Main{M: m})
}

// R80, report 132: a process that is killed at any point of the way from an exchange to its facts loses and doubles none.
func TestKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	place, open := worker(t)
	rowstest.Points(t, place, points(), open)
}

// R80: two processes on one user, killed in the middle of writing.
func TestKilledPairs(t *testing.T) {
	t.Parallel()
	place, open := worker(t)
	rowstest.Pairs(t, place, open)
}

func points() int {
	if testing.Short() {
		return 20
	}
	return 40
}

func worker(t *testing.T) (place string, open func(*testing.T) *longterm.Store) {
	schema, url := fresh(t), testserver.Postgres(t).URL()+few
	return schema + " " + url, func(t *testing.T) *longterm.Store {
		return openAt(t, url, postgres.Options{Schema: schema, Longterm: longtermtest.WorkOptions()})
	}
}

// fresh names a schema that no other test uses; the test's end drops it.
func fresh(t testing.TB) string {
	t.Helper()
	schema := "t_" + strings.ToLower(rand.Text())
	pg := testserver.Postgres(t)
	t.Cleanup(func() {
		script(t, pg.URL(), "set client_min_messages = warning; drop schema if exists "+schema+" cascade")
	})
	return schema
}

// script runs statements as the superuser.
func script(t testing.TB, url, text string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.Background())
	if _, err := conn.PgConn().Exec(context.Background(), text).ReadAll(); err != nil {
		t.Error(err)
	}
}

// few keeps the many stores of these tests below the connections of the server.
const few = "&pool_max_conns=4"
