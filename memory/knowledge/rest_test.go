package knowledge_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
	"github.com/holdfast-go/holdfast/memory/search"
)

// R106, R113: nothing is left in the rows of a store of a version that was replaced, of a document that was withdrawn, and of vectors that were made anew.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	b := knowledge.MemoryBackend()
	old := over(t, b, "old")
	text := func(version string) knowledge.Document {
		return knowledge.Document{ID: "zebra", Version: version, Text: "# A\n\nThe canary" + version + " sings.\n\n# B\n\nIt sleeps.", Roles: []string{"staff"}}
	}
	var shelves []string // where the rows were, also when nothing is left
	left := func(word string) (rows, chunks int, vectors map[string]int) {
		t.Helper()
		vectors = map[string]int{}
		err := b.View(t.Context(), "t", func(tx knowledge.Tx) error {
			readable, err := tx.Readable(t.Context(), []string{"staff"})
			if err != nil {
				return err
			}
			if len(readable) > 0 {
				shelves = readable
			}
			if err := tx.Scan(t.Context(), shelves, search.Terms(word), func(search.Key, []byte) error { rows++; return nil }); err != nil {
				return err
			}
			var places []search.Place
			for no := range uint32(5000) {
				places = append(places, search.Place{Shelf: shelves[0], No: no})
			}
			all, err := tx.Chunks(t.Context(), places, time.Time{})
			if err != nil {
				return err
			}
			chunks = len(all)
			for _, space := range []string{"old", "new"} {
				v, err := letters{}.EmbedQuery(t.Context(), "canary")
				if err != nil {
					return err
				}
				hits, err := tx.Nearest(t.Context(), shelves, space, v, 100)
				if err != nil {
					return err
				}
				vectors[space] = len(hits)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return rows, chunks, vectors
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	is := func(word string, rows, chunks, oldVectors, newVectors int) {
		t.Helper()
		r, c, v := left(word)
		if got, want := fmt.Sprint(r, c, v["old"], v["new"]), fmt.Sprint(rows, chunks, oldVectors, newVectors); got != want {
			t.Fatalf("rows, chunks, old and new vectors %s, want %s", got, want)
		}
	}
	must(old.Index(t.Context(), "t", text("one")))
	is("canaryone", 1, 2, 2, 0)
	must(old.Index(t.Context(), "t", text("two")))
	is("canaryone", 0, 2, 2, 0)
	next := over(t, b, "new")
	if n, err := next.Embed(t.Context(), "t"); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	is("canarytwo", 1, 2, 0, 2)
	soon := text("three")
	soon.Effective = time.Now().Add(50 * time.Millisecond)
	must(next.Index(t.Context(), "t", soon))
	is("canarytwo", 1, 4, 0, 4)
	for r, _, _ := left("canarytwo"); r > 0; r, _, _ = left("canarytwo") { // whatever comes next tidies up, once the day has come
		must(next.Index(t.Context(), "t", knowledge.Document{ID: "other", Version: time.Now().String(), Text: "An ant.", Roles: []string{"staff"}}))
	}
	is("canarythree", 1, 3, 0, 3)
	must(next.Withdraw(t.Context(), "t", "zebra", "other"))
	is("canarythree", 0, 0, 0, 0)
}

// Sets of roles that have nothing to read any more are not searched, so that a search costs what there is and not what there was.
func TestEmptyShelves(t *testing.T) {
	t.Parallel()
	b := knowledge.MemoryBackend()
	knowledgetest.EmptyShelves(t, b, shared(b)(t, knowledge.Options{}))
}
