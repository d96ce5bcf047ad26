package graph_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// E13, E40: a run that Start sends straight to End has completed, and every record of it can be read.
func TestStartLeadsToEnd(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("g")
	g.Node("a", nop)
	g.Route(graph.Start, to(graph.End), "a", graph.End)
	store := new(checkpoint.Memory)
	app := compile(t, g, graph.Options{Store: store})
	th := graph.ID("1")
	if s, err := app.Run(t.Context(), th, func(s *notes) { s.Total.Add(3) }); err != nil || s.Total.Get() != 3 {
		t.Fatal(err)
	}
	recs, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key(th)}, To: -1})
	if err != nil || len(recs) == 0 {
		t.Fatal(err)
	}
	for _, r := range recs {
		if len(r.Body) < 2 || r.Body[len(r.Body)-1] != '}' {
			t.Errorf("record %c has the body %q", r.Kind, r.Body)
		}
	}
	if st, err := app.State(t.Context(), th); err != nil || st.Status != checkpoint.Completed || st.State.Total.Get() != 3 {
		t.Fatalf("%v: %+v", err, st)
	}
}
