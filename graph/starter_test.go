package graph_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// E28: a node learns who started the run, also when somebody else has resumed it.
func TestWhoStartedTheRun(t *testing.T) {
	t.Parallel()
	var by []string
	g := graph.New[ten]("g")
	g.Node("a", func(ctx context.Context, s *ten) error {
		info, _ := graph.Info(ctx)
		by = append(by, info.By)
		_, err := graph.Ask[bool](ctx, "ok", "ok?")
		return err
	})
	g.Edge(graph.Start, "a")
	app, err := g.Compile(graph.Options{Store: new(checkpoint.Memory)})
	if err != nil {
		t.Fatal(err)
	}
	th := graph.ID("x")
	app.With(graph.RunOptions{By: "ann"}).Run(t.Context(), th, nil)
	if _, err := app.With(graph.RunOptions{By: "bob"}).Resume(t.Context(), th, graph.AnswerOnly(true)); err != nil {
		t.Fatal(err)
	}
	if len(by) != 2 || by[0] != "ann" || by[1] != "ann" {
		t.Fatalf("started by %q", by)
	}
}
