package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphtest"
)

// gives passes a value in, takesLog brings a child's log back.
func gives(s, c *notes)    { c.Value.Set(s.Value.Get()) }
func takesLog(s, c *notes) { s.Log.Append(c.Log.Slice()...) }

// outer mounts a child between "before" and "after".
func outer(t testing.TB, child *graph.App[notes], o graph.Options, mo ...graph.MountOptions) *graph.App[notes] {
	t.Helper()
	g := graph.New[notes]("outer")
	g.Node("before", func(_ context.Context, s *notes) error { s.Log.Append("before"); return nil })
	graph.Mount(g, "child", child, gives, takesLog, mo...)
	g.Node("after", func(_ context.Context, s *notes) error { s.Log.Append("after"); return nil })
	g.Edge(graph.Start, "before")
	g.Edge("before", "child")
	g.Edge("child", "after")
	if len(mo) > 0 {
		for _, to := range mo[0].Targets {
			if to != "after" && to != graph.End {
				g.Node(to, func(_ context.Context, s *notes) error { s.Log.Append(to); return nil })
			}
		}
	}
	return compile(t, g, o)
}

// chain is a graph whose nodes run one after the other.
func chain(t testing.TB, name string, o graph.Options, nodes ...func(context.Context, *notes) error) *graph.App[notes] {
	t.Helper()
	g := graph.New[notes](name)
	last := graph.Start
	for i, fn := range nodes {
		n := string(rune('a' + i))
		g.Node(n, fn)
		g.Edge(last, n)
		last = n
	}
	return compile(t, g, o)
}

func logs(what string) func(context.Context, *notes) error {
	return func(_ context.Context, s *notes) error { s.Log.Append(what); return nil }
}

// A pause in a child resumes inside the child, in another process, at any depth; what is before it does not run again, at no
// level. // E44 // E34 // report 43 // report 59 // report 61 // report 62
func TestChildPausesAndGoesOnInside(t *testing.T) {
	t.Parallel()
	var ran [3]atomic.Int32
	build := func(store checkpoint.Store) *graph.App[notes] {
		count := func(i int, what string) func(context.Context, *notes) error {
			return func(_ context.Context, s *notes) error { ran[i].Add(1); s.Log.Append(what); return nil }
		}
		inner := chain(t, "inner", graph.Options{}, count(0, "x"), asking("deep"), count(1, "y"))
		middle := outer(t, inner, graph.Options{})
		g := graph.New[notes]("root")
		graph.Mount(g, "middle", middle, gives, takesLog)
		g.Node("last", count(2, "last"))
		g.Edge(graph.Start, "middle")
		g.Edge("middle", "last")
		return compile(t, g, graph.Options{Store: store})
	}
	store := new(checkpoint.Memory)
	_, err := build(store).Run(t.Context(), graph.ID("t"), amount("v"))
	in := paused(t, err)
	if q := in.Questions[0]; len(in.Questions) != 1 || !slices.Equal(q.Path, []string{"middle", "child"}) || q.Node != "b" {
		t.Fatalf("questions %+v", in.Questions)
	}
	_, err = build(store).Resume(t.Context(), graph.ID("t"))
	if again := paused(t, err); again.Questions[0].ID != in.Questions[0].ID {
		t.Fatal("the question has another id")
	}
	out, err := build(store).Resume(t.Context(), graph.ID("t"), graph.Answer(in.Questions[0], "yes"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(out.Log.Slice(), " "); got != "before x y after last" {
		t.Fatalf("log %q", got)
	}
	for i := range ran {
		if n := ran[i].Load(); n != 1 {
			t.Errorf("node %d ran %d times", i, n)
		}
	}
}

// A graph called in a node function keeps its own pauses; a call that has ended is not run again. // E44 // E34 // report 45
func TestCallInsideANode(t *testing.T) {
	t.Parallel()
	var first, second atomic.Int32
	build := func(store checkpoint.Store) *graph.App[notes] {
		one := chain(t, "one", graph.Options{}, func(_ context.Context, s *notes) error {
			first.Add(1)
			s.Log.Append("one " + s.Value.Get())
			return nil
		})
		two := chain(t, "two", graph.Options{}, func(_ context.Context, s *notes) error { second.Add(1); return nil }, asking("q"))
		return chain(t, "root", graph.Options{Store: store}, func(ctx context.Context, s *notes) error {
			for i := range 2 {
				c, err := graph.Call(ctx, "one", one, amount(fmt.Sprint(i)))
				if err != nil {
					return err
				}
				s.Log.Append(c.Log.Slice()...)
				d, err := graph.Call(ctx, "two", two, nil)
				if err != nil {
					return err
				}
				answer, _ := d.Said.Get("q")
				s.Log.Append(answer)
			}
			return nil
		})
	}
	store, th := new(checkpoint.Memory), graph.ID("t")
	_, err := build(store).Run(t.Context(), th, nil)
	for i := range 2 {
		in := paused(t, err)
		if q := in.Questions[0]; len(in.Questions) != 1 || !slices.Equal(q.Path, []string{"a", "two"}) {
			t.Fatalf("round %d: %+v", i, in.Questions)
		}
		_, err = build(store).Resume(t.Context(), th, graph.AnswerOnly(fmt.Sprint("answer ", i)))
	}
	if err != nil {
		t.Fatal(err)
	}
	got := stateOf(t, build(store), th, -1).State.Log.Slice()
	if want := []string{"one 0", "answer 0", "one 1", "answer 1"}; !slices.Equal(got, want) {
		t.Fatalf("log %q", got)
	}
	if first.Load() != 2 || second.Load() != 2 {
		t.Fatalf("%d and %d runs of nodes that had ended", first.Load(), second.Load())
	}
}

// A child that has failed goes on where it had failed: on the node's next attempt and on Resume. // E44 // E17 // report 24
func TestChildGoesOnWhereItFailed(t *testing.T) {
	t.Parallel()
	for _, attempts := range []int{1, 2} {
		var a, b atomic.Int32
		child := chain(t, "child", graph.Options{}, func(_ context.Context, s *notes) error { a.Add(1); s.Log.Append("a"); return nil }, func(_ context.Context, s *notes) error {
			if b.Add(1) == 1 {
				return errors.New("broken")
			}
			s.Log.Append("b")
			return nil
		})
		app := outer(t, child, graph.Options{Store: new(checkpoint.Memory), Policy: graph.Policy{Attempts: attempts, Backoff: time.Millisecond}})
		out, err := app.Run(t.Context(), graph.ID("t"), nil)
		if attempts == 1 {
			if e, ok := errors.AsType[*graph.NodeError](err); !ok || e.Node != "child" {
				t.Fatalf("error %v", err)
			}
			out, err = app.Resume(t.Context(), graph.ID("t"))
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(out.Log.Slice(), " "); got != "before a b after" || a.Load() != 1 || b.Load() != 2 {
			t.Fatalf("log %q, a ran %d times, b %d", got, a.Load(), b.Load())
		}
	}
}

// The three kinds of memory. // E44
func TestMemoryOfAChild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		memory graph.Memory
		want   string
	}{{graph.PerCall, "x | x | x"}, {graph.PerThread, "x | x x | x x x"}, {graph.NoMemory, "x | x | x"}, {"", "x | x | x"}} {
		store := new(checkpoint.Memory)
		var got []string
		for range 3 {
			child := chain(t, "child", graph.Options{}, logs("x"))
			g := graph.New[notes]("outer")
			graph.Mount(g, "child", child, nil, func(s, c *notes) { s.Value.Set(strings.Join(c.Log.Slice(), " ")) }, graph.MountOptions{Memory: c.memory})
			g.Edge(graph.Start, "child")
			out, err := compile(t, g, graph.Options{Store: store}).Run(t.Context(), graph.ID("t"), nil)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, out.Value.Get())
		}
		if s := strings.Join(got, " | "); s != c.want {
			t.Errorf("memory %q: %s", c.memory, s)
		}
	}
	child := chain(t, "child", graph.Options{}, asking("q"))
	_, err := outer(t, child, graph.Options{Store: new(checkpoint.Memory)}, graph.MountOptions{Memory: graph.NoMemory}).Run(t.Context(), graph.ID("t"), nil)
	wantErr(t, err, graph.ErrNoStore)
}

// Memory of a thread also survives a call that was abandoned half way. // E44 // E37
func TestThreadMemoryAfterACancel(t *testing.T) {
	t.Parallel()
	child := chain(t, "child", graph.Options{}, logs("x"), asking("q"))
	app := outer(t, child, graph.Options{Store: new(checkpoint.Memory)}, graph.MountOptions{Memory: graph.PerThread})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	paused(t, err)
	if err := app.Cancel(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	_, err = app.Run(t.Context(), th, nil)
	paused(t, err)
	out, err := app.Resume(t.Context(), th, graph.AnswerOnly("yes"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(out.Log.Slice(), " "); got != "before before x x after" {
		t.Fatalf("log %q", got)
	}
}

// Escape goes to a declared target of the parent instead of along its edges, from a node or a route, and after a crash too. // E44
func TestEscape(t *testing.T) {
	t.Parallel()
	build := func(to string, o graph.Options) *graph.App[notes] {
		g := graph.New[notes]("child")
		g.Branch("work", func(_ context.Context, s *notes) (graph.Next, error) {
			s.Log.Append("work")
			return graph.Escape(to).And(graph.To("more")), nil
		}, "more")
		g.Node("more", logs("more"))
		g.Edge(graph.Start, "work")
		return outer(t, compile(t, g, graph.Options{}), o, graph.MountOptions{Targets: []string{"review", graph.End}})
	}
	for to, want := range map[string]string{"review": "before work review", graph.End: "before work"} {
		for _, o := range []graph.Options{{}, {Store: new(checkpoint.Memory)}} {
			out, err := build(to, o).Run(t.Context(), graph.ID("t"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(out.Log.Slice(), " "); got != want {
				t.Errorf("to %s: %q", to, got)
			}
		}
	}
	_, err := build("after", graph.Options{}).Run(t.Context(), graph.ID("t"), nil)
	if e, ok := errors.AsType[*graph.RouteError](err); !ok || e.Target != "after" {
		t.Errorf("an undeclared target: %v", err)
	}
}

// Breakpoints inside children, of the call, of the child's own options, and through the path. Resume goes on. // E36
func TestBreakpointsThroughChildren(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		child graph.Options
		ro    graph.RunOptions
		want  string
	}{
		"path":   {ro: graph.RunOptions{BreakBefore: []string{"child/child/b"}}, want: "child/child/b"},
		"own":    {child: graph.Options{BreakAfter: []string{"a"}}, want: "child/child/a"},
		"all":    {ro: graph.RunOptions{BreakBefore: []string{"child/child/*"}}, want: "child/child/a child/child/b"},
		"middle": {ro: graph.RunOptions{BreakAfter: []string{"child/before"}}, want: "child/before"},
	} {
		build := func(store checkpoint.Store) *graph.App[notes] {
			inner := chain(t, "inner", c.child, logs("a"), logs("b"))
			return outer(t, outer(t, inner, graph.Options{}), graph.Options{Store: store})
		}
		store, th := new(checkpoint.Memory), graph.ID("t")
		_, err := build(store).With(c.ro).Run(t.Context(), th, nil)
		var seen []string
		for errors.Is(err, graph.ErrInterrupted) {
			in := paused(t, err)
			if len(in.Questions) > 0 || len(seen) > 4 {
				t.Fatalf("%s: %v after %v", name, err, seen)
			}
			seen = append(seen, in.Breaks...)
			_, err = build(store).With(c.ro).Resume(t.Context(), th)
		}
		if err != nil || strings.Join(seen, " ") != c.want {
			t.Errorf("%s: stopped at %v, %v", name, seen, err)
		}
		if got := strings.Join(stateOf(t, build(store), th, -1).State.Log.Slice(), " "); got != "before before a b after after" {
			t.Errorf("%s: %s", name, got)
		}
	}
	child := chain(t, "child", graph.Options{}, logs("a"))
	g := graph.New[notes]("outer")
	graph.Mount(g, "child", child, nil, nil)
	g.Edge(graph.Start, "child")
	if _, err := g.Compile(graph.Options{BreakBefore: []string{"child/nowhere"}}); err == nil {
		t.Error("a breakpoint at a node that the child has not got was taken")
	}
}

// A drained child stops at its own superstep boundary and goes on through its parent. // E27 // E44
func TestDrainedChild(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{true, false} {
		store, th := new(checkpoint.Memory), graph.ID("t")
		var app *graph.App[notes]
		var ran atomic.Int32
		child := chain(t, "child", graph.Options{}, func(ctx context.Context, s *notes) error {
			ran.Add(1)
			if whole {
				go app.Close(context.WithoutCancel(ctx))
			} else if err := app.Drain(ctx, th, "deploy"); err != nil {
				return err
			}
			for !graph.Draining(ctx) {
				time.Sleep(time.Millisecond)
			}
			s.Log.Append("a")
			return nil
		}, logs("b"))
		app = outer(t, child, graph.Options{Store: store})
		_, err := app.Run(t.Context(), th, nil)
		wantErr(t, err, graph.ErrDrained)
		out, err := outer(t, child, graph.Options{Store: store}).Resume(t.Context(), th)
		if err != nil || strings.Join(out.Log.Slice(), " ") != "before a b after" || ran.Load() != 1 {
			t.Fatalf("%v, %v, %d runs", out, err, ran.Load())
		}
		if err := app.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Events of children say where they happened; parallel calls can be told apart. // E47 // report 217
func TestEventsOfChildren(t *testing.T) {
	t.Parallel()
	inner := chain(t, "inner", graph.Options{}, func(ctx context.Context, s *notes) error { return graph.Emit(ctx, "tick", s.Value.Get()) })
	g := graph.New[notes]("root")
	work := graph.Each(g, "work", func(ctx context.Context, s *notes, n string) error {
		_, err := graph.Call(ctx, "inner", inner, amount(n))
		return err
	})
	g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) { return work.Send("0", "1", "2"), nil }, "work")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	ticks := map[string]string{}
	last := int64(0)
	for ev, err := range app.Stream(t.Context(), graph.ID("t"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Seq <= last {
			t.Fatalf("number %d after %d", ev.Seq, last)
		}
		last = ev.Seq
		if ev.Kind != graph.CustomEvent {
			continue
		}
		v, err := graph.Custom[string](ev)
		if err != nil || !slices.Equal(ev.Path, []string{"work", "inner"}) || len(ev.Calls) != 1 {
			t.Fatalf("event %+v: %v", ev, err)
		}
		ticks[ev.Calls[0]] = v
	}
	if ticks["0.0"] != "0" || ticks["0.1"] != "1" || ticks["0.2"] != "2" {
		t.Fatalf("ticks %v", ticks)
	}
}

// A node that hides the pause of a graph it calls fails and says so; nothing is lost. // E30
func TestSwallowedPauseOfAChild(t *testing.T) {
	t.Parallel()
	inner := chain(t, "inner", graph.Options{}, asking("q"))
	app := chain(t, "root", graph.Options{Store: new(checkpoint.Memory)}, func(ctx context.Context, s *notes) error {
		graph.Call(ctx, "inner", inner, nil)
		return nil
	})
	_, err := app.Run(t.Context(), graph.ID("t"), nil)
	wantErr(t, err, graph.ErrSwallowed)
}

// Mistakes of mounting are reported by Compile, all at once. // E11 // E44
func TestMountMistakes(t *testing.T) {
	t.Parallel()
	child := chain(t, "child", graph.Options{}, logs("a"))
	g := graph.New[notes]("outer")
	graph.Mount[notes, notes](g, "none", nil, nil, nil)
	graph.Mount(g, "odd", child, nil, nil, graph.MountOptions{Memory: "much", Targets: []string{"nowhere"}})
	g.Edge(graph.Start, "none")
	g.Edge(graph.Start, "odd")
	_, err := g.Compile(graph.Options{})
	for _, want := range []string{"node none has no function", `unknown memory "much"`, `no node "nowhere"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	wrote := graph.New[notes]("wrote")
	graph.Mount(wrote, "child", child, func(s, c *notes) { s.Log.Append("lost") }, nil)
	wrote.Edge(graph.Start, "child")
	_, err = compile(t, wrote, graph.Options{}).Run(t.Context(), graph.ID("t"), nil)
	if e, ok := errors.AsType[*graph.RouteError](err); !ok || !strings.Contains(e.Reason, "log") {
		t.Errorf("an input that writes to the parent: %v", err)
	}
	_, err = graph.Call(graphtest.Context(t, graphtest.Options{}), "child", child, nil)
	wantErr(t, err, graph.ErrNoRun)
}

// A child that has escaped and ended stays so when its parent's node runs again. // E44 // E17
func TestEscapeIsKept(t *testing.T) {
	t.Parallel()
	var worked, out atomic.Int32
	c := graph.New[notes]("child")
	c.Branch("work", func(_ context.Context, s *notes) (graph.Next, error) {
		worked.Add(1)
		return graph.Escape("review"), nil
	}, graph.End)
	c.Edge(graph.Start, "work")
	g := graph.New[notes]("outer")
	graph.Mount(g, "child", compile(t, c, graph.Options{}), nil, func(s, c *notes) {
		if out.Add(1) == 1 {
			panic("broken")
		}
	}, graph.MountOptions{Targets: []string{"review"}})
	g.Node("review", logs("review"))
	g.Node("after", logs("after"))
	g.Edge(graph.Start, "child")
	g.Edge("child", "after")
	app, th := compile(t, g, graph.Options{Store: new(checkpoint.Memory)}), graph.ID("t")
	if _, err := app.Run(t.Context(), th, nil); err == nil {
		t.Fatal("the panic was lost")
	}
	end, err := app.Resume(t.Context(), th)
	if err != nil || strings.Join(end.Log.Slice(), " ") != "review" || worked.Load() != 1 {
		t.Fatalf("%v, %v, %d runs", end, err, worked.Load())
	}
}

// A child at a breakpoint and one with a question in one node: Resume without an answer moves the first on and leaves the second, whose
// question stays open under its id. // E36 // E30 // E33
func TestBreakpointBesideAQuestion(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	build := func(store checkpoint.Store) *graph.App[notes] {
		stops := chain(t, "stops", graph.Options{BreakBefore: []string{"b"}}, logs("a"), func(_ context.Context, s *notes) error { ran.Add(1); return nil })
		asks := chain(t, "asks", graph.Options{}, asking("q"))
		return chain(t, "root", graph.Options{Store: store}, func(ctx context.Context, s *notes) error {
			_, one := graph.Call(ctx, "stops", stops, nil)
			_, two := graph.Call(ctx, "asks", asks, nil)
			return errors.Join(one, two)
		})
	}
	store, th := new(checkpoint.Memory), graph.ID("t")
	_, err := build(store).Run(t.Context(), th, nil)
	in := paused(t, err)
	if len(in.Questions) != 1 || !slices.Equal(in.Breaks, []string{"a/stops/b"}) {
		t.Fatalf("%v", in)
	}
	_, err = build(store).Resume(t.Context(), th)
	again := paused(t, err)
	if len(again.Breaks) != 0 || len(again.Questions) != 1 || again.Questions[0].ID != in.Questions[0].ID || ran.Load() != 1 {
		t.Fatalf("%v, %d runs", again, ran.Load())
	}
	if _, err = build(store).Resume(t.Context(), th, graph.Answer(in.Questions[0], "yes")); err != nil || ran.Load() != 1 {
		t.Fatalf("%v, %d runs", err, ran.Load())
	}
}

// A child whose node ignored its time-out, and was left behind, adds nothing to the log any more; the next attempt goes on from what is
// written. // E19 // E44 // report 36
func TestChildLeftBehind(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int32
	release := make(chan struct{})
	returned := make(chan error, 1)
	stopped := make(chan struct{}, 1)
	child := chain(t, "child", graph.Options{Grace: time.Minute}, logs("a"), func(ctx context.Context, s *notes) error {
		if attempts.Add(1) > 1 {
			close(release) // the one before wakes up while this one works
			select {
			case <-stopped:
				time.Sleep(10 * time.Millisecond) // until it would have written, if it could
			case <-ctx.Done():
			}
			s.Log.Append("b")
			return nil
		}
		<-release
		_, err := graph.Once(ctx, "late", func(context.Context, string) (int, error) { return 1, nil })
		returned <- err
		s.Log.Append("late")
		return err
	})
	g := graph.New[notes]("outer")
	graph.Mount(g, "child", child, nil, takesLog)
	g.Edge(graph.Start, "child")
	g.Policy("child", graph.Policy{Attempts: 2, IdleTimeout: time.Second, Grace: time.Millisecond, Backoff: time.Millisecond})
	app, th := compile(t, g, graph.Options{Store: new(checkpoint.Memory), OnEvent: func(e graph.Event) {
		if e.Kind == graph.TaskStopped && len(e.Path) > 0 {
			stopped <- struct{}{}
		}
	}}), graph.ID("t")
	out, err := app.Run(t.Context(), th, nil)
	if err != nil || strings.Join(out.Log.Slice(), " ") != "a b" {
		t.Fatalf("%v, %v", out, err)
	}
	wantErr(t, <-returned, graph.ErrStale)
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := logOf(t, app, th); got != "a b" {
		t.Fatalf("log %q", got)
	}
}
