package graph_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

type hookStore struct {
	checkpoint.Store
	hook func()
}

func (h *hookStore) Chains(ctx context.Context, k checkpoint.Key, b int32) ([]checkpoint.Record, error) {
	h.hook()
	return h.Store.Chains(ctx, k, b)
}

// Escape target renamed between the end of the child and the parent's result.
// An escape goes to a target that was renamed since. // E45 E44
func TestEscapeToARenamedTarget(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("t")
	build := func(to string, bad bool) *graph.App[notes] {
		c := graph.New[notes]("child")
		c.Branch("work", func(context.Context, *notes) (graph.Next, error) { return graph.Escape(to), nil }, graph.End)
		c.Edge(graph.Start, "work")
		g := graph.New[notes]("outer")
		graph.Mount(g, "child", compile(t, c, graph.Options{}), nil, func(s, c *notes) {
			if bad {
				panic("broken")
			}
		}, graph.MountOptions{Targets: []string{to}})
		g.Node(to, logs(to))
		g.Edge(graph.Start, "child")
		if to != "review" {
			g.Alias("review", to)
		}
		return compile(t, g, graph.Options{Store: store})
	}
	if _, err := build("review", true).Run(t.Context(), th, nil); err == nil {
		t.Fatal("no panic")
	}
	out, err := build("check", false).Resume(t.Context(), th)
	if err != nil || strings.Join(out.Log.Slice(), " ") != "check" {
		t.Fatal(out, err)
	}
}

// Two calls under one name at once.
// A drain in a grandchild beside a question in its parent.
// A drain two levels down does not hide a question of the level between. // E27 E30
func TestDrainBesideAQuestionInAChild(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("t")
	var app *graph.App[notes]
	var asked atomic.Bool
	inner := chain(t, "inner", graph.Options{}, func(ctx context.Context, s *notes) error {
		for !asked.Load() {
			time.Sleep(time.Millisecond)
		}
		if err := app.Drain(ctx, th, "why"); err != nil {
			return err
		}
		for !graph.Draining(ctx) {
			time.Sleep(time.Millisecond)
		}
		return nil
	}, logs("b"))
	m := graph.New[notes]("mid")
	graph.Mount(m, "inner", inner, nil, nil)
	m.Node("q", func(ctx context.Context, s *notes) error { defer asked.Store(true); return asking("q")(ctx, s) })
	m.Edge(graph.Start, "inner")
	m.Edge(graph.Start, "q")
	app = outer(t, compile(t, m, graph.Options{}), graph.Options{Store: store})
	_, err := app.Run(t.Context(), th, nil)
	wantErr(t, err, graph.ErrDrained)
	qs, err := store.Questions(t.Context(), checkpoint.QuestionFilter{})
	if err != nil || len(qs) != 1 {
		t.Errorf("questions %v %v", qs, err)
	}
	_, err = app.Resume(t.Context(), th)
	in := paused(t, err)
	_, err = app.Resume(t.Context(), th, graph.Answer(in.Questions[0], "x"))
	if err != nil {
		t.Fatal(err)
	}
}

// Effects of a child per thread, reused by a fork.
// Effects of children, of each memory, are reused by a fork from any entry. // E42 E23
func TestEffectsOfChildrenReused(t *testing.T) {
	t.Parallel()
	for _, mem := range []graph.Memory{graph.PerCall, graph.PerThread} {
		store, th := new(checkpoint.Memory), graph.ID("t")
		var n atomic.Int32
		child := chain(t, "child", graph.Options{}, func(ctx context.Context, s *notes) error {
			_, err := graph.Once(ctx, "pay", func(context.Context, string) (int, error) { return int(n.Add(1)), nil })
			return err
		}, logs("x"))
		app := outer(t, outer(t, child, graph.Options{}, graph.MountOptions{Memory: mem}), graph.Options{Store: store}, graph.MountOptions{Memory: mem})
		for range 2 {
			if _, err := app.Run(t.Context(), th, nil); err != nil {
				t.Fatal(err)
			}
		}
		main := graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}
		es := entries(t, app, th)
		for _, e := range es {
			if len(e.Next) == 0 {
				continue
			}
			before := n.Load()
			to, err := app.Fork(t.Context(), main, e.Pos, graph.ForkOptions{Effects: graph.Reuse})
			if err != nil {
				t.Fatal(err)
			}
			_, err = app.Resume(t.Context(), to)
			if err != nil || n.Load() != before {
				t.Errorf("%s entry %d next %v: effect ran again: %v", mem, e.Pos, e.Next, err)
			}
		}
	}
}
