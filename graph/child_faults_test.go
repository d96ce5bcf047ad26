package graph_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// A1: parallel calls: one fails, the node returns at once and is retried; the call left behind commits late.
// Of two calls at once one fails, and the node returns at once and is tried again; the call left behind commits late, and the run does not
// notice. // E44 E19
func TestCallLeftBehindCommitsLate(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var n, slowRuns atomic.Int32
	fail := chain(t, "fail", graph.Options{}, func(context.Context, *notes) error {
		if n.Add(1) == 1 {
			return errors.New("transient")
		}
		return nil
	})
	slow := chain(t, "slow", graph.Options{}, func(ctx context.Context, s *notes) error {
		if slowRuns.Add(1) == 1 {
			<-release
			return nil
		}
		close(release)
		time.Sleep(100 * time.Millisecond) // until the late one would have written, if it could; the test passes without
		return nil
	})
	g := graph.New[notes]("root")
	g.Node("a", func(ctx context.Context, s *notes) error {
		errs := make(chan error, 2)
		go func() { _, err := graph.Call(ctx, "slow", slow, nil); errs <- err }()
		for slowRuns.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		go func() { _, err := graph.Call(ctx, "fail", fail, nil); errs <- err }()
		for range 2 {
			if err := <-errs; err != nil {
				return err
			}
		}
		return nil
	})
	g.Node("b", logs("b"))
	g.Edge(graph.Start, "a")
	g.Edge("a", "b")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory), Policy: graph.Policy{Attempts: 2, Backoff: time.Millisecond, Retry: func(error) bool { return true }}})
	_, err := app.Run(t.Context(), graph.ID("t"), nil)
	if err != nil {
		t.Fatal(err)
	}
}

// A2: as TestChildLeftBehind, but the late node returns nil.
// As TestChildLeftBehind, but the late node returns no error. // E44 E19
func TestChildLeftBehindCommitsLate(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int32
	release := make(chan struct{})
	child := chain(t, "child", graph.Options{Grace: time.Minute}, logs("a"), func(ctx context.Context, s *notes) error {
		if attempts.Add(1) > 1 {
			close(release)
			time.Sleep(100 * time.Millisecond) // until the late one would have written, if it could; the test passes without
			s.Log.Append("b")
			return nil
		}
		<-release
		s.Log.Append("late")
		return nil
	})
	g := graph.New[notes]("outer")
	graph.Mount(g, "child", child, nil, takesLog)
	g.Edge(graph.Start, "child")
	g.Policy("child", graph.Policy{Attempts: 2, IdleTimeout: 300 * time.Millisecond, Grace: time.Millisecond, Backoff: time.Millisecond})
	app, th := compile(t, g, graph.Options{Store: new(checkpoint.Memory)}), graph.ID("t")
	out, err := app.Run(t.Context(), th, nil)
	if err != nil || strings.Join(out.Log.Slice(), " ") != "a b" {
		t.Fatalf("%v, %v", out, err)
	}
}

// B
// Who started the run is the same inside child graphs, whoever resumes. // E28 E44
func TestStarterInsideChildren(t *testing.T) {
	t.Parallel()
	var by []string
	who := func(ctx context.Context, s *notes) error {
		info, _ := graph.Info(ctx)
		by = append(by, info.By)
		return nil
	}
	inner := chain(t, "inner", graph.Options{}, who, asking("q2"), who)
	app := outer(t, chain(t, "mid", graph.Options{}, asking("q1"), func(ctx context.Context, s *notes) error {
		_, err := graph.Call(ctx, "inner", inner, nil)
		return err
	}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.With(graph.RunOptions{By: "ann"}).Run(t.Context(), th, nil)
	paused(t, err)
	_, err = app.With(graph.RunOptions{By: "bob"}).Resume(t.Context(), th, graph.AnswerOnly("x"))
	paused(t, err)
	_, err = app.With(graph.RunOptions{By: "cyd"}).Resume(t.Context(), th, graph.AnswerOnly("x"))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(by) != "[ann ann]" {
		t.Fatalf("started by %q", by)
	}
}

// C1: migration lost when the first attempt cannot begin the child.
// A migration is not lost when the first attempt could not begin the child. // E45 E44
func TestMigrationOfAChildThatCouldNotBegin(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("t")
	g1 := graph.New[childV1]("child")
	g1.Node("n", func(_ context.Context, s *childV1) error { s.Old.Append("x"); return nil })
	g1.Edge(graph.Start, "n")
	if _, err := parent(t, store, "c", compile(t, g1, graph.Options{}), oldLog, graph.PerThread, nil).Run(t.Context(), th, nil); err != nil {
		t.Fatal(err)
	}
	var routed atomic.Int32
	two := func() *graph.App[notes] {
		g := graph.New[childV2]("child")
		g.Version(2)
		g.Node("n", func(_ context.Context, s *childV2) error { s.Log.Append("y"); return nil })
		g.Route(graph.Start, func(context.Context, *childV2) (graph.Next, error) {
			if routed.Add(1) == 1 {
				return graph.Next{}, errors.New("transient")
			}
			return graph.To("n"), nil
		}, "n")
		g.Migrate(0, 2, func(m *graph.Migration) error { m.RenameField("old", "log"); return nil })
		p := graph.New[notes]("parent")
		graph.Mount(p, "c", compile(t, g, graph.Options{}), nil, func(s *notes, c *childV2) { s.Value.Set(strings.Join(c.Log.Slice(), " ")) }, graph.MountOptions{Memory: graph.PerThread})
		p.Edge(graph.Start, "c")
		p.Policy("c", graph.Policy{Attempts: 2, Backoff: time.Millisecond, Retry: func(error) bool { return true }})
		return compile(t, p, graph.Options{Store: store})
	}
	out, err := two().Run(t.Context(), th, nil)
	if err != nil || out.Value.Get() != "x y" {
		t.Fatalf("%v %v", out, err)
	}
	out, err = two().Run(t.Context(), th, nil)
	if err != nil || out.Value.Get() != "x y y" {
		t.Fatalf("the next run: %q %v", out.Value.Get(), err)
	}
}

// C2: settlement lost when the first attempt cannot begin the child.
// Nor is what an abandoned call had finished. // E37 E44
func TestSettlementOfAChildThatCouldNotBegin(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("t")
	var routed atomic.Int32
	build := func() *graph.App[notes] {
		g := graph.New[notes]("child")
		g.Node("a", func(_ context.Context, s *notes) error { s.Log.Append("a"); return nil })
		g.Node("q", asking("q"))
		g.Node("b", func(_ context.Context, s *notes) error { s.Log.Append("b"); return nil })
		g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) {
			switch routed.Add(1) {
			case 1:
				return graph.To("a", "q"), nil
			case 2:
				return graph.Next{}, errors.New("transient")
			}
			return graph.To("b"), nil
		}, "a", "q", "b")
		p := graph.New[notes]("parent")
		graph.Mount(p, "c", compile(t, g, graph.Options{}), nil, func(s, c *notes) { s.Value.Set(strings.Join(c.Log.Slice(), " ")) }, graph.MountOptions{Memory: graph.PerThread})
		p.Edge(graph.Start, "c")
		p.Policy("c", graph.Policy{Attempts: 2, Backoff: time.Millisecond, Retry: func(error) bool { return true }})
		return compile(t, p, graph.Options{Store: store})
	}
	_, err := build().Run(t.Context(), th, nil)
	paused(t, err)
	if err := build().Cancel(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	out, err := build().Run(t.Context(), th, nil)
	if err != nil || out.Value.Get() != "a b" {
		t.Fatalf("%v %v", out, err)
	}
	out, err = build().Run(t.Context(), th, nil)
	if err != nil || out.Value.Get() != "a b b" {
		t.Fatalf("the next run: %q %v", out.Value.Get(), err)
	}
}

// D: a node of a child runs an independent thread that waits.
// A pause of an independent thread, returned by a node of a child, is a failure of the child. // E44 E20
func TestPauseOfAnotherThreadIsAFailure(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	other := chain(t, "other", graph.Options{Store: store}, asking("q"))
	child := chain(t, "child", graph.Options{}, func(ctx context.Context, s *notes) error {
		_, err := other.Run(ctx, graph.ID("other"), nil)
		return err
	})
	g := graph.New[notes]("root")
	graph.Mount(g, "child", child, nil, nil)
	g.Edge(graph.Start, "child")
	g.Handle("child", func(ctx context.Context, s *notes, err error) (graph.Next, error) {
		s.Log.Append("handled")
		return graph.Next{}, nil
	})
	app := compile(t, g, graph.Options{Store: store})
	out, err := app.Run(t.Context(), graph.ID("t"), nil)
	if err != nil || strings.Join(out.Log.Slice(), " ") != "handled" {
		t.Fatalf("%v %v", out, err)
	}
}

// E: memory per thread, at depth 2, twice in one run.
// A graph remembered inside a remembered one, called again in one run, in every durability. // E44 E60
func TestRememberedInsideRemembered(t *testing.T) {
	t.Parallel()
	for _, mode := range []graph.Durability{graph.Sync, graph.Async, graph.AtExit} {
		store := new(checkpoint.Memory)
		inner := chain(t, "inner", graph.Options{}, logs("x"))
		m := graph.New[notes]("mid")
		graph.Mount(m, "inner", inner, nil, func(s, c *notes) { s.Value.Set(strings.Join(c.Log.Slice(), " ")) }, graph.MountOptions{Memory: graph.PerThread})
		m.Edge(graph.Start, "inner")
		g := graph.New[notes]("root")
		graph.Mount(g, "mid", compile(t, m, graph.Options{}), nil, func(s, c *notes) { s.Value.Set(c.Value.Get()); s.Total.Add(1) }, graph.MountOptions{Memory: graph.PerThread})
		g.Edge(graph.Start, "mid")
		g.Route("mid", func(_ context.Context, s *notes) (graph.Next, error) {
			if s.Total.Get() < 3 {
				return graph.To("mid"), nil
			}
			return graph.To(graph.End), nil
		}, "mid", graph.End)
		out, err := compile(t, g, graph.Options{Store: store, Durability: mode}).Run(t.Context(), graph.ID("t"), nil)
		if err != nil || out.Value.Get() != "x x x" {
			t.Errorf("%s: %v %v", mode, out, err)
		}
	}
}

// F
// Calls that have ended below a remembered graph go with retention, and are not copied. // E46 E44
func TestRetentionBelowARememberedGraph(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("t")
	inner := chain(t, "inner", graph.Options{}, logs("x"))
	m := graph.New[notes]("mid")
	graph.Mount(m, "inner", inner, nil, nil)
	m.Edge(graph.Start, "inner")
	g := graph.New[notes]("root")
	graph.Mount(g, "mid", compile(t, m, graph.Options{}), nil, nil, graph.MountOptions{Memory: graph.PerThread})
	g.Edge(graph.Start, "mid")
	app := compile(t, g, graph.Options{Store: store})
	for range 300 {
		if _, err := app.Run(t.Context(), th, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := app.Retain(t.Context(), th, graph.Retention{KeepLast: 1}); err != nil {
		t.Fatal(err)
	}
	left, _ := store.Chains(t.Context(), key(th), 0)
	if len(left) > 200 {
		t.Errorf("%d chains are left", len(left))
	}
	if err := app.Copy(t.Context(), th, graph.ID("copy")); err != nil {
		t.Fatal(err)
	}
	copied, _ := store.Chains(t.Context(), key(graph.ID("copy")), 0)
	if len(copied) > 2 {
		t.Errorf("the copy of an idle thread has %d chains", len(copied))
	}
	if s := stateOf(t, app, th, -1); len(s.Children) > 1 {
		t.Errorf("State of an idle thread lists %d children", len(s.Children))
	}
}

// G
// A fork at the first entry of a child of a copy keeps its siblings. // E42 E44
func TestForkAtAChildOfACopy(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("t")
	var ran [2]atomic.Int32
	g := graph.New[notes]("root")
	for i, n := range []string{"one", "two"} {
		c := chain(t, n, graph.Options{}, func(_ context.Context, s *notes) error { ran[i].Add(1); return nil }, asking("q"+n))
		graph.Mount(g, n, c, nil, nil)
		g.Edge(graph.Start, n)
	}
	app := compile(t, g, graph.Options{Store: store})
	_, err := app.Run(t.Context(), th, nil)
	paused(t, err)
	cp := graph.ID("copy")
	if err := app.Copy(t.Context(), th, cp); err != nil {
		t.Fatal(err)
	}
	all, err := app.Children(t.Context(), cp)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if _, err := app.Fork(t.Context(), cp, all[0].Entry, graph.ForkOptions{Child: all[0].In}); err != nil {
		t.Fatal(err)
	}
	_, err = app.Resume(t.Context(), cp)
	paused(t, err)
	if ran[0].Load() != 1 || ran[1].Load() != 1 {
		t.Fatalf("ran %d, %d", ran[0].Load(), ran[1].Load())
	}
}

// H
// A migration that drops a mounted graph closes its questions. // E45 E44
func TestDroppedMountClosesItsQuestions(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("1")
	one := parent(t, store, "c", childOne(t), oldLog, graph.PerThread, nil)
	_, err := one.Run(t.Context(), th, nil)
	paused(t, err)
	g := graph.New[notes]("parent")
	g.Version(1)
	g.Node("end", say("end"))
	g.Edge(graph.Start, "end")
	g.Migrate(0, 1, func(m *graph.Migration) error { m.DropNode("c"); return nil })
	s, err := compile(t, g, graph.Options{Store: store}).Resume(t.Context(), th)
	if err != nil {
		t.Fatalf("%v, %v", s.Log.Slice(), err)
	}
	qs, err := store.Questions(t.Context(), checkpoint.QuestionFilter{})
	if err != nil || len(qs) != 0 {
		t.Fatalf("still open: %v, %v", qs, err)
	}
}

// I
// A breakpoint in a child whose process died before the thread paused is shown. // E36 E61
func TestBreakpointOfAChildThatNobodySaw(t *testing.T) {
	t.Parallel()
	var clock handClock
	mem := &checkpoint.Memory{Now: clock.now}
	dead := faultstore.New(mem)
	var armed atomic.Bool
	dead.Before = func(c *faultstore.Call) error {
		if armed.Load() {
			return checkpoint.ErrUnavailable
		}
		return nil
	}
	dead.After = func(c *faultstore.Call) error {
		return c.Err
	}
	_ = dead
	build := func(s checkpoint.Store, hook func()) *graph.App[notes] {
		c := chain(t, "child", graph.Options{BreakBefore: []string{"b"}}, logs("a"), logs("b"))
		return outer(t, c, graph.Options{Store: s, StorePatience: 200 * time.Millisecond, OnEvent: func(e graph.Event) {
			if hook != nil && len(e.Path) > 0 && e.Kind == graph.EntryCommitted {
				hook()
			}
		}})
	}
	th := graph.ID("t")
	_, err := build(dead, func() { armed.Store(true) }).Run(t.Context(), th, nil)
	if err == nil || errors.Is(err, graph.ErrInterrupted) {
		t.Fatal(err)
	}
	clock.advance(time.Hour)
	out, err := build(mem, nil).Resume(t.Context(), th)
	if !errors.Is(err, graph.ErrInterrupted) {
		t.Fatalf("nobody has seen the breakpoint: %v %v", out, err)
	}
}

// J
// A call that was abandoned need not fit the graph of now: it is settled. // E45 E44
func TestAbandonedCallNeedNotFit(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("t")
	build := func(last string) *graph.App[notes] {
		c := graph.New[notes]("child")
		c.Node("a", logs("a"))
		c.Node(last, asking("q"))
		c.Edge(graph.Start, "a")
		c.Edge("a", last)
		return outer(t, compile(t, c, graph.Options{}), graph.Options{Store: store}, graph.MountOptions{Memory: graph.PerThread})
	}
	_, err := build("old").Run(t.Context(), th, nil)
	paused(t, err)
	if err := build("old").Cancel(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	app := build("new")
	_, err = app.With(graph.RunOptions{BreakBefore: []string{"child"}}).Run(t.Context(), th, nil)
	paused(t, err)
	_, err = app.Resume(t.Context(), th)
	paused(t, err)
}

// K
// L
// What failed beside a question in a child is tried again by Resume. // E30 E44
func TestFailureBesideAQuestionInAChild(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	c := graph.New[notes]("child")
	c.Node("f", func(context.Context, *notes) error {
		if n.Add(1) == 1 {
			return errBoom
		}
		return nil
	})
	c.Node("q", asking("q"))
	c.Edge(graph.Start, "f")
	c.Edge(graph.Start, "q")
	app := outer(t, compile(t, c, graph.Options{}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	in := paused(t, err)
	t.Log(in.Err)
	_, err = app.Resume(t.Context(), th)
	in = paused(t, err)
	if n.Load() != 2 {
		t.Fatalf("failed task ran %d times; %v", n.Load(), in.Err)
	}
}
