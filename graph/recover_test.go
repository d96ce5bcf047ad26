package graph_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

func key(th graph.Thread) checkpoint.Key { return checkpoint.Key{Tenant: th.Tenant, Thread: th.ID} }

// Recover finds what a dead process has left, a thread that was answered and not resumed, and a cancel that nobody has
// looked at. It leaves alone what waits, is worked on, or has ended. // E61
func TestRecoverFindsWhatIsLeft(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	b := newStuck()
	build := func(s checkpoint.Store, patience time.Duration) *graph.App[notes] {
		g := graph.New[notes]("g")
		g.Branch("start", func(ctx context.Context, s *notes) (graph.Next, error) { return graph.To(s.Value.Get()), nil }, "plain", "ask", "stuck", "fail", "two")
		g.Edge(graph.Start, "start")
		g.Node("plain", func(ctx context.Context, s *notes) error { s.Log.Append("plain"); return nil })
		g.Node("ask", asking("q"))
		g.Node("two", func(ctx context.Context, s *notes) error {
			return errors.Join(asking("x")(ctx, s), asking("y")(ctx, s))
		})
		g.Node("stuck", b.node)
		g.Node("fail", func(context.Context, *notes) error { return errors.New("no") })
		return compile(t, g, graph.Options{Store: s, StorePatience: patience})
	}
	app := build(mem, 0)
	to := func(node string) func(*notes) { return func(s *notes) { s.Value.Set(node) } }
	// waiting, failed, completed, half answered, worked on: none of them is left over.
	app.Run(t.Context(), graph.ID("waiting"), to("ask"))
	app.Run(t.Context(), graph.ID("failed"), to("fail"))
	app.Run(t.Context(), graph.ID("completed"), to("plain"))
	_, err := app.Run(t.Context(), graph.ID("half"), to("two"))
	_, err = app.Resume(t.Context(), graph.ID("half"), graph.Answer(paused(t, err).Questions[0], "x"))
	paused(t, err)
	busy := going(func() (*notes, error) { return app.Run(t.Context(), graph.ID("busy"), to("stuck")) })
	<-b.entered
	// Its process died behind the first superstep.
	dying := faultstore.New(mem)
	dying.At("Append", 2, faultstore.CrashBefore)
	if _, err := build(dying, time.Millisecond).Run(t.Context(), graph.ID("crashed"), to("plain")); err == nil {
		t.Fatal("no crash")
	}
	// Answered by somebody who never resumed.
	_, err = app.Run(t.Context(), graph.ID("answered"), to("ask"))
	q := paused(t, err).Questions[0]
	if _, err := mem.Answer(t.Context(), key(graph.ID("answered")), []checkpoint.Reply{{Question: q.ID, Value: []byte(`"yes"`)}}); err != nil {
		t.Fatal(err)
	}
	// Cancelled by somebody who died before he could do it.
	_, err = app.Run(t.Context(), graph.ID("cancelled"), to("ask"))
	run := paused(t, err).Run
	if _, err := mem.Post(t.Context(), checkpoint.Command{Key: key(graph.ID("cancelled")), Kind: checkpoint.CommandCancel, Body: []byte(`{"run":"` + run + `"}`)}); err != nil {
		t.Fatal(err)
	}

	got, err := app.Recover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range got {
		ids = append(ids, r.Thread.ID)
		if want := map[string]error{"cancelled": graph.ErrCancelled}[r.Thread.ID]; !errors.Is(r.Err, want) {
			t.Errorf("%s: %v, want %v", r.Thread.ID, r.Err, want)
		}
	}
	slices.Sort(ids)
	if want := []string{"answered", "cancelled", "crashed"}; !slices.Equal(ids, want) {
		t.Errorf("recovered %v, want %v", ids, want)
	}
	if again, err := app.Recover(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("%v: a second round found %v", err, again)
	}
	close(b.release)
	if e := <-busy; e.err != nil {
		t.Error(e.err)
	}
}

// A task that kills its process again and again is parked as failed after five takeovers; Resume tries again. // E21 // E61
func TestCrashLoopIsParked(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	var starts atomic.Int32
	var good atomic.Bool
	life := func() (*graph.App[notes], *faultstore.Store) {
		s := faultstore.New(mem)
		g := fan(map[string]func(context.Context, *notes) error{"poison": func(context.Context, *notes) error {
			starts.Add(1)
			if !good.Load() {
				s.Crash()
			}
			return nil
		}})
		return compile(t, g, graph.Options{Store: s, StorePatience: 200 * time.Millisecond}), s
	}
	th := graph.ID("t")
	app, _ := life()
	if _, err := app.Run(t.Context(), th, nil); err == nil {
		t.Fatal("no crash")
	}
	for range 5 {
		app, s := life()
		if _, err := app.Recover(t.Context()); err != nil || !s.Down() {
			t.Fatalf("%v: it did not run", err)
		}
	}
	app, s := life()
	got, err := app.Recover(t.Context())
	if err != nil || len(got) != 1 || !errors.Is(got[0].Err, graph.ErrCrashLoop) || s.Down() || starts.Load() != 6 {
		t.Fatalf("%v %v, %d starts", err, got, starts.Load())
	}
	st, err := app.State(t.Context(), th)
	if err != nil || st.Status != checkpoint.Failed || st.Error == "" {
		t.Fatalf("%v %+v", err, st)
	}
	if got, err := app.Recover(t.Context()); err != nil || len(got) != 0 {
		t.Fatalf("%v: a parked run was recovered: %v", err, got)
	}
	good.Store(true)
	if out, err := app.Resume(t.Context(), th); err != nil || !slices.Equal(out.Log.Slice(), []string{"done"}) {
		t.Fatal(err)
	}
}

// Serve repeats Recover until its context ends, and until Close. // E61
func TestServe(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	g := fan(map[string]func(context.Context, *notes) error{"a": asking("a")})
	app := compile(t, g, graph.Options{Store: mem})
	done := make(chan graph.Recovered, 8)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- app.Serve(ctx, graph.ServeOptions{Every: time.Millisecond, Done: func(r graph.Recovered) { done <- r }})
	}()
	for i := range 3 {
		th := graph.ID(string(rune('a' + i)))
		_, err := compile(t, g, graph.Options{Store: mem}).Run(t.Context(), th, nil)
		q := paused(t, err).Questions[0]
		if _, err := mem.Answer(t.Context(), key(th), []checkpoint.Reply{{Question: q.ID, Value: []byte(`"yes"`)}}); err != nil {
			t.Fatal(err)
		}
		if r := <-done; r.Err != nil || r.Thread != th {
			t.Fatalf("%+v", r)
		}
	}
	cancel()
	wantErr(t, <-served, context.Canceled)
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantErr(t, app.Serve(t.Context(), graph.ServeOptions{}), graph.ErrClosed)
}
