package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// E23: a node that tries its own effect again is still at the same effect: one key, one record, and nothing runs again later.
func TestOnceTriedAgainByTheNode(t *testing.T) {
	t.Parallel()
	var keys []string
	app := solo(t, func(ctx context.Context, _ *notes) error {
		for range 2 {
			_, err := graph.Once(ctx, "charge", func(_ context.Context, key string) (int, error) {
				if keys = append(keys, key); len(keys) == 1 {
					return 0, errBoom
				}
				return 1, nil
			})
			if err == nil {
				break
			}
		}
		_, err := graph.Ask[bool](ctx, "ok", "ok?")
		return err
	}, graph.Policy{}, graph.Options{Store: new(checkpoint.Memory)})
	_, err := app.Run(t.Context(), graph.ID("1"), nil)
	paused(t, err)
	if _, err := app.Resume(t.Context(), graph.ID("1"), graph.AnswerOnly(true)); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 2 || keys[0] != keys[1] {
		t.Errorf("the effect was tried under the keys %v, want one key twice", keys)
	}
}

// E24: an answer about an effect of unknown outcome is for one try. If the next try dies as well, a person is asked again.
func TestUnknownOutcomeIsAskedForEachTry(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	effects := 0
	life := func(dies int) *graph.App[notes] { // at which of its appends; 0: it lives
		store := faultstore.New(mem)
		store.At("Append", dies, faultstore.CrashBefore)
		return solo(t, func(ctx context.Context, s *notes) error {
			n, err := graph.Once(ctx, "charge", func(context.Context, string) (int, error) { effects++; return effects, nil },
				graph.OnceOptions{OnUnknown: graph.AskPerson})
			s.Total.Add(n)
			return err
		}, graph.Policy{}, graph.Options{Store: store, StorePatience: 100 * time.Millisecond})
	}
	th := graph.ID("1")
	_, err := life(2).Run(t.Context(), th, nil) // the first append is the intent, the second the result
	wantErr(t, err, checkpoint.ErrUnavailable)
	var asked []string
	for try := range 2 {
		_, err = life(0).Resume(t.Context(), th)
		q := paused(t, err).Questions[0]
		if effects != try+1 || slices.Contains(asked, q.ID) {
			t.Fatalf("question %s after %d effects; asked before: %v", q.ID, effects, asked)
		}
		asked = append(asked, q.ID)
		if try == 0 {
			_, err = life(2).Resume(t.Context(), th, graph.Answer(q, graph.Outcome[int]{}))
			wantErr(t, err, checkpoint.ErrUnavailable)
			continue
		}
		s, err := life(0).Resume(t.Context(), th, graph.Answer(q, graph.Outcome[int]{Happened: true, Result: 7}))
		if err != nil || s.Total.Get() != 7 || effects != 2 {
			t.Fatalf("%v, %d effects", err, effects)
		}
	}
}

// E24, E18: an effect that returned an error has a known outcome. The policy tries it again and no person is asked.
func TestErrorOfAnEffectIsNoUnknownOutcome(t *testing.T) {
	t.Parallel()
	n := 0
	app := solo(t, func(ctx context.Context, s *notes) error {
		got, err := graph.Once(ctx, "charge", func(context.Context, string) (int, error) {
			if n++; n < 3 {
				return 0, errBoom
			}
			return n, nil
		}, graph.OnceOptions{OnUnknown: graph.AskPerson})
		s.Total.Add(got)
		return err
	}, graph.Policy{Attempts: 3, Backoff: 1}, graph.Options{Store: new(checkpoint.Memory)})
	if s, err := app.Run(t.Context(), graph.ID("1"), nil); err != nil || s.Total.Get() != 3 {
		t.Fatalf("%v after %d effects", err, n)
	}
}

// E23: effects under several names may run at once in one node, in the first superstep and in a later one, with a store and
// without; each is recorded.
func TestOncesAtOnce(t *testing.T) {
	t.Parallel()
	const wide = 8
	for _, store := range []checkpoint.Store{new(checkpoint.Memory), nil} {
		var effects atomic.Int32
		work := func(ctx context.Context, _ *notes) error {
			errs := make([]error, wide)
			var all, begun sync.WaitGroup
			begun.Add(wide)
			for i := range wide {
				all.Go(func() {
					_, errs[i] = graph.Once(ctx, fmt.Sprint("n", i), func(context.Context, string) (int, error) {
						begun.Done()
						begun.Wait() // none ends before all have begun
						return int(effects.Add(1)), nil
					})
				})
			}
			all.Wait()
			if store != nil {
				_, err := graph.Ask[bool](ctx, "ok", "ok?")
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		}
		g := graph.New[notes]("wide")
		g.Node("a", work)
		g.Node("b", work)
		g.Edge(graph.Start, "a")
		g.Edge("a", "b")
		app := compile(t, g, graph.Options{Store: store})
		_, err := app.Run(t.Context(), graph.ID("1"), nil)
		for i := 0; i < 2 && store != nil; i++ {
			paused(t, err)
			if got := effects.Load(); got != int32(wide*(i+1)) {
				t.Fatalf("%d effects in %d supersteps", got, i+1)
			}
			_, err = app.Resume(t.Context(), graph.ID("1"), graph.AnswerOnly(true))
		}
		if err != nil || effects.Load() != 2*wide {
			t.Fatalf("%v, %d effects", err, effects.Load())
		}
	}
}
