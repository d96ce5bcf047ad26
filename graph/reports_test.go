package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/state"
)

// E55: a parked thread holds no goroutine, and nothing of its run is kept in memory. It runs alone, before the parallel tests.
func TestParkedThreadsHoldNothing(t *testing.T) {
	app := solo(t, func(ctx context.Context, _ *notes) error {
		_, err := graph.Ask[bool](ctx, "q", "?")
		return err
	}, graph.Policy{}, graph.Options{Store: new(checkpoint.Memory)})
	type big struct{ _ [1 << 16]byte }
	before := runtime.NumGoroutine()
	var kept []weak.Pointer[big]
	for i := range 200 {
		b := new(big)
		kept = append(kept, weak.Make(b))
		_, err := app.Run(context.WithValue(context.Background(), callerKey{}, b), graph.ID(fmt.Sprint(i)), nil)
		paused(t, err)
	}
	for range 100 { // goroutines that have said that they are done may need a moment to be gone
		runtime.GC()
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines before, %d after", before, n)
	}
	alive := 0
	for _, k := range kept {
		if k.Value() != nil {
			alive++
		}
	}
	if alive > 2 {
		t.Errorf("%d of 200 parked runs are still in memory", alive)
	}
}

// report 138, report 148, report 149: of callers that start one thread at once exactly one wins, the others learn that it is
// busy, and what was acknowledged is in the history.
func TestOneOfManyStarts(t *testing.T) {
	t.Parallel()
	app := solo(t, say("ran"), graph.Policy{}, graph.Options{Store: new(checkpoint.Memory)})
	for round := range 50 {
		th := graph.ID(fmt.Sprint(round))
		var wg sync.WaitGroup
		errs := make([]error, 16)
		for i := range errs {
			wg.Go(func() { _, errs[i] = app.Run(context.Background(), th, func(s *notes) { s.Total.Add(1) }) })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, graph.ErrBusy) && !errors.Is(err, checkpoint.ErrHeld):
				t.Fatal(err)
			}
		}
		s, err := app.State(t.Context(), th)
		if err != nil || won == 0 || s.State.Log.Len() != won || s.State.Total.Get() != won {
			t.Fatalf("%d calls succeeded, the state has %d runs and %d inputs, %v", won, s.State.Log.Len(), s.State.Total.Get(), err)
		}
	}
}

// report 145: what a node wrote is cut off from what it still does with its own values.
func TestNodeKeepsChangingItsValue(t *testing.T) {
	t.Parallel()
	type tree struct {
		Kids map[string][]int `json:"kids"`
	}
	type forest struct {
		Tree state.Last[tree] `json:"tree"`
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	g := graph.New[forest]("mutates")
	g.Node("a", func(_ context.Context, s *forest) error {
		kids := map[string][]int{"x": {1, 2, 3}}
		s.Tree.Set(tree{kids})
		if len(s.Tree.Get().Kids["x"]) != 3 {
			return errBoom
		}
		go func() {
			defer close(stopped)
			<-stop
			kids["x"][0], kids["y"] = 99, nil
		}()
		return nil
	})
	g.Node("b", func(_ context.Context, s *forest) error {
		s.Tree.Get().Kids["x"][1] = 77 // a reader's copy
		close(stop)
		<-stopped
		return nil
	})
	g.Edge(graph.Start, "a")
	g.Edge("a", "b")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	live, err := app.Run(t.Context(), graph.ID("1"), nil)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := app.State(t.Context(), graph.ID("1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*forest{live, saved.State} {
		if got := fmt.Sprint(s.Tree.Get().Kids); got != "map[x:[1 2 3]]" {
			t.Errorf("the state is %s", got)
		}
	}
}

// report 207: a value that does not change is stored once, however many steps there are.
func TestUnchangedValueIsStoredOnce(t *testing.T) {
	t.Parallel()
	var stored int
	var mu sync.Mutex
	store := faultstore.New(new(checkpoint.Memory))
	note := func(recs []checkpoint.Record) {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range recs {
			stored += len(r.Body)
		}
	}
	store.Before = func(c *faultstore.Call) error {
		if c.Append != nil {
			note(c.Append.Records)
		}
		if c.Acquire != nil {
			note(c.Acquire.Records)
		}
		return nil
	}
	const size = 1 << 20
	app := compile(t, countTo(500), graph.Options{Store: store})
	if _, err := app.Run(t.Context(), graph.ID("1"), func(s *notes) { s.Said.Put("prompt", strings.Repeat("x", size)) }); err != nil {
		t.Fatal(err)
	}
	if stored > 2*size+500*1000 {
		t.Errorf("%d bytes stored for a value of %d", stored, size)
	}
}

// report 209: reading an unknown thread leaves nothing behind.
func TestReadingUnknownThreads(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	app := solo(t, nop, graph.Policy{}, graph.Options{Store: store})
	for i := range 1000 {
		th := graph.ID(fmt.Sprint("none", i))
		_, st := app.State(t.Context(), th)
		_, re := app.Resume(t.Context(), th)
		for _, err := range []error{st, re, app.Cancel(t.Context(), th)} {
			wantErr(t, err, graph.ErrNoThread)
		}
	}
	heads, err := store.Threads(t.Context(), checkpoint.ThreadFilter{})
	if err != nil || len(heads) != 0 {
		t.Fatalf("%d threads, %v", len(heads), err)
	}
}

// E43: At the head is a plain resume, elsewhere ErrNotHead; nothing but open questions is the same Interrupted again; one call
// may carry an answer, a write and a goto; a call that does not fit changes nothing.
func TestResumeForms(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("forms")
	g.Node("ask", func(ctx context.Context, s *notes) error {
		n, err := graph.Ask[int](ctx, "q", "?")
		s.Total.Add(n)
		return err
	})
	g.Node("extra", say("extra"))
	g.Route(graph.Start, to("ask"), "ask", "extra")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("1")
	_, err := app.Run(t.Context(), th, nil)
	first := paused(t, err)
	st, err := app.State(t.Context(), th)
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.Resume(t.Context(), th)
	if in := paused(t, err); in.Questions[0].ID != first.Questions[0].ID || in.Run != first.Run {
		t.Fatalf("asked again as %s, was %s", in.Questions[0].ID, first.Questions[0].ID)
	}
	_, err = app.Resume(t.Context(), th, graph.AtEntry(st.Entry), graph.Update(func(*int) {}))
	if err == nil {
		t.Fatal("an update of another type")
	}
	for _, bad := range [][]graph.Command{
		{graph.AnswerOnly(5), graph.Goto(graph.To("nowhere"))},
		{graph.AnswerOnly(5), graph.Update(func(*notes) { panic("boom") })},
		{graph.AnswerOnly(5), graph.AtEntry(st.Entry + 1)},
		{graph.AnswerOnly(5), graph.AnswerOnly(6)},
	} {
		if _, err := app.Resume(t.Context(), th, bad...); err == nil {
			t.Fatal("a call that does not fit")
		}
		now, err := app.State(t.Context(), th)
		if err != nil || len(now.Questions) != 1 || now.Entry != st.Entry || now.Status != st.Status || now.Reason != st.Reason {
			t.Fatalf("a refused call has changed the thread: %+v, %v", now, err)
		}
	}
	s, err := app.Resume(t.Context(), th, graph.AtEntry(st.Entry), graph.AnswerOnly(5), graph.Update(func(s *notes) { s.Total.Add(100) }), graph.Goto(graph.To("extra")))
	if err != nil || s.Total.Get() != 105 || strings.Join(s.Log.Slice(), " ") != "extra" {
		t.Fatalf("%d %v, %v", s.Total.Get(), s.Log.Slice(), err)
	}
	wantErr(t, func() error { _, err := app.Resume(t.Context(), th); return err }(), graph.ErrNothingToDo)
}
