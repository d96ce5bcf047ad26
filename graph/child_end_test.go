package graph_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// Goexit and panic in nodes of a child at depth 2, parallel.
// A panic and an exit of the goroutine in a node two levels down fail that node alone. // E21 E44
func TestPanicsInsideChildren(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"exit", "panic"} {
		var n atomic.Int32
		c := graph.New[notes]("inner")
		c.Node("x", logs("x"))
		c.Node("y", func(context.Context, *notes) error {
			if n.Add(1) == 1 {
				if how == "exit" {
					runtime.Goexit()
				}
				panic("p")
			}
			return nil
		})
		c.Edge(graph.Start, "x")
		c.Edge(graph.Start, "y")
		app := outer(t, outer(t, compile(t, c, graph.Options{}), graph.Options{}), graph.Options{Store: new(checkpoint.Memory)})
		_, err := app.Run(t.Context(), graph.ID("t"), nil)
		if err == nil || !strings.Contains(err.Error(), "node y") {
			t.Fatal(err)
		}
		out, err := app.Resume(t.Context(), graph.ID("t"))
		if err != nil || strings.Join(out.Log.Slice(), " ") != "before before x after after" {
			t.Fatal(out, err)
		}
	}
}

// A child asks while a sibling of its parent works; the answer cannot come before the pause. Expired question inside with a handler on the mount.
// A question of a child that expires fails it, and the handler of its node has the word. // E35 E20
func TestExpiredQuestionOfAChild(t *testing.T) {
	t.Parallel()
	var clock handClock
	store, th := &checkpoint.Memory{Now: clock.now}, graph.ID("t")
	child := chain(t, "child", graph.Options{}, logs("x"), func(ctx context.Context, s *notes) error {
		_, err := graph.Ask[string](ctx, "q", "?", graph.AskOptions[string]{Within: time.Minute})
		return err
	})
	for _, mem := range []graph.Memory{graph.PerCall, graph.PerThread} {
		th.ID = "t" + string(mem)
		g := graph.New[notes]("root")
		graph.Mount(g, "child", child, nil, takesLog, graph.MountOptions{Memory: mem})
		g.Edge(graph.Start, "child")
		g.Handle("child", func(_ context.Context, s *notes, err error) (graph.Next, error) {
			s.Log.Append("late")
			return graph.Next{}, nil
		})
		app := compile(t, g, graph.Options{Store: store})
		_, err := app.Run(t.Context(), th, nil)
		paused(t, err)
		clock.advance(time.Hour)
		rec, err := app.Recover(t.Context())
		if err != nil || len(rec) != 1 || rec[0].Err != nil {
			t.Fatal(rec, err)
		}
		qs, _ := store.Questions(t.Context(), checkpoint.QuestionFilter{})
		if len(qs) != 0 || logOf(t, app, th) != "late" {
			t.Fatal(qs, logOf(t, app, th))
		}
		_, err = app.Run(t.Context(), th, nil)
		in := paused(t, err)
		out, err := app.Resume(t.Context(), th, graph.Answer(in.Questions[0], "y"))
		t.Log(mem, out.Log.Slice(), err)
	}
}

// A cancel while a child works at depth 2, PerThread, then a run.
// After a cancel in a remembered child the thread takes the next input. // E26 E44
func TestCancelInsideARememberedChild(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("t")
	in := make(chan struct{}, 9)
	var n atomic.Int32
	inner := chain(t, "inner", graph.Options{}, logs("x"), func(ctx context.Context, s *notes) error {
		if n.Add(1) == 1 {
			in <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	app := outer(t, outer(t, inner, graph.Options{}, graph.MountOptions{Memory: graph.PerThread}), graph.Options{Store: store}, graph.MountOptions{Memory: graph.PerThread})
	go func() { <-in; app.Cancel(context.Background(), th) }()
	_, err := app.Run(t.Context(), th, nil)
	wantErr(t, err, graph.ErrCancelled)
	for range 2 {
		out, err := app.Run(t.Context(), th, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(out.Log.Slice())
	}
}

// K: the copy's child is not run at all.
// A copy of a thread that goes on meanwhile is one moment of it, children included. // E46 E44
func TestCopyIsOneMoment(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	var ran atomic.Int32
	build := func(s checkpoint.Store) *graph.App[notes] {
		g := graph.New[notes]("root")
		child := chain(t, "child", graph.Options{}, func(_ context.Context, s *notes) error { ran.Add(1); s.Log.Append("x"); return nil })
		graph.Mount(g, "child", child, nil, nil, graph.MountOptions{Memory: graph.PerThread})
		g.Edge(graph.Start, "child")
		return compile(t, g, graph.Options{Store: s})
	}
	app, th, cp := build(mem), graph.ID("t"), graph.ID("copy")
	if _, err := app.Run(t.Context(), th, nil); err != nil {
		t.Fatal(err)
	}
	other := build(&hookStore{mem, func() { app.Run(context.Background(), th, nil) }})
	if err := other.Copy(t.Context(), th, cp); err != nil {
		t.Fatal(err)
	}
	ran.Store(0)
	if _, err := app.Run(t.Context(), cp, nil); err != nil || ran.Load() != 1 {
		t.Fatalf("the run of the copy ran the child's node %d times: %v", ran.Load(), err)
	}
}
