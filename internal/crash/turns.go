package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// Turns has many goroutines start runs on one thread, each of them its share one after the other, and tries again what was
// refused because the thread was busy. What was acknowledged is noted in the ledger.
func Turns(ctx context.Context, store checkpoint.Store, l *Ledger, goroutines, share int) error {
	g := graph.New[State]("turns")
	g.Node("turn", func(_ context.Context, s *State) error {
		s.Total.Add(1)
		return nil
	})
	g.Edge(graph.Start, "turn")
	app, err := g.Compile(graph.Options{Store: store})
	if err != nil {
		return err
	}
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for n := range goroutines {
		wg.Go(func() {
			for k := 0; k < share && errs[n] == nil; k++ {
				id := fmt.Sprintf("%d.%d.%d", os.Getpid(), n, k)
				if errs[n] = turn(ctx, app, id); errs[n] == nil {
					l.Note("turn", id)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, app.Close(ctx))...)
}

// turn repeats one run until it is acknowledged.
func turn(ctx context.Context, app *graph.App[State], id string) error {
	app = app.With(graph.RunOptions{Request: id})
	for {
		_, err := app.Run(ctx, Thread, func(s *State) { s.Trail.Append(id) })
		if err == nil || errors.Is(err, graph.ErrDuplicate) {
			return nil
		}
		if !errors.Is(err, graph.ErrBusy) && !errors.Is(err, checkpoint.ErrHeld) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Duration(rand.IntN(20)) * time.Millisecond):
		}
	}
}

// LookTurns is what the thread holds in the end: the turns in order.
func LookTurns(ctx context.Context, store checkpoint.Store) ([]string, int, error) {
	g := graph.New[State]("turns")
	g.Node("turn", func(context.Context, *State) error { return nil })
	g.Edge(graph.Start, "turn")
	app, err := g.Compile(graph.Options{Store: store})
	if err != nil {
		return nil, 0, err
	}
	st, err := app.State(ctx, Thread)
	if err != nil {
		return nil, 0, errors.Join(err, app.Close(ctx))
	}
	return st.State.Trail.Slice(), st.State.Total.Get(), app.Close(ctx)
}
