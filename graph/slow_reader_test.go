package graph_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// E47: durable events that a slow reader has missed are read from the log also when the run, which writes at its exit, has not
// written them yet: reading them writes them first.
func TestSlowReaderAheadOfTheLog(t *testing.T) {
	t.Parallel()
	const steps, rest = 700, 600 // more than a reader can hold twice over is told before the rest
	resting, wake := make(chan struct{}), make(chan struct{})
	store := faultstore.New(new(checkpoint.Memory))
	store.After = func(c *faultstore.Call) error {
		if c.Name == "Read" && c.Nth == 1 {
			close(wake) // the reader has looked for what it missed
		}
		return c.Err
	}
	g := graph.New[notes]("g")
	g.Branch("a", func(_ context.Context, s *notes) (graph.Next, error) {
		s.Total.Add(1)
		switch s.Total.Get() {
		case rest:
			close(resting)
			<-wake
		case steps:
			return graph.To(graph.End), nil
		}
		return graph.To("a"), nil
	}, "a", graph.End)
	g.Edge(graph.Start, "a")
	app := compile(t, g, graph.Options{Store: store, Durability: graph.AtExit})
	got := 0
	for ev, err := range app.With(graph.RunOptions{Kinds: []graph.EventKind{graph.EntryCommitted}}).Stream(t.Context(), graph.ID("1"), nil) {
		switch {
		case err != nil:
			t.Fatal(err)
		case ev.Kind == graph.EventsDropped:
			t.Fatalf("%d to %d are gone", ev.From, ev.To)
		case got == 0:
			<-resting
		}
		got++
	}
	if got != steps {
		t.Fatalf("%d of %d entries", got, steps)
	}
}
