package graph_test

import (
	"context"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// E43: a Goto to a node that has finished in the open superstep runs it once more; it is not dropped in silence.
func TestGotoOfAFinishedNode(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("g")
	g.Node("a", say("a"))
	g.Node("b", asking("b"))
	g.Edge(graph.Start, "a")
	g.Edge(graph.Start, "b")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	_, err := app.Run(t.Context(), graph.ID("1"), nil)
	q := paused(t, err).Questions[0]
	s, err := app.Resume(t.Context(), graph.ID("1"), graph.Answer(q, "yes"), graph.Goto(graph.To("a")))
	if err != nil || !slices.Equal(s.Log.Slice(), []string{"a", "a"}) {
		t.Fatalf("%v: %v ran", err, s.Log.Slice())
	}
}

// E17, E43: what a deferred node has finished stays finished when a Goto adds a node beside it and that node fails.
func TestGotoBesideDeferredNodes(t *testing.T) {
	t.Parallel()
	done, broken := 0, true
	g := graph.New[notes]("g")
	g.Node("a", nop)
	g.Node("d1", func(context.Context, *notes) error { done++; return nil })
	g.Node("d2", asking("d2"))
	g.Node("x", func(_ context.Context, s *notes) error {
		if broken {
			return errBoom
		}
		s.Log.Append("x")
		return nil
	})
	g.Edge(graph.Start, "a")
	g.Route("a", to("d1", "d2"), "d1", "d2", "x")
	g.Policy("d1", graph.Policy{Deferred: true})
	g.Policy("d2", graph.Policy{Deferred: true})
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	_, err := app.Run(t.Context(), graph.ID("1"), nil)
	paused(t, err)
	_, err = app.Resume(t.Context(), graph.ID("1"), graph.Goto(graph.To("x")))
	wantErr(t, err, errBoom)
	broken = false
	_, err = app.Resume(t.Context(), graph.ID("1"))
	paused(t, err)
	s, err := app.Resume(t.Context(), graph.ID("1"), graph.AnswerOnly("yes"))
	if err != nil || done != 1 || !slices.Equal(s.Log.Slice(), []string{"x"}) {
		t.Fatalf("%v: the deferred node ran %d times, want once; %v", err, done, s.Log.Slice())
	}
}

// E36, E43: a breakpoint before the node of a Goto does not stop the call that names it.
func TestGotoPassesABreakpoint(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("g")
	g.Node("a", say("a"))
	g.Node("x", say("x"))
	g.Route(graph.Start, to("a"), "a", "x")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory), BreakBefore: []string{graph.All}})
	_, err := app.Run(t.Context(), graph.ID("1"), nil)
	if in := paused(t, err); !slices.Equal(in.Breaks, []string{"a"}) {
		t.Fatalf("breaks %v", in.Breaks)
	}
	s, err := app.Resume(t.Context(), graph.ID("1"), graph.Goto(graph.To("x")))
	if err != nil || !slices.Equal(s.Log.Slice(), []string{"a", "x"}) {
		t.Fatalf("%v: %v ran, want a and x in one superstep", err, s.Log.Slice())
	}
}

// E36, E26: a run whose context ends before its first superstep has not passed the breakpoint before it.
func TestBreakpointIsNotLostWithTheContext(t *testing.T) {
	t.Parallel()
	app := compile(t, inLine("a"), graph.Options{Store: new(checkpoint.Memory), BreakBefore: []string{"a"}})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := app.Run(ctx, graph.ID("1"), func(*notes) { cancel() })
	wantErr(t, err, context.Canceled)
	_, err = app.Resume(t.Context(), graph.ID("1"))
	if in := paused(t, err); !slices.Equal(in.Breaks, []string{"a"}) {
		t.Fatalf("breaks %v", in.Breaks)
	}
	if s, err := app.Resume(t.Context(), graph.ID("1")); err != nil || s.Log.Len() != 1 {
		t.Fatal(err)
	}
}
