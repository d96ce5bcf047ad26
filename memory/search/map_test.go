package search_test

import (
	"maps"
	"testing"

	"github.com/holdfast-go/holdfast/memory/search"
)

// What is saved after Begin is seen there, and in the Map itself after Commit, or never.
func TestBeginCommit(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	first, second := search.Doc{No: 1, Text: "apple"}, search.Doc{No: 2, Text: "apple pear"}
	add(t, rows, "s", first)
	before := dump(t, rows, "", "apple", "pear")

	tx := rows.Begin()
	add(t, tx, "s", second)
	if err := search.Remove(t.Context(), tx, "s", first); err != nil {
		t.Fatal(err)
	}
	if hits := find(t, tx, "apple", "s"); len(hits) != 1 || hits[0].No != 2 {
		t.Errorf("within: %+v", hits)
	}
	if after := dump(t, rows, "", "apple", "pear"); !maps.Equal(before, after) {
		t.Errorf("before Commit: %v", after)
	}
	inner := tx.Begin()
	if err := search.Remove(t.Context(), inner, "s", second); err != nil {
		t.Fatal(err)
	}
	if hits := find(t, inner, "apple", "s"); len(hits) != 0 {
		t.Errorf("within the inner one: %+v", hits)
	}
	if left, err := inner.Load(t.Context(), []search.Key{{Shelf: "s"}, {Shelf: "s", Term: "apple"}}); err != nil || len(left) != 0 {
		t.Errorf("within the inner one: %v (%v)", left, err)
	}
	within := dump(t, tx, "", "apple", "pear")
	tx.Commit()
	if after := dump(t, rows, "", "apple", "pear"); !maps.Equal(within, after) {
		t.Errorf("after Commit: %v, want %v", after, within)
	}
}
