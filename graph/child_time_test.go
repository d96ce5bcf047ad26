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

func logOf(t testing.TB, app *graph.App[notes], th graph.Thread) string {
	t.Helper()
	return strings.Join(stateOf(t, app, th, -1).State.Log.Slice(), " ")
}

// State shows the child graphs of open tasks, as of the entry that is asked for. // E44 // E40
func TestStateShowsChildren(t *testing.T) {
	t.Parallel()
	inner := chain(t, "inner", graph.Options{}, logs("x"), asking("q"))
	app := outer(t, outer(t, inner, graph.Options{}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, amount("v"))
	in := paused(t, err)
	s := stateOf(t, app, th, -1)
	if len(s.Children) != 2 || !slices.Equal(s.Children[1].Path, []string{"child", "child"}) || !s.Next[0].Waiting {
		t.Fatalf("children %+v, next %+v", s.Children, s.Next)
	}
	c, err := graph.ChildState[notes](s.Children[1])
	if err != nil || c.Value.Get() != "v" || c.Log.Len() != 1 {
		t.Fatalf("state of the child: %v, %v", c, err)
	}
	if n := s.Children[1].Next; len(n) != 1 || n[0].Node != "b" || !n[0].Waiting || !strings.Contains(string(s.Children[1].State), `"v"`) {
		t.Fatalf("the child is %+v", s.Children[1])
	}
	for _, e := range entries(t, app, th) {
		if at := stateOf(t, app, th, e.Pos); e.Pos < s.Entry && len(at.Children) > 0 {
			t.Errorf("entry %d shows children that came later: %+v", e.Pos, at.Children)
		}
	}
	if _, err := app.Resume(t.Context(), th, graph.Answer(in.Questions[0], "yes")); err != nil {
		t.Fatal(err)
	}
	if s := stateOf(t, app, th, -1); len(s.Children) != 0 {
		t.Errorf("a thread that has ended shows %+v", s.Children)
	}
	all, err := app.Children(t.Context(), th)
	if err != nil || len(all) != 2 || len(all[1].Next) != 0 {
		t.Errorf("all children: %+v, %v", all, err)
	}
}

// A fork, a copy and an edit take the children of open tasks, and what mounted graphs remember, as they stood at the entry; nothing that
// came later is in the new branch. // E42 // E44 // E46 // report 190
func TestForkAndCopyTakeChildren(t *testing.T) {
	t.Parallel()
	remember := func() *graph.App[notes] {
		g := graph.New[notes]("root")
		graph.Mount(g, "child", chain(t, "child", graph.Options{}, logs("x")), nil, func(s, c *notes) { s.Value.Set(fmt.Sprint(c.Log.Len())) }, graph.MountOptions{Memory: graph.PerThread})
		g.Edge(graph.Start, "child")
		return compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	}
	app, th := remember(), graph.ID("t")
	var at []int64
	for range 3 {
		if _, err := app.Run(t.Context(), th, nil); err != nil {
			t.Fatal(err)
		}
		at = append(at, stateOf(t, app, th, -1).Entry)
	}
	for i, entry := range at {
		if _, err := app.Fork(t.Context(), graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}, entry, graph.ForkOptions{}); err != nil {
			t.Fatal(err)
		}
		out, err := app.Run(t.Context(), th, nil)
		if err != nil || out.Value.Get() != fmt.Sprint(i+2) {
			t.Errorf("behind run %d the child remembers %v: %v", i+1, out.Value.Get(), err)
		}
		copied := graph.ID(fmt.Sprint("copy", i))
		if err := app.Copy(t.Context(), th, copied); err != nil {
			t.Fatal(err)
		}
		out, err = app.Run(t.Context(), copied, nil)
		if err != nil || out.Value.Get() != fmt.Sprint(i+3) {
			t.Errorf("the copy remembers %v: %v", out.Value.Get(), err)
		}
	}
	var ran atomic.Int32
	child := chain(t, "child", graph.Options{}, func(_ context.Context, s *notes) error { ran.Add(1); s.Log.Append("x"); return nil }, asking("q"), logs("y"))
	app = outer(t, child, graph.Options{Store: new(checkpoint.Memory)})
	_, err := app.Run(t.Context(), th, nil)
	paused(t, err)
	if err := app.Copy(t.Context(), th, graph.ID("other")); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Edit(t.Context(), th, -1, graph.End, func(s *notes) { s.Value.Set("edited") }); err != nil {
		t.Fatal(err)
	}
	for _, id := range []graph.Thread{th, graph.ID("other")} {
		_, err := app.Resume(t.Context(), id)
		for in, ok := errors.AsType[*graph.Interrupted](err); ok; in, ok = errors.AsType[*graph.Interrupted](err) {
			_, err = app.Resume(t.Context(), id, graph.Answer(in.Questions[0], "yes"))
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := logOf(t, app, id); got != "before x y after" {
			t.Errorf("%s: %s", id, got)
		}
	}
	if n := ran.Load(); n != 1 {
		t.Errorf("the child's first node ran %d times", n)
	}
}

// Going back to a point inside a child runs exactly what comes after it. // report 187 // E42
func TestForkInsideAChild(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{1, 2} {
		var ran []string
		var keys []string
		step := func(name string) func(context.Context, *notes) error {
			return func(ctx context.Context, s *notes) error {
				ran = append(ran, name)
				s.Log.Append(name)
				_, err := graph.Once(ctx, "effect", func(_ context.Context, key string) (string, error) { keys = append(keys, key); return name, nil })
				return err
			}
		}
		child := chain(t, "child", graph.Options{}, step("a"), step("b"), step("c"))
		for range depth - 1 {
			child = outer(t, child, graph.Options{})
		}
		app, th := outer(t, child, graph.Options{Store: new(checkpoint.Memory)}), graph.ID("t")
		if _, err := app.Run(t.Context(), th, nil); err != nil {
			t.Fatal(err)
		}
		want := logOf(t, app, th)
		all, err := app.Children(t.Context(), th)
		if err != nil || len(all) != depth {
			t.Fatalf("children %+v, %v", all, err)
		}
		in, entry := all[depth-1].In, int64(-1)
		for e, err := range app.ChildHistory(t.Context(), th, in) {
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(e.Next, []string{"c"}) {
				entry = e.Pos
			}
		}
		_, err = app.Fork(t.Context(), th, entry, graph.ForkOptions{Child: in})
		if e, ok := errors.AsType[*graph.EffectsError](err); !ok || len(e.Effects) != 1 || !slices.Equal(e.Effects[0].Child, in) {
			t.Fatalf("unsaid effects: %v", err)
		}
		for _, effects := range []graph.Effects{graph.Reuse, graph.Rerun} {
			ran, keys = nil, nil
			to, err := app.Fork(t.Context(), graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}, entry, graph.ForkOptions{Child: in, Effects: effects})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := app.Resume(t.Context(), to); err != nil {
				t.Fatal(err)
			}
			if got := logOf(t, app, to); got != want || strings.Join(ran, "") != "c" || len(keys) != map[graph.Effects]int{graph.Reuse: 0, graph.Rerun: 1}[effects] {
				t.Errorf("depth %d, %s: %q ran, %d effects, log %q", depth, effects, ran, len(keys), got)
			}
		}
	}
}

// Retention removes the records of calls that have ended, and keeps what a mounted graph remembers and what is open. // E46 // E44 // report 206
func TestRetentionOfChildren(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("t")
	g := graph.New[notes]("root")
	graph.Mount(g, "fresh", chain(t, "fresh", graph.Options{}, logs("x")), nil, takesLog)
	graph.Mount(g, "kept", chain(t, "kept", graph.Options{}, func(_ context.Context, s *notes) error { s.Total.Add(1); return nil }, func(ctx context.Context, s *notes) error {
		if s.Total.Get() < 100 {
			return nil
		}
		return asking("q")(ctx, s)
	}), nil, func(s, c *notes) { s.Value.Set(fmt.Sprint(c.Total.Get())) }, graph.MountOptions{Memory: graph.PerThread})
	g.Edge(graph.Start, "fresh")
	g.Edge("fresh", "kept")
	app := compile(t, g, graph.Options{Store: store})
	var err error
	for range 100 {
		if _, err = app.Run(t.Context(), th, nil); err != nil {
			break
		}
	}
	in := paused(t, err)
	before, err := store.Chains(t.Context(), checkpoint.Key{Tenant: th.Tenant, Thread: th.ID}, 0)
	if err != nil || len(before) != 102 {
		t.Fatalf("%d chains, %v", len(before), err)
	}
	if _, err := app.Retain(t.Context(), th, graph.Retention{KeepLast: 1}); err != nil {
		t.Fatal(err)
	}
	after, err := store.Chains(t.Context(), checkpoint.Key{Tenant: th.Tenant, Thread: th.ID}, 0)
	if err != nil || len(after) > 60 {
		t.Fatalf("%d chains are left of %d: %v", len(after), len(before), err)
	}
	out, err := app.Resume(t.Context(), th, graph.Answer(in.Questions[0], "yes"))
	if err != nil || out.Value.Get() != "100" {
		t.Fatalf("%v, %v", out, err)
	}
}
