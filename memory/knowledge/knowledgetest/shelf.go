package knowledgetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// EmptyShelves fails unless a back end names those shelves alone that have something in them. The store is over the same rows.
func EmptyShelves(t *testing.T, b knowledge.Backend, s *knowledge.Store) {
	t.Helper()
	tenant := "tenant-" + uuid.NewString()
	readable := func() (names []string) {
		t.Helper()
		err := b.View(t.Context(), tenant, func(tx knowledge.Tx) (err error) {
			names, err = tx.Readable(t.Context(), []string{"staff"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	var docs []knowledge.Document
	for i := range 5 {
		docs = append(docs, doc(fmt.Sprint(i), "A zebra.", "staff", fmt.Sprint("team", i)))
	}
	step := func(err error, want int) {
		t.Helper()
		if got := readable(); err != nil || len(got) != want || !slices.IsSorted(got) {
			t.Fatalf("shelves %q, want %d; %v", got, want, err)
		}
	}
	step(s.Index(t.Context(), tenant, docs...), 5)
	step(s.Withdraw(t.Context(), tenant, "0", "1"), 3)
	docs[2].Version, docs[2].Roles = "2", docs[3].Roles
	step(s.Index(t.Context(), tenant, docs[2]), 2)
	step(s.Index(t.Context(), tenant, docs[0]), 3)
	step(s.Withdraw(t.Context(), tenant, "0", "2", "3", "4"), 0)
}
