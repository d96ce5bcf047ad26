package graph_test

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// notes is the state of most tests.
type notes struct {
	Log   state.List[string]        `json:"log"`
	Value state.Last[string]        `json:"value"`
	Total state.Sum[int]            `json:"total"`
	Said  state.Map[string, string] `json:"said"`
}

// compile compiles or ends the test.
func compile[S any](t testing.TB, g *graph.Graph[S], o graph.Options) *graph.App[S] {
	t.Helper()
	app, err := g.Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// paused returns the pause that err is, or ends the test.
func paused(t testing.TB, err error) *graph.Interrupted {
	t.Helper()
	in, ok := errors.AsType[*graph.Interrupted](err)
	if !ok {
		t.Fatalf("got %v, want an *Interrupted", err)
	}
	return in
}

// wantErr ends the test unless err matches target.
func wantErr(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want %v", err, target)
	}
}
