package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// window is a graph that says what it was given, and then asks, is stuck, fails, or ends, by what it was given.
func window(b *stuck) *graph.Graph[notes] {
	g := graph.New[notes]("desk")
	g.Branch("take", func(ctx context.Context, s *notes) (graph.Next, error) {
		s.Log.Append(s.Value.Get())
		to, _, _ := strings.Cut(s.Value.Get(), " ")
		return graph.To(to), nil
	}, "plain", "ask", "stuck", "fail")
	g.Edge(graph.Start, "take")
	g.Node("plain", func(context.Context, *notes) error { return nil })
	g.Node("ask", asking("q"))
	g.Node("fail", func(context.Context, *notes) error { return errors.New("no") })
	if b == nil {
		b = newStuck()
	}
	g.Node("stuck", b.node)
	return g
}

func give(text string) func(*notes) { return func(s *notes) { s.Value.Set(text) } }

// queued ends the test unless err says that the input waits.
func queued(t testing.TB, err error) *graph.QueuedError {
	t.Helper()
	q, ok := errors.AsType[*graph.QueuedError](err)
	if !ok || !errors.Is(err, graph.ErrQueued) || q.Run == "" {
		t.Fatalf("got %v, want a *QueuedError", err)
	}
	return q
}

// idle waits until the thread's run has ended and nobody holds it, and returns its log.
func idle(t testing.TB, app *graph.App[notes], s checkpoint.Store, th graph.Thread, runs int) []string {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; <-time.After(time.Millisecond) {
		all, err := s.Runs(t.Context(), checkpoint.RunFilter{Tenant: th.Tenant, Thread: th.ID})
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.Load(t.Context(), key(th), checkpoint.Active, "") // after the runs: the last of them has ended then
		if err != nil {
			t.Fatal(err)
		}
		if l.Head.Status.Ended() && !l.Head.Held() && len(all) == runs {
			st, err := app.State(t.Context(), th)
			if err != nil {
				t.Fatal(err)
			}
			return st.State.Log.Slice()
		}
		if time.Now().After(end) {
			t.Fatalf("%s, held %t, %d runs of %d, inbox %d", l.Head.Status, l.Head.Held(), len(all), runs, len(l.Inbox))
		}
	}
}

// Inputs that come while a run is under way, from other Apps too, run in order at its end, each with what its call said; the
// inbox is empty afterwards. // E37 // report 140 // report 138
func TestEnqueue(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		b := newStuck()
		app, other := compile(t, window(b), graph.Options{Store: s}), compile(t, window(nil), graph.Options{Store: s})
		th := graph.ID("t")
		busy := going(func() (*notes, error) { return app.Run(t.Context(), th, give("stuck 0")) })
		<-b.entered
		mine := func(o graph.RunOptions) graph.RunOptions { o.OnBusy = graph.Enqueue; return o }
		_, err := other.With(mine(graph.RunOptions{By: "ada", Request: "r1", Meta: map[string]string{"k": "v"}})).Run(t.Context(), th, give("plain 1"))
		first := queued(t, err)
		_, err = other.View().With(mine(graph.RunOptions{Request: "r2"})).Run(t.Context(), th, json.RawMessage(`{"value":"fail 2"}`))
		queued(t, err)
		for _, err := range app.With(mine(graph.RunOptions{})).Stream(t.Context(), th, give("plain 3")) {
			queued(t, err)
		}
		// The same request again is the same run.
		_, err = app.With(mine(graph.RunOptions{Request: "r1"})).Run(t.Context(), th, give("plain 9"))
		if again := queued(t, err); again.Run != first.Run {
			t.Fatalf("run %s, then %s", first.Run, again.Run)
		}
		close(b.release)
		if e := <-busy; e.err != nil {
			t.Fatal(e.err)
		}
		got := idle(t, app, s, th, 4)
		if want := []string{"stuck 0", "released", "plain 1", "fail 2", "plain 3"}; !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
		runs, err := s.Runs(t.Context(), checkpoint.RunFilter{Tenant: th.Tenant, Meta: map[string]string{"k": "v"}})
		if err != nil || len(runs) != 1 || runs[0].ID != first.Run || runs[0].By != "ada" || runs[0].Request != "r1" || runs[0].Status != checkpoint.Completed {
			t.Fatalf("%v %+v", err, runs)
		}
		if cmds, err := s.Inbox(t.Context(), key(th)); err != nil || len(cmds) != 0 {
			t.Fatalf("%v: %d commands are left", err, len(cmds))
		}
		_, err = other.With(mine(graph.RunOptions{Request: "r2"})).Run(t.Context(), th, give("plain 9"))
		wantErr(t, err, graph.ErrDuplicate)
		if err := app.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// An input queued behind a question waits for the answer; the run of the answer's process then runs it. Rejecting is the
// default; nothing of a rejected input is kept. // E37 // report 144
func TestEnqueueBehindAQuestion(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		app, other, th := compile(t, window(nil), graph.Options{Store: s}), compile(t, window(nil), graph.Options{Store: s}), graph.ID("t")
		_, err := app.Run(t.Context(), th, give("ask 0"))
		q := paused(t, err).Questions[0]
		_, err = other.With(graph.RunOptions{OnBusy: graph.Enqueue}).Run(t.Context(), th, give("plain 1"))
		queued(t, err)
		_, err = other.Run(t.Context(), th, give("plain 2"))
		wantErr(t, err, graph.ErrBusy)
		if got, err := other.Recover(t.Context()); err != nil || len(got) != 0 {
			t.Fatalf("%v: recovered a thread that waits: %v", err, got)
		}
		if _, err := other.Resume(t.Context(), th, graph.Answer(q, "yes")); err != nil {
			t.Fatal(err)
		}
		if got, want := idle(t, app, s, th, 2), []string{"ask 0", "plain 1"}; !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// What was queued when its process died is run by whoever comes next, before its own input. An input whose acquisition had
// happened when the process died is not run twice. // E37 // E61
func TestQueueSurvivesItsProcess(t *testing.T) {
	t.Parallel()
	for n := range 12 {
		mem := new(checkpoint.Memory)
		dying := faultstore.New(mem)
		b, th := newStuck(), graph.ID("t")
		app := compile(t, window(b), graph.Options{Store: dying, StorePatience: 300 * time.Millisecond})
		alive := compile(t, window(b), graph.Options{Store: mem})
		busy := going(func() (*notes, error) { return app.Run(t.Context(), th, give("stuck 0")) })
		select {
		case <-b.entered:
		case e := <-busy:
			t.Fatal(e.err)
		}
		for _, text := range []string{"plain 1", "plain 2"} {
			_, err := alive.With(graph.RunOptions{OnBusy: graph.Enqueue}).Run(t.Context(), th, give(text))
			queued(t, err)
		}
		dying.At("", dying.Calls("")+n+1, faultstore.CrashBefore)
		close(b.release)
		<-busy
		if err := app.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := alive.Recover(t.Context())
		for _, r := range got {
			err = errors.Join(err, r.Err)
		}
		if err != nil {
			t.Fatalf("crash at call %d: %v", n+1, err)
		}
		out, err := alive.Run(t.Context(), th, give("plain 3"))
		if err != nil {
			t.Fatalf("crash at call %d: %v", n+1, err)
		}
		log := slices.DeleteFunc(out.Log.Slice(), func(s string) bool { return s == "released" })
		if want := []string{"stuck 0", "plain 1", "plain 2", "plain 3"}; !slices.Equal(log, want) {
			t.Fatalf("crash at call %d: %q, want %q", n+1, log, want)
		}
	}
}

// With nobody to recover, Run and Resume run what waits, in order, before anything else. // E37
func TestQueueIsRunByTheNextCall(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		for _, name := range []string{"run", "resume"} {
			app, th := compile(t, window(nil), graph.Options{Store: s}), graph.ID(name)
			_, err := app.Run(t.Context(), th, give("ask 0"))
			paused(t, err)
			for _, text := range []string{"plain 1", "plain 2"} {
				_, err = app.With(graph.RunOptions{OnBusy: graph.Enqueue}).Run(t.Context(), th, give(text))
				queued(t, err)
			}
			// Closing leaves the queue alone: the cancelled run has ended, and nobody starts what waits.
			if err := app.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantErr(t, app.Cancel(t.Context(), th), graph.ErrClosed)
			next := compile(t, window(nil), graph.Options{Store: s})
			if err := next.Cancel(t.Context(), th); err != nil {
				t.Fatal(err)
			}
			want, runs := []string{"ask 0", "plain 1", "plain 2"}, 3
			if name == "run" {
				want, runs = append(want, "plain 3"), 4
				for errors.Is(err, graph.ErrBusy) || runs == 4 { // the App that cancelled has begun with the queue
					if _, err = next.Run(t.Context(), th, give("plain 3")); err == nil {
						break
					}
					wantErr(t, err, graph.ErrBusy)
				}
			} else if _, err := next.Resume(t.Context(), th); err != nil && !errors.Is(err, graph.ErrNothingToDo) && !errors.Is(err, graph.ErrBusy) {
				t.Fatal(err)
			}
			if got := idle(t, next, s, th, runs); !slices.Equal(got, want) {
				t.Fatalf("%s: %q, want %q", name, got, want)
			}
			if err := next.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A queued input can be taken back by the id of its run, and then never starts; so can the present run. // E37 // E26
func TestCancelRun(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		app, other, th := compile(t, window(nil), graph.Options{Store: s}), compile(t, window(nil), graph.Options{Store: s}), graph.ID("t")
		_, err := app.Run(t.Context(), th, give("ask 0"))
		in := paused(t, err)
		ids := []string{}
		for _, text := range []string{"plain 1", "plain 2", "plain 3"} {
			_, err = app.With(graph.RunOptions{OnBusy: graph.Enqueue}).Run(t.Context(), th, give(text))
			ids = append(ids, queued(t, err).Run)
		}
		for _, id := range []string{ids[0], ids[2]} {
			if err := other.CancelRun(t.Context(), th, id); err != nil {
				t.Fatal(err)
			}
		}
		wantErr(t, other.CancelRun(t.Context(), th, "unknown"), graph.ErrNothingToDo)
		if err := other.View().CancelRun(t.Context(), th, in.Run); err != nil {
			t.Fatal(err)
		}
		if got, want := idle(t, app, s, th, 2), []string{"ask 0", "plain 2"}; !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
		wantErr(t, other.CancelRun(t.Context(), th, in.Run), graph.ErrNothingToDo)
		for _, a := range []*graph.App[notes]{app, other} {
			if err := a.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// An input that cannot start stays and says so, and the thread takes no other before it, until it can or is taken back: it is
// neither lost nor passed over. A bad input is refused when it comes. // E37
func TestQueuedInputThatCannotStart(t *testing.T) {
	t.Parallel()
	s := new(checkpoint.Memory)
	var mended atomic.Bool // the App tries the queue beside the test
	build := func() *graph.App[notes] {
		g := inLine("a")
		g.Node("ask", asking("q"))
		g.Edge("a", "ask")
		g.Route(graph.Start, func(_ context.Context, s *notes) (graph.Next, error) {
			if s.Value.Get() == "bad" && !mended.Load() {
				return graph.Next{}, errors.New("not today")
			}
			return graph.To("a"), nil
		}, "a")
		return compile(t, g, graph.Options{Store: s})
	}
	app, th := build(), graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	paused(t, err)
	later := app.With(graph.RunOptions{OnBusy: graph.Enqueue})
	if _, err := later.Run(t.Context(), th, give("\xff")); err == nil || errors.Is(err, graph.ErrQueued) {
		t.Fatalf("a bad value: %v", err)
	}
	_, err = later.Run(t.Context(), th, give("bad"))
	bad := queued(t, err)
	if err := app.Close(t.Context()); err != nil { // nobody starts it beside the test
		t.Fatal(err)
	}
	app = build()
	if err := app.With(graph.RunOptions{}).Cancel(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Run(t.Context(), th, nil); err == nil || !strings.Contains(err.Error(), bad.Run) || !strings.Contains(err.Error(), "not today") {
		t.Fatalf("%v", err)
	}
	if got, err := app.Recover(t.Context()); err != nil || len(got) != 1 || got[0].Err == nil {
		t.Fatalf("%v %v", err, got)
	}
	mended.Store(true)
	for end := time.Now().Add(30 * time.Second); ; <-time.After(time.Millisecond) { // Recover finds nothing to do where the App was faster
		got, err := app.Recover(t.Context())
		if err != nil || len(got) > 1 || len(got) == 1 && !errors.Is(got[0].Err, graph.ErrInterrupted) {
			t.Fatalf("%v %v", err, got)
		}
		l, err := s.Load(t.Context(), key(th), checkpoint.Active, "")
		if err != nil {
			t.Fatal(err)
		}
		if l.Head.Run == bad.Run && l.Head.Status == checkpoint.Interrupted && !l.Head.Held() {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the input is lost: %+v", l.Head)
		}
	}
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Policies have names that are checked. // E37
func TestUnknownBusyPolicy(t *testing.T) {
	t.Parallel()
	app := compile(t, inLine("a"), graph.Options{})
	if _, err := app.With(graph.RunOptions{OnBusy: "interrupt"}).Run(t.Context(), graph.Thread{}, nil); err == nil || !strings.Contains(err.Error(), `"interrupt"`) {
		t.Fatal(err)
	}
}
