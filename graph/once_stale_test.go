package graph_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// E23, E38: a node that goes on although its thread was taken over must not repeat an effect that the new holder has recorded.
func TestOnceDoesNotRunForALostThread(t *testing.T) {
	t.Parallel()
	var hours, effects atomic.Int64
	start := time.Now()
	mem := checkpoint.Memory{Now: func() time.Time { return start.Add(time.Duration(hours.Load()) * time.Hour) }}
	build := func(first bool, lease time.Duration, running chan<- struct{}) *graph.App[notes] {
		g := graph.New[notes]("g")
		g.Node("pay", func(ctx context.Context, _ *notes) error {
			if first {
				close(running)
				<-ctx.Done() // the keeper has noticed; this node does not care
			}
			_, err := graph.Once(ctx, "pay", func(context.Context, string) (bool, error) { effects.Add(1); return true, nil })
			return err
		})
		g.Edge(graph.Start, "pay")
		return compile(t, g, graph.Options{Store: &mem, Lease: lease})
	}
	running, done := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := build(true, 30*time.Millisecond, running).Run(t.Context(), graph.ID("1"), nil)
		done <- err
	}()
	<-running
	second := build(false, time.Hour, nil)
	for taken := 0; taken == 0; { // a renewal of the first holder may come in between
		hours.Add(1)
		got, err := second.Recover(t.Context())
		if err != nil || len(got) > 0 && got[0].Err != nil {
			t.Fatalf("Recover = %+v, %v", got, err)
		}
		taken = len(got)
	}
	if err := <-done; !errors.Is(err, graph.ErrStale) {
		t.Errorf("the late run = %v; want ErrStale", err)
	}
	if n := effects.Load(); n != 1 {
		t.Errorf("the effect happened %d times; want once", n)
	}
}

// E23, E38: while the lease has run out and the store does not say whose the thread is, no effect begins.
func TestOnceWaitsForTheLease(t *testing.T) {
	t.Parallel()
	var effects atomic.Int64
	const lease = 300 * time.Millisecond
	store := faultstore.New(new(checkpoint.Memory))
	var mu sync.Mutex
	var began time.Time // after the acquisition
	expired, refused := make(chan struct{}), 0
	store.Before = func(c *faultstore.Call) error {
		mu.Lock()
		defer mu.Unlock()
		if c.Name != "Renew" || refused < 0 {
			return nil
		}
		if refused == 0 && !began.IsZero() && time.Since(began) > lease { // nothing has renewed it: it has run out for certain
			close(expired)
			refused = 1
		}
		if effects.Load() != 0 {
			t.Error("the effect happened while the lease was in doubt")
		}
		if refused > 0 {
			refused++
		}
		if refused > 4 {
			refused = -1
		}
		return checkpoint.ErrUnavailable
	}
	g := graph.New[notes]("g")
	g.Node("pay", func(ctx context.Context, _ *notes) error {
		mu.Lock()
		began = time.Now()
		mu.Unlock()
		<-expired
		_, err := graph.Once(ctx, "pay", func(context.Context, string) (bool, error) { effects.Add(1); return true, nil })
		return err
	})
	g.Edge(graph.Start, "pay")
	if _, err := compile(t, g, graph.Options{Store: store, Lease: lease}).Run(t.Context(), graph.ID("1"), nil); err != nil {
		t.Fatal(err)
	}
	if effects.Load() != 1 || refused >= 0 {
		t.Errorf("the effect happened %d times; want once, after the store has answered", effects.Load())
	}
}
