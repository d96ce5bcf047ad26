package graph_test

import (
	"context"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// A gap that is read while the run goes on, and before its entries are written, has all of its durable events. // E47
func TestGapBeforeTheWrite(t *testing.T) {
	t.Parallel()
	const steps, stop = 220, 200
	entered, gate := make(chan struct{}), make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	g := graph.New[notes]("g")
	g.Node("a", func(ctx context.Context, s *notes) error {
		if s.Total.Add(1); s.Total.Get() == stop {
			close(entered)
			<-gate
		}
		return nil
	})
	g.Edge(graph.Start, "a")
	g.Route("a", func(ctx context.Context, s *notes) (graph.Next, error) {
		if s.Total.Get() < steps {
			return graph.To("a"), nil
		}
		return graph.To(graph.End), nil
	}, "a", graph.End)
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory), Durability: graph.AtExit})
	kinds := []graph.EventKind{graph.RunStarted, graph.TaskUpdated, graph.StateValues, graph.EntryCommitted}
	durable, first := 0, true
	for e, err := range app.With(graph.RunOptions{Kinds: kinds}).Stream(t.Context(), graph.ID("t"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if first {
			first = false
			<-entered
		}
		if e.Kind.Durable() {
			durable++
		}
		if e.Kind == graph.EventsDropped {
			t.Errorf("durable events %d to %d are gone", e.From, e.To)
		}
		if e.Kind == graph.EventsDropped || e.Kind == graph.EntryCommitted && e.Step == stop-1 {
			open()
		}
	}
	if durable != 3*steps {
		t.Errorf("%d durable events, want %d", durable, 3*steps)
	}
}

// Leaving the loop stops a node that would never end by itself, before the loop returns. // E48 // report 200
func TestLeavingStopsTheNode(t *testing.T) {
	t.Parallel()
	b := newStuck()
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": b.node}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	for e, err := range app.Stream(t.Context(), th, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == graph.TaskStarted {
			break
		}
	}
	st, err := app.State(t.Context(), th)
	if err != nil || st.Status != checkpoint.Interrupted || st.Reason != "stopped" {
		t.Fatalf("%v %+v", err, st)
	}
	close(b.release)
	if out, err := app.Resume(t.Context(), th); err != nil || out.Log.Len() != 2 {
		t.Fatal(err)
	}
}

// A reader elsewhere who wants only what is in the log is told that events of a child graph are missing, once, and only if one ran
// behind the number it comes with. // E44 // E47
func TestWatchTellsOfChildren(t *testing.T) {
	t.Parallel()
	mem, th := new(checkpoint.Memory), graph.ID("t")
	build := func(store checkpoint.Store) *graph.App[notes] {
		return outer(t, chain(t, "inner", graph.Options{}, logs("x"), logs("y")), graph.Options{Store: store})
	}
	if _, err := build(mem).Run(t.Context(), th, amount("v")); err != nil {
		t.Fatal(err)
	}
	kinds := []graph.EventKind{graph.RunStarted, graph.EntryCommitted, graph.RunCompleted}
	elsewhere := build(mem)
	entry := map[int64]int64{0: 0}
	for step, want := range []bool{true, true, false} { // behind nothing, behind the entry of "before", behind that of the child
		got, err := watch(t, elsewhere, th, graph.WatchOptions{After: entry[int64(step)], Kinds: kinds})
		if err != nil {
			t.Fatal(err)
		}
		dropped := 0
		for _, e := range got {
			switch e.Kind {
			case graph.EventsDropped:
				dropped++
			case graph.EntryCommitted:
				entry[e.Step] = e.Seq
			}
		}
		if dropped > 1 || dropped == 1 != want || got[len(got)-1].Kind != graph.RunCompleted {
			t.Errorf("behind step %d: %v, want a gap: %v", step, kindsOf(got), want)
		}
	}
	got, err := watch(t, elsewhere, th, graph.WatchOptions{Kinds: []graph.EventKind{graph.RunStarted, graph.RunCompleted}})
	if err != nil || len(got) != 2 {
		t.Errorf("a reader of no kind that a child has: %v, %v", kindsOf(got), err)
	}
}
