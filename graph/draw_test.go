package graph_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/holdfast-go/holdfast/graph"
)

var update = flag.Bool("update", false, "rewrite the golden pictures")

// E15
func TestPictures(t *testing.T) {
	t.Parallel()
	app := compile(t, everyShape(), graph.Options{})
	nested := outer(t, outer(t, chain(t, "inner", graph.Options{}, nop, nop), graph.Options{}), graph.Options{}, graph.MountOptions{Targets: []string{"review"}})
	for file, got := range map[string]string{
		"testdata/shapes.mmd": app.Mermaid(), "testdata/shapes.dot": app.DOT(), "testdata/nested.mmd": nested.Mermaid(), "testdata/nested.dot": nested.DOT(),
	} {
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs (go test ./graph -run TestPictures -update):\n%s", file, got)
		}
	}
	if app.Mermaid() != compile(t, everyShape(), graph.Options{}).Mermaid() || app.View().Mermaid() != app.Mermaid() {
		t.Error("the same graph has two pictures")
	}
}

// everyShape has every way to connect nodes, and a name that needs quoting.
func everyShape() *graph.Graph[notes] {
	g := graph.New[notes]("every \"shape\"")
	g.Branch("triage", to("search"), "search", graph.End)
	g.Node("search", nop)
	grading := graph.Each(g, "grade", func(context.Context, *notes, string) error { return nil })
	g.Node("left", nop)
	g.Node("right", nop)
	g.Node("both \"sides\"", nop)
	g.Node("mend", nop)
	g.Node("last", nop)
	g.Edge(graph.Start, "triage")
	g.Route("search", func(context.Context, *notes) (graph.Next, error) { return grading.SendOr("left"), nil }, "search", "grade", "left")
	g.Edge("grade", "left")
	g.Edge("grade", "right")
	g.Join([]string{"left", "right"}, "both \"sides\"")
	g.Edge("both \"sides\"", graph.End)
	g.Edge("triage", "last")
	g.Handle("search", heal, "mend")
	g.Policy("last", graph.Policy{Deferred: true})
	return g
}
