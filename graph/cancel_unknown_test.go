package graph_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// E45, E26: a thread whose deferred nodes this graph does not have can be cancelled, and takes the next input.
func TestCancelUnknownDeferredNodes(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	g := graph.New[notes]("solo")
	for _, name := range []string{"d1", "d2"} {
		g.Node(name, asking(name))
		g.Edge(graph.Start, name)
		g.Policy(name, graph.Policy{Deferred: true})
	}
	_, err := compile(t, g, graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil)
	paused(t, err)
	app := solo(t, nop, graph.Policy{}, graph.Options{Store: store})
	if err := app.Cancel(t.Context(), graph.ID("1")); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Run(t.Context(), graph.ID("1"), nil); err != nil {
		t.Fatal(err)
	}
}
