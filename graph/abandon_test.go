package graph_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphtest"
)

// E19: a node may look at its context while the run leaves it behind.
func TestNodeLooksAroundWhileAbandoned(t *testing.T) {
	t.Parallel()
	clock, release, looking := new(graphtest.Clock), make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	g := graph.New[notes]("g")
	g.Node("first", nop)
	g.Node("deaf", func(ctx context.Context, _ *notes) error {
		close(looking)
		for {
			select {
			case <-release:
				return nil
			default:
				graph.Info(ctx)
				runtime.Gosched()
			}
		}
	})
	g.Node("ends", func(context.Context, *notes) error { <-looking; cancel(); return nil })
	g.Edge(graph.Start, "first")
	g.Edge("first", "deaf")
	g.Edge("first", "ends")
	app := compile(t, g, graph.Options{Clock: clock})
	out := turn(clock, start(app, ctx, "1"))
	wantErr(t, out.err, context.Canceled)
	close(release)
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// E19, E30: a node that asks and is then cut off by its time-out has hidden nothing: the run ends with the time-out.
func TestQuestionBeforeATimeout(t *testing.T) {
	t.Parallel()
	app := solo(t, func(ctx context.Context, _ *notes) error {
		_, err := graph.Ask[bool](ctx, "ok", "ok?")
		<-ctx.Done()
		return err
	}, graph.Policy{Timeout: time.Millisecond}, graph.Options{Store: new(checkpoint.Memory)})
	_, err := app.Run(t.Context(), graph.ID("1"), nil)
	wantErr(t, err, graph.ErrTimeout)
	if errors.Is(err, graph.ErrSwallowed) {
		t.Fatalf("a node that hid nothing is accused: %v", err)
	}
}
