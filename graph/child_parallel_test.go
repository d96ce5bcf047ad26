package graph_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// Two calls at once under one name could change places after a pause, so the second is refused; under names of their own both run. // E44 E23
func TestParallelCallsNeedNames(t *testing.T) {
	t.Parallel()
	refused := make(chan struct{})
	inner := chain(t, "inner", graph.Options{}, func(context.Context, *notes) error { <-refused; return nil })
	app := chain(t, "root", graph.Options{Store: new(checkpoint.Memory)}, func(ctx context.Context, s *notes) error {
		errs := make(chan error, 3)
		call := func(name string) { _, err := graph.Call(ctx, name, inner, nil); errs <- err }
		go call("one")
		go call("one")
		if err := <-errs; !errors.Is(err, graph.ErrCallBusy) {
			return errors.Join(errors.New("both went on"), err)
		}
		go call("two")
		close(refused)
		return errors.Join(<-errs, <-errs)
	})
	if _, err := app.Run(t.Context(), graph.ID("t"), nil); err != nil {
		t.Fatal(err)
	}
}
