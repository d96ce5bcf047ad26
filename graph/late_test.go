package graph_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// E19: what a node leaves running after it has returned is as late as what an abandoned node does.
func TestCallsAfterTheNodeReturned(t *testing.T) {
	t.Parallel()
	returned, late := make(chan struct{}), make(chan []error, 1)
	g := graph.New[notes]("leaves")
	g.Node("leaves", func(ctx context.Context, _ *notes) error {
		go func() {
			<-returned
			ran := false
			_, once := graph.Once(ctx, "pay", func(context.Context, string) (int, error) { ran = true; return 1, nil })
			_, ask := graph.Ask[bool](ctx, "q", "?")
			errs := []error{once, ask, graph.Emit(ctx, "e", 1), graph.Heartbeat(ctx)}
			if ran {
				errs = append(errs, errors.New("the effect ran"))
			}
			late <- errs
		}()
		return nil
	})
	g.Node("next", func(context.Context, *notes) error {
		close(returned)
		for i, err := range <-late {
			if !errors.Is(err, graph.ErrStale) {
				t.Errorf("late call %d: %v, want ErrStale", i, err)
			}
		}
		return nil
	})
	g.Edge(graph.Start, "leaves")
	g.Edge("leaves", "next")
	if _, err := compile(t, g, graph.Options{Store: new(checkpoint.Memory)}).Run(t.Context(), graph.ID("1"), nil); err != nil {
		t.Fatal(err)
	}
}
