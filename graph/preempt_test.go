package graph_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// Preempt ends what is under way as Cancel does and then starts, whatever the thread was at: in this App, in another, waiting,
// failed, drained. What had finished is kept; questions are closed; the old run has ended. // E37 // E26 // report 140
func TestPreempt(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		for _, before := range []string{"stuck 0", "ask 0", "fail 0", "plain 0"} {
			b, th := newStuck(), graph.ID(before)
			app := compile(t, window(b), graph.Options{Store: s, Lease: 3 * time.Second})
			other := compile(t, window(nil), graph.Options{Store: s, Lease: 3 * time.Second})
			busy := going(func() (*notes, error) { return app.Run(t.Context(), th, give(before)) })
			var e end
			if before == "stuck 0" {
				<-b.entered
			} else {
				e = <-busy
			}
			out, err := other.With(graph.RunOptions{OnBusy: graph.Preempt, By: "ada"}).Run(t.Context(), th, give("plain 1"))
			if err != nil || !slices.Equal(out.Log.Slice(), []string{before, "plain 1"}) {
				t.Fatalf("%s: %v", before, err)
			}
			if before == "stuck 0" {
				e = <-busy
				wantErr(t, e.err, graph.ErrCancelled)
			}
			runs, err := s.Runs(t.Context(), checkpoint.RunFilter{Tenant: th.Tenant, Thread: th.ID})
			if err != nil || len(runs) != 2 || slices.ContainsFunc(runs, func(r checkpoint.Run) bool { return !r.Status.Ended() }) {
				t.Fatalf("%s: %v %+v", before, err, runs)
			}
			st, err := app.State(t.Context(), th)
			if err != nil || len(st.Questions) != 0 {
				t.Fatalf("%s: %v %+v", before, err, st.Questions)
			}
		}
	})
}

// A holder that does not yield is fenced after a third of its lease: nothing that it does afterwards counts. // E37 // E38
func TestPreemptFences(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		entered, release := make(chan struct{}, 1), make(chan struct{})
		deaf := window(nil)
		deaf.Node("deaf", func(ctx context.Context, s *notes) error {
			entered <- struct{}{}
			<-release
			_, err := graph.Once(ctx, "late", func(context.Context, string) (int, error) { return 1, nil })
			s.Log.Append("too late")
			return err
		})
		deaf.Edge("plain", "deaf")
		app := compile(t, deaf, graph.Options{Store: s, Lease: 300 * time.Millisecond, Grace: time.Hour})
		other, th := compile(t, window(nil), graph.Options{Store: s, Lease: 300 * time.Millisecond}), graph.ID("t")
		busy := going(func() (*notes, error) { return app.Run(t.Context(), th, give("plain 0")) })
		<-entered
		out, err := other.With(graph.RunOptions{OnBusy: graph.Preempt}).Run(t.Context(), th, give("plain 1"))
		if err != nil || !slices.Equal(out.Log.Slice(), []string{"plain 0", "plain 1"}) {
			t.Fatalf("%v", err)
		}
		close(release)
		if e := <-busy; e.err == nil {
			t.Fatal("the fenced run has completed")
		}
		st, err := other.State(t.Context(), th)
		if err != nil || !slices.Equal(st.State.Log.Slice(), []string{"plain 0", "plain 1"}) || st.Status != checkpoint.Completed {
			t.Fatalf("%v %+v", err, st)
		}
	})
}

// What is queued stays queued behind an input that preempts; a repeated request does not preempt its own run. // E37
func TestPreemptAndTheQueue(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		b, th := newStuck(), graph.ID("t")
		app := compile(t, window(b), graph.Options{Store: s})
		busy := going(func() (*notes, error) { return app.Run(t.Context(), th, give("stuck 0")) })
		<-b.entered
		_, err := app.With(graph.RunOptions{OnBusy: graph.Enqueue}).Run(t.Context(), th, give("plain 2"))
		queued(t, err)
		now := app.With(graph.RunOptions{OnBusy: graph.Preempt, Request: "r"})
		next := going(func() (*notes, error) { return now.Run(t.Context(), th, give("stuck 1")) })
		wantErr(t, (<-busy).err, graph.ErrCancelled)
		<-b.entered
		_, err = now.Run(t.Context(), th, give("stuck 1"))
		wantErr(t, err, graph.ErrDuplicate)
		close(b.release)
		if e := <-next; e.err != nil {
			t.Fatal(e.err)
		}
		if got, want := idle(t, app, s, th, 3), []string{"stuck 0", "stuck 1", "released", "plain 2"}; !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// A preempting caller that gives up has cancelled the run, and nothing else. // E37
func TestPreemptGivesUp(t *testing.T) {
	t.Parallel()
	s, entered, release := new(checkpoint.Memory), make(chan struct{}, 1), make(chan struct{})
	g := inLine("a")
	g.Node("deaf", func(ctx context.Context, s *notes) error { entered <- struct{}{}; <-release; return nil })
	g.Edge("a", "deaf")
	app, th := compile(t, g, graph.Options{Store: s, Lease: time.Hour, Grace: time.Hour}), graph.ID("t")
	busy := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	gone := going(func() (*notes, error) { return app.With(graph.RunOptions{OnBusy: graph.Preempt}).Run(ctx, th, nil) })
	cancel()
	wantErr(t, (<-gone).err, context.Canceled)
	close(release)
	<-busy
	if out, err := app.With(graph.RunOptions{OnBusy: graph.Preempt}).Run(t.Context(), th, nil); err != nil || out.Log.Len() == 0 {
		// The graph is deaf no longer: release is closed.
		t.Fatal(err)
	}
}
