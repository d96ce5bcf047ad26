package graph_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// E21, E61: what the store refuses for good is parked as failed at once: Recover does not run it again and again, Resume does.
func TestRefusedWriteIsParked(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	store := faultstore.New(mem)
	var refuse atomic.Bool
	refuse.Store(true)
	store.Before = func(c *faultstore.Call) error {
		if refuse.Load() && c.Append != nil && c.Append.Records[0].Kind == checkpoint.KindEntry {
			return checkpoint.ErrTooLarge
		}
		return nil
	}
	ran := 0
	app := solo(t, func(_ context.Context, s *notes) error { ran++; s.Total.Add(1); return nil }, graph.Policy{}, graph.Options{Store: store})
	_, err := app.Run(t.Context(), graph.ID("1"), nil)
	wantErr(t, err, checkpoint.ErrTooLarge)
	if got, err := app.Recover(t.Context()); err != nil || len(got) != 0 || ran != 1 {
		t.Fatalf("%v: recovered %+v, the node ran %d times", err, got, ran)
	}
	heads, err := mem.Threads(t.Context(), checkpoint.ThreadFilter{Status: checkpoint.Failed})
	if err != nil || len(heads) != 1 || heads[0].Held() {
		t.Fatalf("%v: %+v, want the thread failed and free", err, heads)
	}
	refuse.Store(false)
	if s, err := app.Resume(t.Context(), graph.ID("1")); err != nil || s.Total.Get() != 1 {
		t.Fatal(err)
	}
}

// E30: a question that no store would take is an error of the node, before anything is written.
func TestQuestionThatNoStoreTakes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{strings.Repeat("x", checkpoint.MaxKeyBytes+1), "a\x00b", "\xff"} {
		app := solo(t, func(ctx context.Context, _ *notes) error {
			_, err := graph.Ask(ctx, "ok", "ok?", graph.AskOptions[bool]{NotBy: name})
			return err
		}, graph.Policy{}, graph.Options{Store: new(checkpoint.Memory)})
		_, err := app.Run(t.Context(), graph.ID("1"), nil)
		if e, ok := errors.AsType[*graph.NodeError](err); !ok || e.Node != "work" {
			t.Errorf("NotBy of %d bytes: %v, want the node to fail", len(name), err)
		}
	}
}
