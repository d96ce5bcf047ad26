package graph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// patient is a line of three nodes of which the second waits until it is asked to stop.
func patient(entered chan<- struct{}, last bool) *graph.Graph[notes] {
	g := inLine("a")
	g.Node("b", func(ctx context.Context, s *notes) error {
		entered <- struct{}{}
		for end := time.Now().Add(30 * time.Second); !graph.Draining(ctx); <-time.After(time.Millisecond) {
			if ctx.Err() != nil || time.Now().After(end) {
				return errors.New("nobody asked it to stop")
			}
		}
		s.Log.Append("b")
		return nil
	})
	g.Edge("a", "b")
	if !last {
		g.Node("c", say("c"))
		g.Edge("b", "c")
	}
	return g
}

// Drain of one thread, from another App: the node sees it, the run stops at the boundary with everything saved and the
// reason, Recover leaves it alone, and Resume continues it. Other threads run on. // E27 // E28
func TestDrainOneThread(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		entered := make(chan struct{}, 4)
		app := compile(t, patient(entered, false), graph.Options{Store: s, Lease: 300 * time.Millisecond})
		other := compile(t, patient(entered, false), graph.Options{Store: s})
		th := graph.ID("t")
		busy := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
		<-entered
		if err := other.Drain(t.Context(), th, "maintenance"); err != nil {
			t.Fatal(err)
		}
		e := <-busy
		if wantErr(t, e.err, graph.ErrDrained); !strings.Contains(e.err.Error(), "maintenance") || !slices.Equal(e.out.Log.Slice(), []string{"a", "b"}) {
			t.Fatalf("%v %q", e.err, e.out.Log.Slice())
		}
		st, err := other.State(t.Context(), th)
		if err != nil || st.Status != checkpoint.Interrupted || st.Reason != "drain" || !strings.Contains(st.Error, "maintenance") {
			t.Fatalf("%v %+v", err, st)
		}
		for _, a := range []*graph.App[notes]{app, other} {
			if got, err := a.Recover(t.Context()); err != nil || len(got) != 0 {
				t.Fatalf("%v: the drain was undone: %v", err, got)
			}
		}
		wantErr(t, other.Drain(t.Context(), th, ""), graph.ErrNothingToDo)
		out, err := other.Resume(t.Context(), th)
		if err != nil || !slices.Equal(out.Log.Slice(), []string{"a", "b", "c"}) {
			t.Fatalf("%v %q", err, out.Log.Slice())
		}
		wantErr(t, other.View().Drain(t.Context(), th, ""), graph.ErrNothingToDo)
		wantErr(t, other.Drain(t.Context(), graph.ID("nobody"), ""), graph.ErrNoThread)
	})
}

// A run that ends in the superstep in which it is drained completes, and the drain does not wait for the next run. // E27
func TestDrainInTheLastStep(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		entered, th := make(chan struct{}, 4), graph.ID("t")
		app := compile(t, patient(entered, true), graph.Options{Store: s})
		busy := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
		<-entered
		if err := app.Drain(t.Context(), th, ""); err != nil {
			t.Fatal(err)
		}
		if e := <-busy; e.err != nil {
			t.Fatal(e.err)
		}
		out, err := compile(t, inLine("a"), graph.Options{Store: s}).Run(t.Context(), th, nil)
		if err != nil || !slices.Equal(out.Log.Slice(), []string{"a", "b", "a"}) {
			t.Fatalf("%v %q", err, out.Log.Slice())
		}
	})
}

// A drain whose holder died before he saw it holds for whoever takes the run over, once. One that came when the run had
// already stopped for a question does not stop it after the answer. // E27 // E61
func TestDrainIsInheritedOnce(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, h *hand) {
		g := inLine("a", "b", "c")
		app, th := compile(t, g, graph.Options{Store: s}), graph.ID("t")
		// A process that took the thread, wrote the input, and died when it had been asked to stop.
		_, err := compile(t, g, graph.Options{Store: s, BreakBefore: []string{"a"}}).Run(t.Context(), th, nil)
		run := paused(t, err).Run
		l, err := s.Load(t.Context(), key(th), checkpoint.Active, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Acquire(t.Context(), &checkpoint.Acquire{Key: key(th), Epoch: l.Head.Epoch, Nonce: checkpoint.NewNonce(), TTL: time.Second, Resume: true}); err != nil {
			t.Fatal(err)
		}
		if err := app.Drain(t.Context(), th, "stop"); err != nil {
			t.Fatal(err)
		}
		h.move(time.Hour)
		got, err := app.Recover(t.Context())
		if err != nil || len(got) != 1 || !errors.Is(got[0].Err, graph.ErrDrained) {
			t.Fatalf("%v %v", err, got)
		}
		if out, err := app.Resume(t.Context(), th); err != nil || out.Log.Len() != 3 {
			t.Fatalf("run %s: %v", run, err)
		}
		asks, th := compile(t, fan(map[string]func(context.Context, *notes) error{"a": asking("q")}), graph.Options{Store: s}), graph.ID("asks")
		_, err = asks.Run(t.Context(), th, nil)
		waits := paused(t, err)
		late := checkpoint.Command{Key: key(th), Kind: checkpoint.CommandDrain, Body: []byte(`{"run":"` + waits.Run + `","epoch":1}`)}
		if _, err := s.Post(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		if _, err := asks.Resume(t.Context(), th, graph.AnswerOnly("yes")); err != nil {
			t.Fatal(err)
		}
	})
}

// A running thread that nobody works on, left by a closed App, is parked at once. // E27
func TestDrainOfALeftThread(t *testing.T) {
	t.Parallel()
	s, entered := new(checkpoint.Memory), make(chan struct{}, 4)
	app, th := compile(t, patient(entered, false), graph.Options{Store: s}), graph.ID("t")
	busy := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
	<-entered
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantErr(t, (<-busy).err, graph.ErrDrained)
	other := compile(t, patient(entered, false), graph.Options{Store: s})
	if err := other.Drain(t.Context(), th, "moved"); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Recover(t.Context()); err != nil || len(got) != 0 {
		t.Fatalf("%v %v", err, got)
	}
	if out, err := other.Resume(t.Context(), th); err != nil || !slices.Equal(out.Log.Slice(), []string{"a", "b", "c"}) {
		t.Fatalf("%v %q", err, out.Log.Slice())
	}
}
