package graph_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
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
