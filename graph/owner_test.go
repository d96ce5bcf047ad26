package graph_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// E39: a thread's owner is set at creation. A run for another owner is refused before anything is written, whatever is to become of a
// thread that is busy, and sees nothing of the thread.
func TestThreadOfAnotherOwner(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("owned")
	g.Node("work", func(ctx context.Context, s *notes) error { return nil })
	g.Edge(graph.Start, "work")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	run := func(owner string, busy graph.BusyPolicy) (*notes, error) {
		return app.With(graph.RunOptions{Owner: owner, OnBusy: busy}).Run(t.Context(), graph.ID("1"), nil)
	}
	if _, err := run("ann", ""); err != nil {
		t.Fatal(err)
	}
	before, err := app.State(t.Context(), graph.ID("1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, busy := range []graph.BusyPolicy{"", graph.Enqueue, graph.Preempt, graph.Rollback} {
		if s, err := run("bob", busy); !errors.Is(err, graph.ErrOwner) || s != nil {
			t.Errorf("%s: %v, and the state %+v", busy, err, s)
		}
	}
	after, err := app.State(t.Context(), graph.ID("1"))
	if err != nil || after.Entry != before.Entry || after.Owner != "ann" {
		t.Errorf("%v: entry %d became %d, the owner is %q", err, before.Entry, after.Entry, after.Owner)
	}
	for _, owner := range []string{"ann", ""} {
		if _, err := run(owner, ""); err != nil {
			t.Errorf("owner %q: %v", owner, err)
		}
	}
}
