package graph_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphtest"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// E29, E61: a run that Close has drained waits for nobody: it stays running, free, and Recover of another App continues it.
func TestDrainedRunIsRecovered(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	var app *graph.App[notes]
	g := inLine("a", "b")
	g.Node("c", func(context.Context, *notes) error {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		app.Close(ended) // drains, and does not wait
		return nil
	})
	g.Node("d", say("d"))
	g.Edge("b", "c")
	g.Edge("c", "d")
	app = compile(t, g, graph.Options{Store: store})
	_, err := app.Run(t.Context(), graph.ID("1"), nil)
	wantErr(t, err, graph.ErrDrained)
	heads, err := store.Threads(t.Context(), checkpoint.ThreadFilter{Status: checkpoint.Running})
	if err != nil || len(heads) != 1 || heads[0].Held() {
		t.Fatalf("%v: %+v, want the thread running and free", err, heads)
	}
	other := compile(t, g, graph.Options{Store: store})
	if got, err := other.Recover(t.Context()); err != nil || len(got) != 1 || got[0].Err != nil {
		t.Fatalf("Recover: %+v, %v", got, err)
	}
	st, err := other.State(t.Context(), graph.ID("1"))
	if err != nil || st.Status != checkpoint.Completed || !slices.Equal(st.State.Log.Slice(), []string{"a", "b", "d"}) {
		t.Fatalf("%v: %+v", err, st)
	}
}

// E29: Close ends a Serve that rests for an hour between two rounds.
func TestCloseEndsARestingServe(t *testing.T) {
	t.Parallel()
	clock, served := new(graphtest.Clock), make(chan error, 1)
	app := compile(t, inLine("a"), graph.Options{Store: new(checkpoint.Memory), Clock: clock})
	go func() { served <- app.Serve(context.Background(), graph.ServeOptions{Every: time.Hour}) }()
	clock.WaitFor(time.Hour)
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantErr(t, <-served, graph.ErrClosed)
}

// E29: Close returns when its context ends, also when it waits for a store that does not answer, and says so.
func TestCloseBesideASilentStore(t *testing.T) {
	t.Parallel()
	store, served := faultstore.New(new(checkpoint.Memory)), make(chan error, 1)
	asked, release := store.Block("Threads", 1)
	app := compile(t, inLine("a"), graph.Options{Store: store})
	go func() { served <- app.Serve(context.Background(), graph.ServeOptions{}) }()
	<-asked
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if un, ok := errors.AsType[*graph.UnreturnedError](app.Close(ended)); !ok || len(un.Nodes) == 0 {
		t.Fatalf("Close: %v, want an *UnreturnedError", un)
	}
	release()
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantErr(t, <-served, graph.ErrClosed)
}
