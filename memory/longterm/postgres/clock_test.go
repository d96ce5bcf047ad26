package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/postgres"
	"github.com/jackc/pgx/v5"
)

// R72: an update that waited for another is later than that: otherwise what supersedes an item would begin before the item did.
func TestWhoWaitedIsLater(t *testing.T) {
	t.Parallel()
	sc, err := memory.NewScope("t", "u")
	if err != nil {
		t.Fatal(err)
	}
	url, schema := testserver.Postgres(t).URL(), fresh(t)
	b, err := postgres.OpenBackend(t.Context(), url+few, postgres.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Update(t.Context(), sc, func(longterm.Tx) error { return nil }); err != nil {
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
	if _, err := tx.Exec(t.Context(), "select 1 from "+schema+".hfl_scope where tenant = 't' for update"); err != nil {
		t.Fatal(err)
	}
	done, at := make(chan error), time.Time{}
	go func() {
		done <- b.Update(t.Context(), sc, func(tx longterm.Tx) error { at = tx.Now(); return nil })
	}()
	var waiting int
	var then time.Time
	for waiting == 0 {
		err := tx.QueryRow(t.Context(), "select count(*), clock_timestamp() from pg_stat_activity where wait_event_type = 'Lock' and query like $1",
			fmt.Sprintf("%%%s%%hfl_scope%%", schema)).Scan(&waiting, &then)
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
