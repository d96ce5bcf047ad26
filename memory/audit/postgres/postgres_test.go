package postgres_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/audit/audittest"
	"github.com/holdfast-go/holdfast/memory/audit/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/audit/postgres"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	rowstest.Child(func(place string) (*audit.Log, error) {
		schema, url, _ := strings.Cut(place, " ")
		return postgres.Open(context.Background(), url, postgres.Options{Schema: schema})
	})
	goleak.VerifyTestMain(testserver.Main{M: m})
}

func openAt(t testing.TB, url string, o postgres.Options) *audit.Log {
	t.Helper()
	l, err := postgres.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// few keeps the stores of these tests below the connections of the server.
const few = "&pool_max_conns=3"

// fresh makes a schema that no other test uses, and says where; the test's end drops it.
func fresh(t testing.TB) (url, schema string, db *sql.DB) {
	t.Helper()
	url, schema = testserver.Postgres(t).URL()+few, "t_"+strings.ToLower(rand.Text())
	db, err := sql.Open("pgx", testserver.Postgres(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("drop schema if exists " + schema + " cascade"); err != nil {
			t.Error(err)
		}
		db.Close()
	})
	return url, schema, db
}

func TestLog(t *testing.T) {
	t.Parallel()
	url, schema, _ := fresh(t)
	audittest.Run(t, func(t *testing.T) *audit.Log { return openAt(t, url, postgres.Options{Schema: schema}) })
}

// R112: two logs on one schema, as two machines have, make one chain; also through PgBouncer in transaction mode.
func TestTogether(t *testing.T) {
	t.Parallel()
	url, schema, _ := fresh(t)
	pooled := testserver.PgBouncer(t, testserver.Postgres(t), "postgres", 4)
	audittest.Together(t, openAt(t, url, postgres.Options{Schema: schema}), openAt(t, pooled, postgres.Options{Schema: schema, Pooler: true}))
}

// R112: rows that were deleted, swapped, edited, added, or written anew with hashes are found.
func TestTampering(t *testing.T) {
	t.Parallel()
	url, schema, db := fresh(t)
	rowstest.Tamper(t, openAt(t, url, postgres.Options{Schema: schema}), rowstest.Raw{DB: db, Schema: schema + "."})
}

// R112: a process that is killed while it notes leaves a chain that is whole.
func TestKilled(t *testing.T) {
	t.Parallel()
	url, schema, _ := fresh(t)
	rowstest.Killed(t, schema+" "+url, func(t *testing.T) *audit.Log { return openAt(t, url, postgres.Options{Schema: schema}) })
}

func TestOpen(t *testing.T) {
	t.Parallel()
	url, schema, db := fresh(t)
	if _, err := postgres.Open(t.Context(), url, postgres.Options{Schema: "No Schema"}); !errors.Is(err, audit.ErrOptions) {
		t.Error(err)
	}
	openAt(t, url, postgres.Options{Schema: schema}).Close()
	if _, err := db.Exec(`insert into ` + schema + `.hfa_version(n) values (99)`); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), url, postgres.Options{Schema: schema}); !errors.Is(err, audit.ErrNewerFormat) {
		t.Error(err)
	}
}
