package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// counts is what a call cost in the store.
type counts struct{ writes, reads int }

func writesOf(s *faultstore.Store) counts {
	return counts{s.Calls("Append") + s.Calls("Acquire") + s.Calls("Answer") + s.Calls("Post") + s.Calls("Release"), s.Calls("Load") + s.Calls("Read") + s.Calls("Inbox")}
}

// E53: exact numbers of calls of the store, renewals apart. A run's start is one write and one read, a superstep of one task
// one write, an end or a pause none.
func TestStoreCalls(t *testing.T) {
	t.Parallel()
	chain := func(n int) *graph.Graph[notes] { return countTo(n) }
	body := func(fn func(context.Context, *notes) error) *graph.Graph[notes] {
		g := graph.New[notes]("one")
		g.Node("work", fn)
		g.Edge(graph.Start, "work")
		return g
	}
	once := func(o ...graph.OnceOptions) *graph.Graph[notes] {
		return body(func(ctx context.Context, _ *notes) error {
			_, err := graph.Once(ctx, "pay", func(context.Context, string) (int, error) { return 1, nil }, o...)
			return err
		})
	}
	handled := body(func(context.Context, *notes) error { return errBoom })
	handled.Handle("work", heal)
	asking := body(func(ctx context.Context, _ *notes) error {
		_, err := graph.Ask[bool](ctx, "q", "?")
		return err
	})
	failing := body(func(context.Context, *notes) error { return errBoom })
	for _, c := range []struct {
		name string
		g    *graph.Graph[notes]
		want counts
	}{
		{"1 step", chain(1), counts{2, 1}},
		{"10 steps", chain(10), counts{11, 1}},
		{"100 steps", chain(100), counts{101, 1}},
		{"once", once(), counts{3, 1}},
		{"once that asks when unknown", once(graph.OnceOptions{OnUnknown: graph.AskPerson}), counts{4, 1}},
		{"a failure with a handler", handled, counts{3, 1}},
		{"a failure", failing, counts{2, 1}},
		{"a pause", asking, counts{2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := faultstore.New(new(checkpoint.Memory))
			_, err := compile(t, c.g, graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil)
			if err != nil && !errors.Is(err, errBoom) && !errors.Is(err, graph.ErrInterrupted) {
				t.Fatal(err)
			}
			if got := writesOf(store); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// E53: a superstep of k tasks is at most k writes, and those that finish together share one.
func TestStoreCallsOfParallelTasks(t *testing.T) {
	t.Parallel()
	for _, k := range []int{2, 3, 8, 50} {
		store := faultstore.New(new(checkpoint.Memory))
		g := graph.New[notes]("wide")
		work := graph.Each(g, "work", func(_ context.Context, s *notes, n int) error { s.Total.Add(n); return nil })
		args := make([]int, k)
		g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) { return work.Send(args...), nil }, "work")
		if _, err := compile(t, g, graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil); err != nil {
			t.Fatal(err)
		}
		if got := writesOf(store); got.writes > k+1 || got.reads != 1 {
			t.Errorf("%d tasks: %+v", k, got)
		}
	}
}

// E53: what continuing costs: the acquisition, the supersteps, one read; a takeover after a crash reads twice; an answer is
// one write, and its call reads once more to see the time that the store gave it.
func TestStoreCallsOfResume(t *testing.T) {
	t.Parallel()
	store := faultstore.New(new(checkpoint.Memory))
	app := compile(t, countTo(5), graph.Options{Store: store, StepLimit: 3, StorePatience: 20 * time.Millisecond})
	if _, err := app.Run(t.Context(), graph.ID("1"), nil); !errors.Is(err, graph.ErrStepLimit) {
		t.Fatal(err)
	}
	before := writesOf(store)
	if _, err := app.Resume(t.Context(), graph.ID("1")); err != nil {
		t.Fatal(err)
	}
	after := writesOf(store)
	if d := (counts{after.writes - before.writes, after.reads - before.reads}); d != (counts{3, 1}) {
		t.Errorf("a resume of two steps: %+v", d)
	}

	inner := new(checkpoint.Memory)
	dying := faultstore.New(inner)
	dying.At("Append", 2, faultstore.CrashBefore)
	app = compile(t, countTo(5), graph.Options{Store: dying, StorePatience: 20 * time.Millisecond})
	if _, err := app.Run(t.Context(), graph.ID("1"), nil); !errors.Is(err, checkpoint.ErrUnavailable) {
		t.Fatal(err)
	}
	store = faultstore.New(inner)
	s, err := compile(t, countTo(5), graph.Options{Store: store}).Resume(t.Context(), graph.ID("1"))
	if got := writesOf(store); err != nil || s.Total.Get() != 5 || got != (counts{5, 2}) {
		t.Errorf("a takeover before the last four steps: %+v, %v", got, err)
	}

	store = faultstore.New(new(checkpoint.Memory))
	app = solo(t, func(ctx context.Context, s *notes) error {
		ok, err := graph.Ask[bool](ctx, "q", "?")
		s.Value.Set(fmt.Sprint(ok))
		return err
	}, graph.Policy{}, graph.Options{Store: store})
	_, err = app.Run(t.Context(), graph.ID("1"), nil)
	q := paused(t, err).Questions[0]
	before = writesOf(store)
	if _, err := app.Resume(t.Context(), graph.ID("1"), graph.Answer(q, true)); err != nil {
		t.Fatal(err)
	}
	after = writesOf(store)
	if d := (counts{after.writes - before.writes, after.reads - before.reads}); d != (counts{3, 2}) {
		t.Errorf("an answer, the acquisition, one step: %+v", d)
	}
}

// E60, report 205: with Async at most 64 entries are not written, those under way included, however slow the store is; Exit
// writes at the end.
func TestAsyncIsBounded(t *testing.T) {
	t.Parallel()
	var stored atomic.Int64
	store := faultstore.New(new(checkpoint.Memory))
	store.Before = func(c *faultstore.Call) error {
		for range 2000 { // slow: the run would be far ahead by now
			runtime.Gosched()
		}
		return nil
	}
	store.After = func(c *faultstore.Call) error {
		if c.Append != nil {
			stored.Store(c.Append.Records[len(c.Append.Records)-1].Step)
		}
		return c.Err
	}
	most := int64(0)
	g := graph.New[notes]("async")
	g.Branch("count", func(_ context.Context, s *notes) (graph.Next, error) {
		s.Total.Add(1)
		most = max(most, int64(s.Total.Get())-1-stored.Load())
		if s.Total.Get() == 1000 {
			return graph.To(graph.End), nil
		}
		return graph.To("count"), nil
	}, "count", graph.End)
	g.Edge(graph.Start, "count")
	out := <-start(compile(t, g, graph.Options{Store: store, Durability: graph.Async}), context.Background(), "1")
	if out.err != nil || out.s.Total.Get() != 1000 || most > 64 || most < 2 {
		t.Fatalf("%v; it ran %d entries ahead of the store", out.err, most)
	}

	store = faultstore.New(new(checkpoint.Memory))
	app := compile(t, countTo(500), graph.Options{Store: store, Durability: graph.AtExit})
	if _, err := app.Run(t.Context(), graph.ID("1"), nil); err != nil || store.Calls("Append") != 1 {
		t.Fatalf("%v, %d appends", err, store.Calls("Append"))
	}
	if st, err := app.State(t.Context(), graph.ID("1")); err != nil || st.State.Total.Get() != 500 || st.Status != checkpoint.Completed {
		t.Fatalf("%+v, %v", st, err)
	}
}

// E60: Once, a question and the end flush what is queued before they return, in every durability.
func TestFlushPoints(t *testing.T) {
	t.Parallel()
	for _, mode := range []graph.Durability{graph.Sync, graph.Async, graph.AtExit} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			store := new(checkpoint.Memory)
			g := countTo(10)
			g.Node("effect", func(ctx context.Context, s *notes) error {
				_, err := graph.Once(ctx, "pay", func(context.Context, string) (int, error) {
					return 1, nil
				})
				if n := rows(t, store, "1"); err != nil || n < 12 {
					t.Errorf("after the Once %d records are stored, want the input, ten entries, the record; %v", n, err)
				}
				if _, err := graph.Ask[bool](ctx, "q", "?"); err != nil {
					return err
				}
				return nil
			})
			g.Policy("effect", graph.Policy{Deferred: true})
			g.Edge(graph.Start, "effect")
			app := compile(t, g, graph.Options{Store: store, Durability: mode})
			_, err := app.Run(t.Context(), graph.ID("1"), nil)
			in := paused(t, err)
			st, err := app.State(t.Context(), graph.ID("1"))
			if err != nil || len(st.Questions) != 1 || st.Questions[0].ID != in.Questions[0].ID {
				t.Fatalf("%+v, %v", st, err)
			}
			if _, err := app.Resume(t.Context(), graph.ID("1"), graph.AnswerOnly(true)); err != nil {
				t.Fatal(err)
			}
			if st, err := app.State(t.Context(), graph.ID("1")); err != nil || st.Status != checkpoint.Completed || st.State.Total.Get() != 10 {
				t.Fatalf("%+v, %v", st, err)
			}
		})
	}
}

// E60: an append that fails for good ends the run, and nothing is told to have been saved.
func TestAsyncStoreAway(t *testing.T) {
	t.Parallel()
	for _, mode := range []graph.Durability{graph.Sync, graph.Async, graph.AtExit} {
		inner := new(checkpoint.Memory)
		store := faultstore.New(inner)
		store.At("Append", 1, faultstore.CrashBefore)
		_, err := compile(t, countTo(200), graph.Options{Store: store, Durability: mode, StorePatience: 20 * time.Millisecond}).Run(t.Context(), graph.ID("1"), nil)
		if !errors.Is(err, checkpoint.ErrUnavailable) {
			t.Fatalf("%s: %v", mode, err)
		}
		s, err := compile(t, countTo(200), graph.Options{Store: inner}).Resume(t.Context(), graph.ID("1"))
		if err != nil || s.Total.Get() != 200 {
			t.Fatalf("%s: %v", mode, err)
		}
	}
}
