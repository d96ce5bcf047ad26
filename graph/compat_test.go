package graph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// release is one version of a program: names of its nodes, and whether what waits goes on.
type release struct {
	graph, middle, after, each string
	joined                     bool
	open                       bool
	version                    int
	alias                      [][2]string
	argless                    bool
}

var v1 = release{graph: "order", middle: "middle", after: "after", each: "item", joined: true}

// build: Start -> first and middle (which fails until open); first goes to after and sends to item; item and middle join.
func (v release) build() *graph.Graph[notes] {
	g := graph.New[notes](v.graph)
	g.Version(v.version)
	for _, a := range v.alias {
		g.Alias(a[0], a[1])
	}
	var items graph.Sender[int]
	if v.argless {
		g.Node(v.each, say("item"))
	} else {
		items = graph.Each(g, v.each, func(_ context.Context, s *notes, n int) error { s.Log.Append("item"); s.Total.Add(n); return nil })
	}
	g.Branch("first", func(context.Context, *notes) (graph.Next, error) {
		return graph.To(v.after).And(items.Send(7)), nil
	}, v.after, v.each)
	g.Node(v.middle, func(_ context.Context, s *notes) error {
		if !v.open {
			return errBoom
		}
		s.Log.Append("middle")
		return nil
	})
	g.Node(v.after, say("after"))
	g.Node("end", say("end"))
	g.Edge(graph.Start, "first")
	g.Edge(graph.Start, v.middle)
	if v.joined {
		g.Join([]string{v.middle, v.after}, "end")
	} else {
		g.Edge(v.after, "end")
	}
	return g
}

// E45, report 121, report 123: a thread that waits in one release is continued by the next, or refused with the reason and
// untouched; never quietly cut short.
func TestReleases(t *testing.T) {
	t.Parallel()
	change := func(f func(*release)) release {
		v := v1
		v.open = true
		f(&v)
		return v
	}
	for _, c := range []struct {
		name, lacks string
		next        release
	}{
		{"same", "", change(func(*release) {})},
		{"another version", "", change(func(v *release) { v.version = 3 })},
		{"scheduled node is gone", `"middle"`, change(func(v *release) { v.middle = "center" })},
		{"scheduled node has an alias", "", change(func(v *release) { v.middle, v.alias = "center", [][2]string{{"middle", "center"}} })},
		{"target of a result is gone", `"after"`, change(func(v *release) { v.after = "later" })},
		{"target of a result has an alias", "", change(func(v *release) { v.after, v.alias = "later", [][2]string{{"after", "later"}} })},
		{"target of a send is gone", `"item"`, change(func(v *release) { v.each = "line" })},
		{"target of a send has an alias", "", change(func(v *release) { v.each, v.alias = "line", [][2]string{{"item", "line"}} })},
		{"target of a send takes no argument now", `"item"`, change(func(v *release) { v.argless = true })},
		{"all renamed", "", change(func(v *release) {
			v.middle, v.after, v.each = "m2", "a2", "i2"
			v.alias = [][2]string{{"middle", "m2"}, {"after", "a2"}, {"item", "i2"}}
		})},
		{"another graph", `"order"`, change(func(v *release) { v.graph = "refund" })},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := new(checkpoint.Memory)
			_, err := compile(t, v1.build(), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil)
			wantErr(t, err, errBoom)
			before := rows(t, store, "1")
			app := compile(t, c.next.build(), graph.Options{Store: store})
			s, err := app.Resume(t.Context(), graph.ID("1"))
			if c.lacks == "" {
				if err != nil || strings.Join(s.Log.Slice(), " ") != "middle after item end" || s.Total.Get() != 7 {
					t.Fatalf("%v, %v", s.Log.Slice(), err)
				}
				return
			}
			in, ok := errors.AsType[*graph.IncompatibleError](err)
			if !ok || !errors.Is(err, graph.ErrIncompatible) || !strings.Contains(err.Error(), c.lacks) || !strings.Contains(in.Written, "graph order version 0 (") {
				t.Fatalf("got %v", err)
			}
			if rows(t, store, "1") != before {
				t.Fatal("the thread was touched")
			}
			v := v1
			v.open = true
			if s, err := compile(t, v.build(), graph.Options{Store: store}).Resume(t.Context(), graph.ID("1")); err != nil || s.Total.Get() != 7 {
				t.Fatalf("the old release goes on: %v", err)
			}
		})
	}
}

// E45: a join that is half filled survives a rename, and its loss is said.
func TestReleasesWithAHalfFilledJoin(t *testing.T) {
	t.Parallel()
	build := func(a, end string, joined, open bool) *graph.Graph[notes] {
		g := graph.New[notes]("half")
		g.Node(a, say("a"))
		g.Node("b", say("b"))
		g.Node("c", func(_ context.Context, s *notes) error {
			if !open {
				return errBoom
			}
			s.Log.Append("c")
			return nil
		})
		g.Node(end, say("end"))
		g.Edge(graph.Start, a)
		g.Edge(graph.Start, "b")
		g.Edge("b", "c")
		if joined {
			g.Join([]string{a, "c"}, end)
		} else {
			g.Edge("c", end)
		}
		return g
	}
	for _, c := range []struct {
		a, end  string
		joined  bool
		renamed bool
		want    string
	}{
		{"a", "end", true, false, "a b c end"},
		{"a2", "end2", true, true, "a b c end"},
		{"a", "end", false, false, ""},
	} {
		store := new(checkpoint.Memory)
		_, err := compile(t, build("a", "end", true, false), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil)
		wantErr(t, err, errBoom)
		g := build(c.a, c.end, c.joined, true)
		if c.renamed {
			g.Alias("a", "a2")
			g.Alias("end", "end2")
		}
		s, err := compile(t, g, graph.Options{Store: store}).Resume(t.Context(), graph.ID("1"))
		if c.want == "" {
			wantErr(t, err, graph.ErrIncompatible)
		} else if err != nil || strings.Join(s.Log.Slice(), " ") != c.want {
			t.Fatalf("%+v: %v, %v", c, s.Log.Slice(), err)
		}
	}
}

type valueIsNumber struct {
	Log   state.List[string] `json:"log"`
	Value state.Last[int]    `json:"value"`
}

type logIsLast struct {
	Log state.Last[string] `json:"log"`
}

// E45, E9: a field whose kind or type has changed is ErrIncompatible naming it, for every call that needs the state.
func TestReleaseWithAnotherField(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	_, err := compile(t, v1.build(), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), func(s *notes) { s.Value.Set("x"); s.Log.Append("y") })
	wantErr(t, err, errBoom)
	refuses[valueIsNumber](t, store, "value")
	refuses[logIsLast](t, store, "log")
}

func refuses[S any](t *testing.T, store checkpoint.Store, field string) {
	t.Helper()
	g := graph.New[S]("order")
	for _, n := range []string{"first", "middle", "after"} {
		g.Node(n, func(context.Context, *S) error { return nil })
		g.Edge(graph.Start, n)
	}
	graph.Each(g, "item", func(context.Context, *S, int) error { return nil })
	g.Route("first", func(context.Context, *S) (graph.Next, error) { return graph.To(graph.End), nil }, "item", graph.End)
	app := compile(t, g, graph.Options{Store: store})
	_, resume := app.Resume(t.Context(), graph.ID("1"))
	_, run := app.Run(t.Context(), graph.ID("1"), nil)
	_, st := app.State(t.Context(), graph.ID("1"))
	for i, err := range []error{resume, run, st} {
		if !errors.Is(err, graph.ErrIncompatible) || !strings.Contains(err.Error(), field) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// E45: the fingerprint is in each entry and depends on the shape alone.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	of := func(v release) string {
		store := new(checkpoint.Memory)
		app := compile(t, v.build(), graph.Options{Store: store})
		app.Run(t.Context(), graph.ID("1"), nil)
		var text string
		for e, err := range app.History(t.Context(), graph.ID("1")) {
			if err != nil || text != "" && e.Graph != text {
				t.Fatalf("%v, %q and %q", err, text, e.Graph)
			}
			text = e.Graph
		}
		return text
	}
	same := v1
	same.open = true
	if of(v1) != of(same) {
		t.Error("the same shape has two fingerprints")
	}
	seen := map[string]bool{of(v1): true}
	for _, f := range []func(*release){
		func(v *release) { v.version = 1 }, func(v *release) { v.middle = "m" }, func(v *release) { v.joined = false },
		func(v *release) { v.argless = true }, func(v *release) { v.graph = "g" },
	} {
		v := v1
		f(&v)
		if text := of(v); seen[text] {
			t.Errorf("%+v has a fingerprint that was there before: %s", v, text)
		} else {
			seen[text] = true
		}
	}
}

// E45, E26: a thread that this graph cannot continue can still be cancelled, and takes the next input.
func TestCancelAnIncompatibleThread(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	_, err := compile(t, v1.build(), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil)
	wantErr(t, err, errBoom)
	v := v1
	v.middle, v.after, v.open = "m", "a", true
	app := compile(t, v.build(), graph.Options{Store: store})
	if err := app.Cancel(t.Context(), graph.ID("1")); err != nil {
		t.Fatal(err)
	}
	if s, err := app.Run(t.Context(), graph.ID("1"), nil); err != nil || s.Total.Get() != 7 {
		t.Fatalf("%v", err)
	}
}
