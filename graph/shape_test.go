package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// say writes the node's own name into the log.
func say(name string) func(context.Context, *notes) error {
	return func(_ context.Context, s *notes) error { s.Log.Append(name); return nil }
}

// E13, E14, E5: what runs, in which order, for every shape.
func TestShapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		want  string
		build func(g *graph.Graph[notes])
	}{
		{"edges", "a b", func(g *graph.Graph[notes]) { g.Edge(graph.Start, "a"); g.Edge("a", "b") }},
		{"an edge twice", "a b", func(g *graph.Graph[notes]) { g.Edge(graph.Start, "a"); g.Edge("a", "b"); g.Edge("a", "b") }},
		{"edge to End", "a", func(g *graph.Graph[notes]) { g.Edge(graph.Start, "a"); g.Edge("a", graph.End) }},
		{"task order is by name", "a b c", func(g *graph.Graph[notes]) {
			g.Edge(graph.Start, "c")
			g.Edge(graph.Start, "a")
			g.Edge(graph.Start, "b")
		}},
		{"start route", "b", func(g *graph.Graph[notes]) { g.Route(graph.Start, to("b"), "a", "b") }},
		{"start to end", "", func(g *graph.Graph[notes]) { g.Route(graph.Start, to(graph.End), "a", graph.End) }},
		{"several routes fire", "a b c", func(g *graph.Graph[notes]) {
			g.Edge(graph.Start, "a")
			g.Route("a", to("b"), "b", "d")
			g.Route("a", to("c"), "c")
		}},
		{"an edge and a route to one node run it once", "a b", func(g *graph.Graph[notes]) {
			g.Edge(graph.Start, "a")
			g.Edge("a", "b")
			g.Route("a", to("b", "b"), "b")
		}},
		{"join waits over supersteps", "a b c d", func(g *graph.Graph[notes]) {
			g.Edge(graph.Start, "a")
			g.Edge(graph.Start, "b")
			g.Edge("b", "c")
			g.Join([]string{"a", "c"}, "d")
		}},
		{"without a join the node runs twice", "a b c d d", func(g *graph.Graph[notes]) {
			g.Edge(graph.Start, "a")
			g.Edge(graph.Start, "b")
			g.Edge("b", "c")
			g.Edge("a", "d")
			g.Edge("c", "d")
		}},
		{"a join that is never full never fires", "a", func(g *graph.Graph[notes]) {
			g.Edge(graph.Start, "a")
			g.Route("a", to(graph.End), "b", graph.End)
			g.Join([]string{"a", "b"}, "c")
		}},
		{"a deferred node runs last", "a b c d z", func(g *graph.Graph[notes]) {
			g.Edge(graph.Start, "a")
			g.Edge("a", "b")
			g.Edge("a", "z")
			g.Edge("b", "c")
			g.Edge("c", "d")
			g.Edge("c", "z")
			g.Policy("z", graph.Policy{Deferred: true})
		}},
		{"deferred nodes run together", "a y z b", func(g *graph.Graph[notes]) {
			g.Edge(graph.Start, "a")
			g.Edge("a", "z")
			g.Edge("a", "y")
			g.Edge("z", "b")
			g.Policy("z", graph.Policy{Deferred: true})
			g.Policy("y", graph.Policy{Deferred: true})
		}},
		{"deferred at once", "z", func(g *graph.Graph[notes]) { g.Edge(graph.Start, "z"); g.Policy("z", graph.Policy{Deferred: true}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, store := range []checkpoint.Store{nil, &checkpoint.Memory{}} {
				g := graph.New[notes]("shape")
				for _, n := range []string{"a", "b", "c", "d", "y", "z"} {
					g.Node(n, say(n))
				}
				c.build(g)
				g.Route(graph.Start, to(graph.End), "a", "b", "c", "d", "y", "z", graph.End) // reaches all
				s, err := compile(t, g, graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil)
				if err != nil || strings.Join(s.Log.Slice(), " ") != c.want {
					t.Fatalf("%v, %v; want %s", s.Log.Slice(), err, c.want)
				}
			}
		})
	}
}

// E14: a goto adds to the static edges; gotos to one node run it once, sends once each.
func TestBranchWithEdgesAndSends(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("goto")
	send := graph.Each(g, "s", func(_ context.Context, s *notes, n int) error {
		s.Log.Append(fmt.Sprint("s", n, s.Value.Get()))
		return nil
	})
	g.Branch("a", func(_ context.Context, s *notes) (graph.Next, error) {
		s.Value.Set("committed")
		return graph.To("x", "x").And(send.Send(2, 1)).And(graph.To("y").And(send.Send(2))), nil
	}, "x", "y", "s")
	g.Branch("b", to("x"), "x")
	for _, n := range []string{"x", "y", "e"} {
		g.Node(n, say(n))
	}
	g.Edge("a", "e")
	g.Edge("s", "last")
	g.Node("last", say("last"))
	g.Edge(graph.Start, "a")
	g.Edge(graph.Start, "b")
	s, err := compile(t, g, graph.Options{}).Run(t.Context(), graph.ID("1"), nil)
	want := []string{"e", "x", "y", "s2committed", "s1committed", "s2committed", "last"}
	if err != nil || !slices.Equal(s.Log.Slice(), want) {
		t.Fatalf("%v, %v", s.Log.Slice(), err)
	}
}

// E13: joins are armed for each run, and again after they fired.
func TestJoinsAreArmedPerRun(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("rearm")
	for _, n := range []string{"a", "b"} {
		g.Node(n, say(n))
	}
	g.Branch("j", func(_ context.Context, s *notes) (graph.Next, error) {
		s.Log.Append("j")
		if s.Log.Len() < 5 {
			return graph.To("a", "b"), nil
		}
		return graph.To(graph.End), nil
	}, "a", "b", graph.End)
	g.Route(graph.Start, func(_ context.Context, s *notes) (graph.Next, error) {
		return graph.To(strings.Fields(s.Value.Get())...), nil
	}, "a", "b")
	g.Join([]string{"a", "b"}, "j")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	for _, c := range []struct{ start, want string }{
		{"a", "a"}, // half filled, and forgotten with its run
		{"b", "a b"},
		{"a b", "a b a b j"},
	} {
		s, err := app.Run(t.Context(), graph.ID("1"), func(s *notes) { s.Value.Set(c.start) })
		if err != nil || strings.Join(s.Log.Slice(), " ") != c.want {
			t.Fatalf("start %s: %v, %v; want %s", c.start, s.Log.Slice(), err, c.want)
		}
	}
	s, err := app.Run(t.Context(), graph.ID("2"), func(s *notes) { s.Value.Set("a b") })
	if err != nil || strings.Join(s.Log.Slice(), " ") != "a b j a b j" {
		t.Fatalf("%v, %v: a join fires again when all have run again", s.Log.Slice(), err)
	}
}

// E12, E16: what routes and branches must not do.
func TestRoutesAreHeldToTheirWord(t *testing.T) {
	t.Parallel()
	other := graph.Each(graph.New[notes]("other"), "foreign", func(context.Context, *notes, int) error { return nil })
	for _, c := range []struct {
		name, want string
		route      func(context.Context, *notes) (graph.Next, error)
	}{
		{"undeclared", "not declared", to("c")},
		{"unknown", "not declared", to("nowhere")},
		{"empty name", "zero Next", to("")},
		{"zero", "zero Next", to()},
		{"no sends", "zero Next", func(context.Context, *notes) (graph.Next, error) { return graph.Sender[int]{}.Send(), nil }},
		{"foreign sender", "not declared", func(context.Context, *notes) (graph.Next, error) { return other.Send(1), nil }},
		{"plain goto to a node with an argument", "send to it", to("s")},
		{"error", "no way", func(context.Context, *notes) (graph.Next, error) { return graph.To("b"), errors.New("no way") }},
		{"zero sender", "panic", func(context.Context, *notes) (graph.Next, error) { return graph.Sender[int]{}.Send(1), nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, branch := range []bool{false, true} {
				g := pair()
				each(g, "s")
				g.Node("b", nop)
				if branch {
					g.Branch("r", c.route, "b", "s")
				} else {
					g.Node("r", nop)
					g.Route("r", c.route, "b", "s")
				}
				g.Edge("a", "r")
				_, err := compile(t, g, graph.Options{}).Run(t.Context(), graph.ID("1"), nil)
				if ne, ok := errors.AsType[*graph.NodeError](err); !ok || ne.Node != "r" || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("branch %t: got %v, want %q", branch, err, c.want)
				}
			}
		})
	}
}

// E16, E10: a route reads what was committed and what its own node wrote, and must not write; the argument of a send obeys E10.
func TestRouteReadsButNeverWrites(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("reads")
	g.Node("a", func(_ context.Context, s *notes) error { s.Total.Add(2); s.Log.Append("a"); return nil })
	g.Node("b", func(_ context.Context, s *notes) error { s.Total.Add(40); return nil })
	g.Node("c", nop)
	seen := make(chan int, 2)
	g.Route("a", func(_ context.Context, s *notes) (graph.Next, error) {
		seen <- s.Total.Get()
		return graph.To("c"), nil
	}, "c")
	g.Route("c", func(_ context.Context, s *notes) (graph.Next, error) {
		s.Log.Append("a route writes")
		return graph.To(graph.End), nil
	}, graph.End)
	g.Edge(graph.Start, "a")
	g.Edge(graph.Start, "b")
	_, err := compile(t, g, graph.Options{}).Run(t.Context(), graph.ID("1"), func(s *notes) { s.Total.Add(100) })
	if re, ok := errors.AsType[*graph.RouteError](err); !ok || re.From != "c" || !strings.Contains(re.Reason, "log") {
		t.Fatalf("got %v", err)
	}
	if n := <-seen; n != 102 {
		t.Fatalf("the route saw %d, want committed 100 and its own node's 2", n)
	}
	g = graph.New[notes]("nan")
	bad := graph.Each(g, "s", func(context.Context, *notes, string) error { return nil })
	g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) { return bad.Send("fine", "\xff"), nil }, "s")
	if _, err := compile(t, g, graph.Options{}).Run(t.Context(), graph.ID("1"), nil); err == nil || !strings.Contains(err.Error(), "send 1 to s") {
		t.Fatalf("got %v", err)
	}
}

// E16: at most MaxConcurrency tasks at a time, and that many.
func TestMaxConcurrency(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	full := make(chan struct{})
	g := graph.New[notes]("bound")
	work := graph.Each(g, "work", func(_ context.Context, _ *notes, i int) error {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == 3 && i < 3 {
			close(full)
		}
		<-full
		now.Add(-1)
		return nil
	})
	g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) { return work.Send(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), nil }, "work")
	if _, err := compile(t, g, graph.Options{MaxConcurrency: 3}).Run(t.Context(), graph.ID("1"), nil); err != nil || most.Load() != 3 {
		t.Fatalf("%v, at most %d at a time", err, most.Load())
	}
}
