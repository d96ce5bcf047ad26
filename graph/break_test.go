package graph_test

import (
	"context"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// inLine is a graph of nodes one after the other; each notes its name.
func inLine(names ...string) *graph.Graph[notes] {
	g := graph.New[notes]("line")
	last := graph.Start
	for _, name := range names {
		g.Node(name, func(ctx context.Context, s *notes) error { s.Log.Append(name); return nil })
		g.Edge(last, name)
		last = name
	}
	return g
}

// Breakpoints stop before and after named nodes or all, per run or compiled in. They show no question; Resume without
// answers goes on, in another App too. // E36
func TestBreakpoints(t *testing.T) {
	t.Parallel()
	type stop struct {
		at  string // the breakpoint
		ran int    // nodes that ran before it
	}
	for name, c := range map[string]struct {
		compiled graph.Options
		run      graph.RunOptions
		want     []stop
	}{
		"before one, compiled": {graph.Options{BreakBefore: []string{"b"}}, graph.RunOptions{}, []stop{{"b", 1}}},
		"before one, run":      {graph.Options{}, graph.RunOptions{BreakBefore: []string{"b"}}, []stop{{"b", 1}}},
		"before the first":     {graph.Options{BreakBefore: []string{"a"}}, graph.RunOptions{}, []stop{{"a", 0}}},
		"after one":            {graph.Options{BreakAfter: []string{"b"}}, graph.RunOptions{}, []stop{{"b", 2}}},
		"before all":           {graph.Options{BreakBefore: []string{graph.All}}, graph.RunOptions{}, []stop{{"a", 0}, {"b", 1}, {"c", 2}}},
		"after all":            {graph.Options{}, graph.RunOptions{BreakAfter: []string{graph.All}}, []stop{{"a", 1}, {"b", 2}}},
		"both":                 {graph.Options{BreakAfter: []string{"a"}}, graph.RunOptions{BreakBefore: []string{"c"}}, []stop{{"a", 1}, {"c", 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.compiled.Store = new(checkpoint.Memory)
			th := graph.ID("t")
			out, err := compile(t, inLine("a", "b", "c"), c.compiled).With(c.run).Run(t.Context(), th, nil)
			for _, s := range c.want {
				in := paused(t, err)
				if len(in.Breaks) == 0 || in.Breaks[0] != s.at || len(in.Questions) != 0 || out.Log.Len() != s.ran {
					t.Fatalf("breaks %v after %d nodes, want %v", in.Breaks, out.Log.Len(), s)
				}
				other := compile(t, inLine("a", "b", "c"), c.compiled).With(c.run)
				if st, err := other.State(t.Context(), th); err != nil || st.Reason != "breakpoint" || st.Status != checkpoint.Interrupted {
					t.Fatalf("%v %+v", err, st)
				}
				out, err = other.Resume(t.Context(), th)
			}
			if err != nil || !slices.Equal(out.Log.Slice(), []string{"a", "b", "c"}) {
				t.Fatalf("%v %v", err, out.Log.Slice())
			}
		})
	}
}

// A breakpoint that does not exist is refused. // E11 // E36
func TestUnknownBreakpoint(t *testing.T) {
	t.Parallel()
	if _, err := inLine("a").Compile(graph.Options{BreakAfter: []string{"nobody"}}); err == nil {
		t.Error("compiled")
	}
	app := compile(t, inLine("a"), graph.Options{Store: new(checkpoint.Memory)})
	if _, err := app.With(graph.RunOptions{BreakBefore: []string{"nobody"}}).Run(t.Context(), graph.ID("t"), nil); err == nil {
		t.Error("ran")
	}
}
