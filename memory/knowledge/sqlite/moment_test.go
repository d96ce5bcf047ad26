package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/sqlite"
	"github.com/holdfast-go/holdfast/memory/search"
)

// R106: a view that has its time keeps the chunks of that time, though another process tidies up after a later version before the view reads anything.
func TestViewIsOfItsTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	s := openAt(t, path, knowledge.Options{})
	if err := s.Index(t.Context(), "tenant", document("A zebra has stripes.")); err != nil {
		t.Fatal(err)
	}
	b, err := sqlite.OpenBackend(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	err = b.View(t.Context(), "tenant", func(tx knowledge.Tx) error {
		next := document("A zebra has spots.")
		next.Version, next.Effective = "2", tx.Now().Add(time.Millisecond)
		if err := s.Index(t.Context(), "tenant", next); err != nil {
			return err
		}
		for n := 0; ; n++ { // until the day of the next has come, and whatever is indexed tidies up
			other := document("An ant.")
			other.ID = fmt.Sprint("other", n)
			if err := s.Index(t.Context(), "tenant", other); err != nil {
				return err
			}
			if d, err := s.Document(t.Context(), reader(t), "d"); err != nil || d.Version == "2" && n > 0 {
				if err != nil {
					return err
				}
				break
			}
		}
		last := document("An ant.")
		last.ID = "last"
		if err := s.Index(t.Context(), "tenant", last); err != nil {
			return err
		}
		rows, err := tx.Versions(t.Context(), knowledge.Select{Documents: []string{"d"}, InForce: tx.Now()})
		if err != nil {
			return err
		}
		if len(rows) != 1 || rows[0].Version != "1" || rows[0].Count != 1 {
			t.Fatalf("in force: %+v", rows)
		}
		chunks, err := tx.Chunks(t.Context(), []search.Place{{Shelf: rows[0].Shelf, No: rows[0].First}}, tx.Now())
		if len(chunks) != 1 {
			t.Errorf("%d chunks", len(chunks))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
