package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

func nop(context.Context, *notes) error { return nil }

func to(targets ...string) func(context.Context, *notes) (graph.Next, error) {
	return func(context.Context, *notes) (graph.Next, error) { return graph.To(targets...), nil }
}

// E11, E12: one builder mistake a row.
func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want  string
		build func(g *graph.Graph[notes])
	}{
		{"node a is there twice", func(g *graph.Graph[notes]) { g.Node("a", nop) }},
		{"a node has no name", func(g *graph.Graph[notes]) { g.Node("", nop) }},
		{`"__end__": the name is reserved`, func(g *graph.Graph[notes]) { g.Node(graph.End, nop) }},
		{`"__start__": the name is reserved`, func(g *graph.Graph[notes]) { g.Node(graph.Start, nop) }},
		{`"*": the name is reserved`, func(g *graph.Graph[notes]) { g.Node(graph.All, nop) }},
		{"control characters", func(g *graph.Graph[notes]) { g.Node("a\x00", nop) }},
		{"valid UTF-8", func(g *graph.Graph[notes]) { g.Node("\xff", nop) }},
		{"at most 128 bytes", func(g *graph.Graph[notes]) { g.Node(strings.Repeat("x", 129), nop) }},
		{"node x has no function", func(g *graph.Graph[notes]) { g.Node("x", nil) }},
		{"node x has no function", func(g *graph.Graph[notes]) { g.Branch("x", nil, graph.End) }},
		{"node x has no function", func(g *graph.Graph[notes]) { graph.Each[notes, int](g, "x", nil) }},
		{"branch x declares no targets", func(g *graph.Graph[notes]) { g.Branch("x", to(graph.End)) }},
		{`edge a -> b: there is no node "b"`, func(g *graph.Graph[notes]) { g.Edge("a", "b") }},
		{`edge b -> a: there is no node "b"`, func(g *graph.Graph[notes]) { g.Edge("b", "a") }},
		{`edge __end__ -> a: there is no node`, func(g *graph.Graph[notes]) { g.Edge(graph.End, "a") }},
		{`edge a -> __start__: there is no node`, func(g *graph.Graph[notes]) { g.Edge("a", graph.Start) }},
		{"edge a -> s: node s takes an argument of type int", func(g *graph.Graph[notes]) { each(g, "s"); g.Edge("a", "s") }},
		{"join a + c -> s: node s takes an argument", func(g *graph.Graph[notes]) { each(g, "s"); g.Join([]string{"a", "c"}, "s") }},
		{`join a + b -> c: there is no node "b"`, func(g *graph.Graph[notes]) { g.Join([]string{"a", "b"}, "c") }},
		{`join a + c -> b: there is no node "b"`, func(g *graph.Graph[notes]) { g.Join([]string{"a", "c"}, "b") }},
		{"a cannot be a source here", func(g *graph.Graph[notes]) { g.Join([]string{"a", "a"}, "c") }},
		{"__start__ cannot be a source here", func(g *graph.Graph[notes]) { g.Join([]string{"a", graph.Start}, "c") }},
		{"needs at least two sources", func(g *graph.Graph[notes]) { g.Join([]string{"a"}, "c") }},
		{`route of a: there is no node "b"`, func(g *graph.Graph[notes]) { g.Route("a", to("b"), "b") }},
		{`route of b: there is no node "b"`, func(g *graph.Graph[notes]) { g.Route("b", to("a"), "a") }},
		{"route of a has no function", func(g *graph.Graph[notes]) { g.Route("a", nil, "c") }},
		{"route of a declares no targets", func(g *graph.Graph[notes]) { g.Route("a", to("c")) }},
		{`handler: there is no node "b"`, func(g *graph.Graph[notes]) { g.Handle("b", heal) }},
		{`handler of a: there is no node "b"`, func(g *graph.Graph[notes]) { g.Handle("a", heal, "b") }},
		{"node a has two handlers", func(g *graph.Graph[notes]) { g.Handle("a", heal); g.Handle("a", heal) }},
		{"handler of a has no function", func(g *graph.Graph[notes]) { g.Handle("a", nil) }},
		{`policy: there is no node "b"`, func(g *graph.Graph[notes]) { g.Policy("b", graph.Policy{}) }},
		{"policy of a: a policy has no negative numbers", func(g *graph.Graph[notes]) { g.Policy("a", graph.Policy{Timeout: -1}) }},
		{"takes an argument and cannot be deferred", func(g *graph.Graph[notes]) { each(g, "s"); g.Policy("s", graph.Policy{Deferred: true}) }},
		{`alias "x" -> "y"`, func(g *graph.Graph[notes]) { g.Alias("x", "y") }},
		{`alias "c" -> "a"`, func(g *graph.Graph[notes]) { g.Alias("c", "a") }},
		{"node lost is unreachable", func(g *graph.Graph[notes]) { g.Node("lost", nop) }},
		{"node x: argument", func(g *graph.Graph[notes]) {
			graph.Each(g, "x", func(context.Context, *notes, func()) error { return nil })
		}},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			g := pair()
			c.build(g)
			if _, err := g.Compile(graph.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

// pair is a graph a -> c that compiles.
func pair() *graph.Graph[notes] {
	g := graph.New[notes]("pair")
	g.Node("a", nop)
	g.Node("c", nop)
	g.Edge(graph.Start, "a")
	g.Edge("a", "c")
	return g
}

func heal(context.Context, *notes, error) (graph.Next, error) { return graph.Next{}, nil }

// each adds a node of an int, and a route to it.
func each(g *graph.Graph[notes], name string) graph.Sender[int] {
	s := graph.Each(g, name, func(context.Context, *notes, int) error { return nil })
	g.Route("c", func(context.Context, *notes) (graph.Next, error) { return s.Send(1), nil }, name)
	return s
}

// E11: mistakes of every kind come in one error, and always in the same order.
func TestCompileReportsAllAtOnce(t *testing.T) {
	t.Parallel()
	build := func() string {
		g := graph.New[struct{ hidden int }]("")
		g.Node("", nil)
		g.Edge("x", "y")
		for i := range 8 {
			g.Policy(fmt.Sprint("p", i), graph.Policy{})
			g.Alias(fmt.Sprint("o", i), "nowhere")
		}
		_, err := g.Compile(graph.Options{BreakBefore: []string{"b"}, BreakAfter: []string{"d"}, MaxConcurrency: -1, Durability: "never", Policy: graph.Policy{Attempts: -1}})
		return fmt.Sprint(err)
	}
	text := build()
	for _, want := range []string{
		"a graph needs a name", "a node has no name", "has no function", `no node "x"`, `no node "y"`, "no entry", "hidden", `breakpoint: there is no node "b"`,
		`breakpoint: there is no node "d"`, "no negative numbers", `unknown durability "never"`, `policy: there is no node "p7"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for range 20 {
		if again := build(); again != text {
			t.Fatalf("the order depends on chance:\n%s\n---\n%s", text, again)
		}
	}
}

// E11: a compiled graph is not touched by its builder, nor by its options.
func TestCompiledGraphIsImmutable(t *testing.T) {
	t.Parallel()
	g := pair()
	targets := []string{"a", graph.End}
	loops := 0
	g.Route("c", func(context.Context, *notes) (graph.Next, error) {
		if loops++; loops == 2 {
			return graph.To(graph.End), nil
		}
		return graph.To("a"), nil
	}, targets...)
	breaks := []string{"nothing"}[:0]
	breaks = append(breaks, "c")
	app := compile(t, g, graph.Options{BreakBefore: breaks})
	picture := app.Mermaid()
	targets[0], breaks[0] = graph.End, "a"
	g.Node("d", nop)
	g.Edge("a", "d")
	g.Edge("d", "c")
	g.Join([]string{"a", "c"}, "d")
	g.Handle(graph.All, heal)
	g.Policy("a", graph.Policy{Timeout: time.Nanosecond})
	g.Version(9)
	if app.Mermaid() != picture {
		t.Fatal("the picture has changed")
	}
	_, err := app.Run(t.Context(), graph.ID("1"), nil)
	if in := paused(t, err); len(in.Breaks) != 1 || in.Breaks[0] != "c" {
		t.Fatalf("breaks %v", in.Breaks)
	}
	if other := compile(t, g, graph.Options{}); other.Mermaid() == picture {
		t.Fatal("the builder goes on")
	}
}

// E11, report 146: no data of a run is on the compiled graph.
func TestManyRunsOfOneApp(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("many")
	grade := graph.Each(g, "grade", func(_ context.Context, s *notes, n int) error {
		s.Log.Append(fmt.Sprint(s.Value.Get(), n))
		return nil
	})
	g.Node("a", nop)
	g.Route("a", func(_ context.Context, s *notes) (graph.Next, error) { return grade.Send(1, 2, 3), nil }, "grade")
	g.Edge(graph.Start, "a")
	app := compile(t, g, graph.Options{})
	done := make(chan error, 200)
	for i := range 200 {
		go func() {
			mark := fmt.Sprintf("m%d-", i)
			s, err := app.Run(context.Background(), graph.ID("x"), func(s *notes) { s.Value.Set(mark) })
			if err == nil && strings.Join(s.Log.Slice(), ",") != mark+"1,"+mark+"2,"+mark+"3" {
				err = fmt.Errorf("run %d has %v", i, s.Log.Slice())
			}
			done <- err
		}()
	}
	for range 200 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

type (
	badKind    struct{ Name string }
	badPointer struct{ *notes }
	badNoTag   struct{ Log state.List[string] }
	Named      struct {
		A state.Last[int] `json:"x"`
	}
	badTwice struct {
		Named
		B state.Last[int] `json:"x"`
	}
	badFunc struct {
		F state.Last[func()] `json:"f"`
	}
	badChan struct {
		C state.List[chan int] `json:"c"`
	}
	badAny struct {
		A state.Last[any] `json:"a"`
	}
	badCtx struct {
		C state.Last[context.Context] `json:"c"`
	}
	badHidden struct {
		H state.Last[struct{ secret int }] `json:"h"`
	}
	badSkipped struct {
		S state.Last[struct {
			A int `json:"-"`
		}] `json:"s"`
	}
)

// E1, E10, report 117: what cannot be state is refused by Compile, with the field named.
func TestCompileRefusesStates(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"Name": compileOf[badKind](), "notes": compileOf[badPointer](), "Log": compileOf[badNoTag](), "x": compileOf[badTwice](), "F": compileOf[badFunc](),
		"C": compileOf[badChan](), "A": compileOf[badAny](), "Context": compileOf[badCtx](), "secret": compileOf[badHidden](), "S": compileOf[badSkipped](),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error that names %s, got %v", name, err)
		}
	}
}

func compileOf[S any]() error {
	g := graph.New[S]("bad")
	g.Node("a", func(context.Context, *S) error { return nil })
	g.Edge(graph.Start, "a")
	_, err := g.Compile(graph.Options{})
	return err
}
