package graph_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// E61: a process that dies while it resumes a failed run leaves work behind, and Recover finds it.
func TestRecoverContinuesTheResumeOfAFailedRun(t *testing.T) {
	t.Parallel()
	var mem checkpoint.Memory
	var broken error
	g := graph.New[notes]("g")
	g.Node("a", func(_ context.Context, s *notes) error { s.Log.Append("a"); return broken })
	g.Edge(graph.Start, "a")
	broken = errors.New("broken")
	_, err := compile(t, g, graph.Options{Store: &mem}).Run(t.Context(), graph.ID("1"), nil)
	wantErr(t, err, broken)

	broken = nil
	dying := faultstore.New(&mem)
	dying.At("Append", 1, faultstore.CrashBefore)
	_, err = compile(t, g, graph.Options{Store: dying, StorePatience: 200 * time.Millisecond}).Resume(t.Context(), graph.ID("1"))
	wantErr(t, err, checkpoint.ErrUnavailable)

	app := compile(t, g, graph.Options{Store: &mem})
	got, err := app.Recover(t.Context())
	if err != nil || len(got) != 1 || got[0].Err != nil {
		t.Fatalf("Recover = %+v, %v; want one thread that has completed", got, err)
	}
	st, err := app.State(t.Context(), graph.ID("1"))
	if err != nil || st.Status != checkpoint.Completed || st.State.Log.Len() != 1 {
		t.Fatalf("State = %+v, %v; want it completed", st, err)
	}
}
