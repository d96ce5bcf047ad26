package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// E20: a handler gets the typed cause while the run lives, and its text alone in the process that goes on after a crash.
func TestCauseOfAHandler(t *testing.T) {
	t.Parallel()
	var causes []string
	g := graph.New[notes]("g")
	g.Node("a", func(context.Context, *notes) error { return fmt.Errorf("working: %w", errBoom) })
	g.Edge(graph.Start, "a")
	g.Handle("a", func(_ context.Context, _ *notes, cause error) (graph.Next, error) {
		causes = append(causes, fmt.Sprint(cause, " typed: ", errors.Is(cause, errBoom)))
		return graph.Next{}, nil
	})
	mem := new(checkpoint.Memory)
	dying := faultstore.New(mem)
	dying.At("Append", 2, faultstore.CrashBefore) // the first says that the handler has the word
	_, err := compile(t, g, graph.Options{Store: dying, StorePatience: 100 * time.Millisecond}).Run(t.Context(), graph.ID("1"), nil)
	wantErr(t, err, checkpoint.ErrUnavailable)
	if _, err := compile(t, g, graph.Options{Store: mem}).Resume(t.Context(), graph.ID("1")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"working: boom typed: true", "working: boom typed: false"}; !slices.Equal(causes, want) {
		t.Fatalf("causes %q, want %q", causes, want)
	}
}

// E20: when the handler has failed too, the task has, and Resume runs it from the node, in the same App and in another one.
func TestResumeAfterAFailedHandler(t *testing.T) {
	t.Parallel()
	nodes, handlers := 0, 0
	g := graph.New[notes]("g")
	g.Node("a", func(context.Context, *notes) error { nodes++; return errBoom })
	g.Edge(graph.Start, "a")
	g.Handle("a", func(_ context.Context, s *notes, cause error) (graph.Next, error) {
		if handlers++; handlers < 3 {
			return graph.Next{}, errors.New("handler")
		}
		s.Value.Set(cause.Error())
		return graph.Next{}, nil
	})
	mem := new(checkpoint.Memory)
	app := compile(t, g, graph.Options{Store: mem})
	if _, err := app.Run(t.Context(), graph.ID("1"), nil); err == nil {
		t.Fatal("the handler did not fail")
	}
	if _, err := app.Resume(t.Context(), graph.ID("1")); err == nil || nodes != 2 || handlers != 2 {
		t.Fatalf("%v: node %d times, handler %d times", err, nodes, handlers)
	}
	s, err := compile(t, g, graph.Options{Store: mem}).Resume(t.Context(), graph.ID("1"))
	if err != nil || nodes != 3 || handlers != 3 || s.Value.Get() != "boom" {
		t.Fatalf("%v: node %d times, handler %d times", err, nodes, handlers)
	}
}
