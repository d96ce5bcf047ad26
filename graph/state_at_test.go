package graph_test

import (
	"context"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// E40, E56: the state of every entry can be read, also of those that a snapshot stands behind.
func TestStateAtEveryEntry(t *testing.T) {
	t.Parallel()
	const steps = 300
	store := new(checkpoint.Memory)
	app := loop(t, graph.Options{Store: store}, func(_ context.Context, s *ten) error {
		s.C.Append(strings.Repeat("x", 100))
		s.G.Add(1)
		return nil
	})
	th := graph.ID("x")
	app.With(graph.RunOptions{StepLimit: steps}).Run(t.Context(), th, nil)
	recs, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: checkpoint.Key{Tenant: graph.SingleTenant, Thread: "x"}}, To: -1})
	if err != nil {
		t.Fatal(err)
	}
	entries, snapshots := 0, 0
	for _, r := range recs {
		switch r.Kind {
		case checkpoint.KindSnapshot:
			snapshots++
		case checkpoint.KindEntry:
			entries++
			at, err := app.StateAt(t.Context(), th, r.Pos)
			if err != nil {
				t.Fatal(err)
			}
			if at.State.G.Get() != entries || at.State.C.Len() != entries || at.Entry != r.Pos || at.Step != int64(entries) || len(at.Next) != 1 {
				t.Fatalf("entry %d at position %d: %d elements, step %d, next %v", entries, r.Pos, at.State.C.Len(), at.Step, at.Next)
			}
		}
	}
	if entries != steps || snapshots == 0 {
		t.Fatalf("%d entries, %d snapshots", entries, snapshots)
	}
}
