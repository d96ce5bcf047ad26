package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// countTo is a graph of one node that runs n times.
func countTo(n int) *graph.Graph[notes] {
	g := graph.New[notes]("counter")
	g.Branch("count", func(ctx context.Context, s *notes) (graph.Next, error) {
		s.Total.Add(1)
		s.Log.Append(fmt.Sprint(graph.StepsLeft(ctx)))
		if s.Total.Get() >= n || s.Value.Get() == "early" && graph.StepsLeft(ctx) == 0 {
			return graph.To(graph.End), nil
		}
		return graph.To("count"), nil
	}, "count", graph.End)
	g.Edge(graph.Start, "count")
	return g
}

// E22, report 218, report 219: n allowed steps run, the next one is ErrStepLimit, ending exactly there is a success, and the
// thread goes on.
func TestStepLimit(t *testing.T) {
	t.Parallel()
	for _, store := range []checkpoint.Store{nil, new(checkpoint.Memory)} {
		for _, c := range []struct {
			steps, limit, ran int
			err               error
		}{{5, 4, 4, graph.ErrStepLimit}, {5, 5, 5, nil}, {5, 6, 5, nil}, {1, 1, 1, nil}} {
			app := compile(t, countTo(c.steps), graph.Options{Store: store, StepLimit: c.limit})
			th := graph.ID(fmt.Sprint(c.limit, c.steps))
			s, err := app.Run(t.Context(), th, nil)
			if !errors.Is(err, c.err) || s.Total.Get() != c.ran {
				t.Fatalf("%+v: ran %d, %v", c, s.Total.Get(), err)
			}
			if store == nil || c.err == nil {
				continue
			}
			if _, err := app.Run(t.Context(), th, nil); !errors.Is(err, graph.ErrBusy) {
				t.Fatalf("a new input on an unfinished thread: %v", err)
			}
			if s, err = app.Resume(t.Context(), th); err != nil || s.Total.Get() != c.steps {
				t.Fatalf("resumed: ran %d, %v", s.Total.Get(), err)
			}
		}
	}
	app := compile(t, countTo(1000), graph.Options{})
	if s, err := app.Run(t.Context(), graph.ID("default"), nil); err != nil || s.Total.Get() != 1000 {
		t.Fatalf("the default allows 1000: %v", err)
	}
	if _, err := compile(t, countTo(1001), graph.Options{}).Run(t.Context(), graph.ID("default"), nil); !errors.Is(err, graph.ErrStepLimit) {
		t.Fatal(err)
	}
	s, err := app.With(graph.RunOptions{StepLimit: 3}).Run(t.Context(), graph.ID("early"), func(s *notes) { s.Value.Set("early") })
	if err != nil || strings.Join(s.Log.Slice(), " ") != "2 1 0" {
		t.Fatalf("StepsLeft was %v, %v", s.Log.Slice(), err)
	}
	if _, err := app.With(graph.RunOptions{StepLimit: -1}).Run(t.Context(), graph.ID("x"), nil); err == nil {
		t.Fatal("a negative limit")
	}
}

// E20: a handler takes the node's place, with its edges, routes and joins, unless it says where to go.
func TestHandlers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		handle     func(*graph.Graph[notes])
		fails      bool
	}{
		{"edges, routes and joins fire", "mended edge route join", func(g *graph.Graph[notes]) { g.Handle("bad", mend(), "other") }, false},
		{"for every node", "mended edge route join", func(g *graph.Graph[notes]) { g.Handle(graph.All, mend(), "other") }, false},
		{"own before all", "mended edge route join", func(g *graph.Graph[notes]) { g.Handle(graph.All, heal, "other"); g.Handle("bad", mend()) }, false},
		{"a target redirects", "mended other", func(g *graph.Graph[notes]) { g.Handle("bad", mend("other"), "other") }, false},
		{"End ends the path", "mended", func(g *graph.Graph[notes]) { g.Handle("bad", mend(graph.End), graph.End, "other") }, false},
		{"undeclared", "", func(g *graph.Graph[notes]) { g.Handle("bad", mend("other")) }, true},
		{"another node's", "", func(g *graph.Graph[notes]) { g.Handle("good", mend()) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := graph.New[notes]("handle")
			g.Node("bad", func(_ context.Context, s *notes) error { s.Log.Append("lost"); return errBoom })
			g.Node("good", nop)
			for _, n := range []string{"edge", "route", "join", "other"} {
				g.Node(n, say(n))
			}
			g.Edge(graph.Start, "bad")
			g.Edge(graph.Start, "good")
			g.Edge("bad", "edge")
			g.Route("bad", to("route"), "route", "other")
			g.Join([]string{"bad", "good"}, "join")
			c.handle(g)
			s, err := compile(t, g, graph.Options{Store: new(checkpoint.Memory)}).Run(t.Context(), graph.ID("1"), nil)
			got := s.Log.Slice()
			slices.SortFunc(got, func(a, b string) int { return strings.Index(c.want, a) - strings.Index(c.want, b) })
			if (err != nil) != c.fails || strings.Join(got, " ") != c.want {
				t.Fatalf("%v, %v", got, err)
			}
		})
	}
}

func mend(targets ...string) func(context.Context, *notes, error) (graph.Next, error) {
	return func(_ context.Context, s *notes, cause error) (graph.Next, error) {
		if !errors.Is(cause, errBoom) {
			return graph.Next{}, cause
		}
		s.Log.Append("mended")
		return graph.To(targets...), nil
	}
}

// E20, report 38: once the handler has the word, that is durable: after a crash the handler runs, not the node.
func TestHandlerAfterACrash(t *testing.T) {
	t.Parallel()
	inner := new(checkpoint.Memory)
	store := faultstore.New(inner)
	store.At("Append", 2, faultstore.CrashBefore) // the marker is the first, the entry the second
	nodes, handlers := 0, 0
	g := graph.New[notes]("crash")
	g.Node("bad", func(context.Context, *notes) error { nodes++; return errBoom })
	g.Edge(graph.Start, "bad")
	g.Handle("bad", func(_ context.Context, s *notes, cause error) (graph.Next, error) {
		handlers++
		s.Value.Set(cause.Error())
		return graph.Next{}, nil
	})
	if _, err := compile(t, g, graph.Options{Store: store, StorePatience: 20 * time.Millisecond}).Run(t.Context(), graph.ID("1"), nil); !errors.Is(err, checkpoint.ErrUnavailable) {
		t.Fatal(err)
	}
	s, err := compile(t, g, graph.Options{Store: inner}).Resume(t.Context(), graph.ID("1"))
	if err != nil || nodes != 1 || handlers != 2 || s.Value.Get() != "boom" {
		t.Fatalf("node %d times, handler %d times, %v", nodes, handlers, err)
	}
}

// E20, E26: questions and the end of the run's context never reach a handler.
func TestHandlerIsNotForControlFlow(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	g := graph.New[notes]("control")
	g.Node("ask", func(ctx context.Context, _ *notes) error {
		_, err := graph.Ask[bool](ctx, "q", "?")
		return fmt.Errorf("wrapped: %w", err)
	})
	g.Node("stop", func(ctx context.Context, _ *notes) error { cancel(); <-ctx.Done(); return ctx.Err() })
	g.Route(graph.Start, func(_ context.Context, s *notes) (graph.Next, error) { return graph.To(s.Value.Get()), nil }, "ask", "stop")
	g.Handle(graph.All, func(context.Context, *notes, error) (graph.Next, error) {
		t.Error("the handler ran")
		return graph.Next{}, nil
	})
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	_, err := app.Run(ctx, graph.ID("1"), func(s *notes) { s.Value.Set("ask") })
	paused(t, err)
	_, err = app.Run(ctx, graph.ID("2"), func(s *notes) { s.Value.Set("stop") })
	wantErr(t, err, context.Canceled)
}

type callerKey struct{}

// E28: facts and values of the context reach nodes, routes and handlers, on every path, and are never stored.
func TestContextReachesEverything(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 20)
	look := func(ctx context.Context, where string) {
		i, ok := graph.Info(ctx)
		seen <- fmt.Sprint(where, " ", ctx.Value(callerKey{}), " ", ok, " ", i.Thread.ID, " ", i.Node, " ", i.Step, " ", i.By, " ", i.Graph, " ", i.Run != "" && i.Task != "" && i.Key != "")
	}
	g := graph.New[notes]("facts")
	g.Node("node", func(ctx context.Context, _ *notes) error { look(ctx, "node"); return errBoom })
	send := graph.Each(g, "each", func(ctx context.Context, _ *notes, n int) error { look(ctx, "each"); return nil })
	g.Route("node", func(ctx context.Context, _ *notes) (graph.Next, error) { look(ctx, "route"); return send.Send(1), nil }, "each")
	g.Route(graph.Start, func(ctx context.Context, _ *notes) (graph.Next, error) {
		if ctx.Value(callerKey{}) != "mine" {
			t.Error("the start route lacks the caller's values")
		}
		return graph.To("node"), nil
	}, "node")
	g.Handle("node", func(ctx context.Context, _ *notes, _ error) (graph.Next, error) {
		look(ctx, "handler")
		return graph.Next{}, nil
	})
	g.Policy("each", graph.Policy{Timeout: 1 << 50})
	store := new(checkpoint.Memory)
	ctx := context.WithValue(t.Context(), callerKey{}, "mine")
	if _, err := compile(t, g, graph.Options{Store: store}).With(graph.RunOptions{By: "ann"}).Run(ctx, graph.ID("th"), nil); err != nil {
		t.Fatal(err)
	}
	close(seen)
	want := []string{
		"node mine true th node 1 ann facts true", "handler mine true th node 1 ann facts true", "route mine true th node 1 ann facts true",
		"each mine true th each 2 ann facts true",
	}
	var got []string
	for s := range seen {
		got = append(got, s)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("saw %q", got)
	}
	l, err := store.Load(t.Context(), checkpoint.Key{Tenant: graph.SingleTenant, Thread: "th"}, checkpoint.Active, "")
	for _, r := range l.Records {
		if err != nil || strings.Contains(string(r.Body), "mine") {
			t.Errorf("a value of the context is in the log: %s", r.Body)
		}
	}
	if _, ok := graph.Info(t.Context()); ok || graph.StepsLeft(t.Context()) != 0 || graph.Draining(t.Context()) || !errors.Is(graph.Heartbeat(t.Context()), graph.ErrNoRun) {
		t.Error("outside of a node there is nothing to know")
	}
}

// E29
func TestWithoutAStore(t *testing.T) {
	t.Parallel()
	app := solo(t, func(ctx context.Context, _ *notes) error {
		_, err := graph.Ask[bool](ctx, "q", "?")
		return err
	}, graph.Policy{}, graph.Options{})
	th := graph.ID("1")
	_, run := app.Run(t.Context(), th, nil)
	_, resume := app.Resume(t.Context(), th)
	_, st := app.State(t.Context(), th)
	_, recovered := app.Recover(t.Context())
	errs := []error{run, resume, st, recovered, app.Cancel(t.Context(), th), app.Serve(t.Context(), graph.ServeOptions{})}
	for _, err := range app.History(t.Context(), th) {
		errs = append(errs, err)
	}
	for _, err := range app.StreamResume(t.Context(), th) {
		errs = append(errs, err)
	}
	for i, err := range errs {
		if !errors.Is(err, graph.ErrNoStore) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
