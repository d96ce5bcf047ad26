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

// turns is a graph of one node.
func turns(store checkpoint.Store, lease time.Duration) (*graph.App[State], error) {
	g := graph.New[State]("turns")
	g.Node("turn", func(_ context.Context, s *State) error {
		s.Total.Add(1)
		return nil
	})
	g.Edge(graph.Start, "turn")
	return g.Compile(graph.Options{Store: store, Lease: lease})
}

// Turns has many goroutines start runs on one thread, each of them its share one after the other, and tries again what was
// refused because the thread was busy, or another process had it, and what the store did not answer in time. What was
// acknowledged is noted in the ledger. Meanwhile it continues what other processes have left.
func Turns(ctx context.Context, store checkpoint.Store, l *Ledger, goroutines, share int, lease time.Duration) error {
	app, err := turns(store, lease)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	var served sync.WaitGroup
	served.Go(func() { app.Serve(serving, graph.ServeOptions{Every: 200 * time.Millisecond}) })
	defer served.Wait()
	defer stop()
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
	stop()
	served.Wait()
	return errors.Join(append(errs, app.Close(ctx))...)
}

// turn repeats one run until it is acknowledged. For a process that was stopped the time of the calls under way has passed when it
// wakes up, which is for it as if the store had been away.
func turn(ctx context.Context, app *graph.App[State], id string) error {
	app = app.With(graph.RunOptions{Request: id})
	for {
		_, err := app.Run(ctx, Thread, func(s *State) { s.Trail.Append(id) })
		if err == nil || errors.Is(err, graph.ErrDuplicate) {
			return nil
		}
		if !tryAgain(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Duration(rand.IntN(20)) * time.Millisecond):
		}
	}
}

func tryAgain(err error) bool {
	return errors.Is(err, graph.ErrBusy) || errors.Is(err, checkpoint.ErrHeld) || errors.Is(err, checkpoint.ErrStale) ||
		errors.Is(err, checkpoint.ErrUnavailable)
}

// LookTurns continues what is left over, and returns what the thread holds in the end: the turns, and how many nodes ran.
func LookTurns(ctx context.Context, store checkpoint.Store) ([]string, int, error) {
	app, err := turns(store, 0)
	if err != nil {
		return nil, 0, err
	}
	_, err = app.Recover(ctx)
	st, serr := app.State(ctx, Thread)
	if err = errors.Join(err, serr, app.Close(ctx)); err != nil {
		return nil, 0, err
	}
	return st.State.Trail.Slice(), st.State.Total.Get(), nil
}
