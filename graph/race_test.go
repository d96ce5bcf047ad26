package graph_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// raced runs a test on both local stores, with so many rounds.
func raced(t *testing.T, memory, file int, test func(t *testing.T, s checkpoint.Store, rounds int)) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, new(checkpoint.Memory), memory)
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "t.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, s, file)
	})
}

// together calls functions at once and waits for them.
func together(fs ...func()) {
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(f)
	}
	wg.Wait()
}

// Answers that come while others make the thread run and park are never lost: once all callers are back, the thread has
// used them all. // E38 // report 138
func TestAnswersAgainstPark(t *testing.T) {
	t.Parallel()
	raced(t, 1000, 100, func(t *testing.T, s checkpoint.Store, rounds int) {
		g := fan(map[string]func(context.Context, *notes) error{"a": asking("a"), "b": asking("b"), "c": asking("c")})
		apps := []*graph.App[notes]{compile(t, g, graph.Options{Store: s}), compile(t, g, graph.Options{Store: s}), compile(t, g, graph.Options{Store: s})}
		for i := range rounds {
			th := graph.ID(fmt.Sprint(i))
			_, err := apps[0].Run(t.Context(), th, nil)
			qs := paused(t, err).Questions
			var click []func()
			for k, app := range apps {
				click = append(click, func() {
					_, err := app.Resume(t.Context(), th, graph.Answer(qs[k], qs[k].Name))
					busy, isBusy := errors.AsType[*graph.BusyError](err)
					if err != nil && !errors.Is(err, graph.ErrInterrupted) && (!isBusy || !busy.Recorded) {
						t.Errorf("round %d, question %s: %v", i, qs[k].Name, err)
					}
				})
			}
			together(click...)
			st, err := apps[0].State(t.Context(), th)
			if err != nil || st.Status != checkpoint.Completed || st.State.Said.Len() != 3 || !slices.Equal(st.State.Log.Slice(), []string{"done"}) {
				t.Fatalf("round %d: %v, %v with %d answers: the wake-up was lost", i, err, st.Status, st.State.Said.Len())
			}
		}
	})
}

// Of two answers to one question exactly one wins, and it is the one that the task gets. // E31 // E38
func TestTwoAnswersToOneQuestion(t *testing.T) {
	t.Parallel()
	raced(t, 300, 50, func(t *testing.T, s checkpoint.Store, rounds int) {
		app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": asking("a")}), graph.Options{Store: s})
		for i := range rounds {
			th := graph.ID(fmt.Sprint(i))
			_, err := app.Run(t.Context(), th, nil)
			q := paused(t, err).Questions[0]
			var errs [3]error
			together(
				func() { _, errs[0] = app.Resume(t.Context(), th, graph.Answer(q, "0")) },
				func() { _, errs[1] = app.Resume(t.Context(), th, graph.Answer(q, "1")) },
				func() { _, errs[2] = app.Resume(t.Context(), th) },
			)
			st, err := app.State(t.Context(), th)
			if err != nil || st.Status != checkpoint.Completed {
				t.Fatalf("round %d: %v %v %v", i, err, st.Status, errs)
			}
			got, _ := st.State.Said.Get("a")
			won := 0
			for k, err := range errs[:2] {
				if !errors.Is(err, graph.ErrNotPending) {
					won++
					if got != fmt.Sprint(k) {
						t.Errorf("round %d: %d won and the task got %q: %v", i, k, got, errs)
					}
				}
			}
			if won != 1 {
				t.Errorf("round %d: %d answers won: %v", i, won, errs)
			}
		}
	})
}

// A cancel that meets a pause takes effect, whichever was first: no thread says yes to a cancel and waits on. // E26 // E38
func TestCancelAgainstPark(t *testing.T) {
	t.Parallel()
	raced(t, 1000, 100, func(t *testing.T, s checkpoint.Store, rounds int) {
		g := fan(map[string]func(context.Context, *notes) error{"a": asking("a")})
		app, other := compile(t, g, graph.Options{Store: s}), compile(t, g, graph.Options{Store: s})
		for i := range rounds {
			th := graph.ID(fmt.Sprint(i))
			var runErr, cancelErr error
			together(
				func() { _, runErr = app.Run(t.Context(), th, nil) },
				func() {
					for cancelErr = graph.ErrNoThread; errors.Is(cancelErr, graph.ErrNoThread); {
						cancelErr = other.Cancel(t.Context(), th)
					}
				},
			)
			st, err := app.State(t.Context(), th)
			if err != nil || cancelErr != nil || st.Status != checkpoint.Cancelled || len(st.Questions) != 0 {
				t.Fatalf("round %d: run %v, cancel %v, state %v, status %v, %d open", i, runErr, cancelErr, err, st.Status, len(st.Questions))
			}
			if !errors.Is(runErr, graph.ErrCancelled) && !errors.Is(runErr, graph.ErrInterrupted) {
				t.Fatalf("round %d: the run ended with %v", i, runErr)
			}
		}
	})
}

// An answer against a cancel: the thread ends one way or the other, and takes the next input. // E26 // report 201
func TestAnswerAgainstCancel(t *testing.T) {
	t.Parallel()
	raced(t, 500, 50, func(t *testing.T, s checkpoint.Store, rounds int) {
		app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": asking("a")}), graph.Options{Store: s})
		for i := range rounds {
			th := graph.ID(fmt.Sprint(i))
			_, err := app.Run(t.Context(), th, nil)
			q := paused(t, err).Questions[0]
			var answered, cancelled error
			together(
				func() { _, answered = app.Resume(t.Context(), th, graph.Answer(q, "x")) },
				func() { cancelled = app.Cancel(t.Context(), th) },
			)
			st, err := app.State(t.Context(), th)
			if err != nil || len(st.Questions) != 0 || st.Status != checkpoint.Completed && st.Status != checkpoint.Cancelled {
				t.Fatalf("round %d: answer %v, cancel %v, state %v, status %v", i, answered, cancelled, err, st.Status)
			}
			_, err = app.Run(t.Context(), th, nil)
			paused(t, err)
		}
	})
}

// Many callers start one new thread: one run at a time has it, every acknowledged input is in it. // E38 // report 138 // report 149
func TestManyStartOneThread(t *testing.T) {
	t.Parallel()
	raced(t, 200, 30, func(t *testing.T, s checkpoint.Store, rounds int) {
		g := fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error { s.Total.Add(1); return nil }})
		for i := range rounds {
			th := graph.ID(fmt.Sprint(i))
			var mu sync.Mutex
			var acked []string
			var callers []func()
			for k := range 16 {
				app := compile(t, g, graph.Options{Store: s})
				callers = append(callers, func() {
					name := fmt.Sprint("caller ", k)
					_, err := app.Run(t.Context(), th, func(s *notes) { s.Log.Append(name) })
					switch {
					case err == nil:
						mu.Lock()
						acked = append(acked, name)
						mu.Unlock()
					case !errors.Is(err, graph.ErrBusy):
						t.Errorf("round %d: %v", i, err)
					}
				})
			}
			together(callers...)
			app := compile(t, g, graph.Options{Store: s})
			st, err := app.State(t.Context(), th)
			if err != nil || len(acked) == 0 || st.State.Total.Get() != len(acked) {
				t.Fatalf("round %d: %v: %d acknowledged, %d ran", i, err, len(acked), st.State.Total.Get())
			}
			got := slices.DeleteFunc(st.State.Log.Slice(), func(s string) bool { return s == "done" })
			slices.Sort(got)
			slices.Sort(acked)
			if !slices.Equal(got, acked) {
				t.Fatalf("round %d: acknowledged %v, kept %v", i, acked, got)
			}
		}
	})
}

// A call that finds a thread free, and that somebody else is faster to take each time, is ErrBusy: what the store says of its lease is not
// for callers. // E37 // E38
func TestAlwaysSomebodyFaster(t *testing.T) {
	t.Parallel()
	mem, th := new(checkpoint.Memory), graph.ID("t")
	g := fan(map[string]func(context.Context, *notes) error{"a": asking("a")})
	_, err := compile(t, g, graph.Options{Store: mem}).Run(t.Context(), th, nil)
	q := paused(t, err).Questions[0]
	slow := faultstore.New(mem)
	tries := 0
	slow.Before = func(c *faultstore.Call) error {
		if c.Name != "Acquire" {
			return nil
		}
		tries++
		return checkpoint.ErrHeld
	}
	app := compile(t, g, graph.Options{Store: slow})
	for name, call := range map[string]func() error{
		"run":    func() error { _, err := app.Run(t.Context(), graph.ID("new"), nil); return err },
		"resume": func() error { _, err := app.Resume(t.Context(), th, graph.Answer(q, "x")); return err },
		"fork":   func() error { _, err := app.Fork(t.Context(), th, 0, graph.ForkOptions{}); return err },
		"cancel": func() error { return app.Cancel(t.Context(), th) },
	} {
		tries = 0
		if err := call(); !errors.Is(err, graph.ErrBusy) || tries < 10 {
			t.Errorf("%s: %v after %d tries", name, err, tries)
		}
	}
}
