package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/postgres"
	"github.com/jackc/pgx/v5"
)

// R106: an update that waited for another is later than that: otherwise the version that came last would not be the one that binds.
func TestWhoWaitedIsLater(t *testing.T) {
	t.Parallel()
	url, schema := testserver.Postgres(t).URL(), fresh(t)
	b, err := postgres.OpenBackend(t.Context(), url+few, schema)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Update(t.Context(), "t", func(knowledge.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	other, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.Background())
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select 1 from "+schema+".hfk_tenant where tenant = 't' for update"); err != nil {
		t.Fatal(err)
	}
	done, at := make(chan error), time.Time{}
	go func() {
		done <- b.Update(t.Context(), "t", func(tx knowledge.Tx) error { at = tx.Now(); return nil })
	}()
	var waiting int
	var then time.Time
	for waiting == 0 {
		err := tx.QueryRow(t.Context(), "select count(*), clock_timestamp() from pg_stat_activity where wait_event_type = 'Lock' and query like $1",
			fmt.Sprintf("%%%s%%hfk_tenant%%", schema)).Scan(&waiting, &then)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if at.Before(then) {
		t.Errorf("it is of %v; what it waited for had not ended at %v", at, then)
	}
}
