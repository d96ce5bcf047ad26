package stores_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// everywhere runs a test on every store.
func everywhere(t *testing.T, name string, test func(t *testing.T, s checkpoint.Store)) {
	for kind, url := range map[string]func(t *testing.T) string{
		"memory":   func(*testing.T) string { return "memory:" },
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") },
		"postgres": func(t *testing.T) string { return testserver.Postgres(t).URL() + "&schema=" + name },
		"redis":    func(t *testing.T) string { return testserver.SharedRedis(t).URL() + "?prefix=" + name },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, err := stores.Open(t.Context(), url(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			test(t, s)
		})
	}
}

// A run that waits is rolled back in one write on every store: the first of its thread, and one behind a cancelled one. // E37
func TestRollback(t *testing.T) {
	t.Parallel()
	everywhere(t, "rollback", func(t *testing.T, s checkpoint.Store) {
		app, th := threeSteps(t, s), graph.ID("t")
		run := func(o graph.RunOptions, want ...string) {
			t.Helper()
			out, err := app.With(o).Run(t.Context(), th, func(n *note) { n.Text.Append("input") })
			if !errors.Is(err, graph.ErrInterrupted) || !slices.Equal(out.Text.Slice(), want) {
				t.Fatalf("%v, want %q", err, want)
			}
		}
		back := graph.RunOptions{OnBusy: graph.Rollback}
		run(back, "input", "a")
		run(back, "input", "a")
		if err := app.Cancel(t.Context(), th); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			run(back, "input", "a", "input", "a")
		}
		st, err := app.State(t.Context(), th)
		if err != nil || len(st.Branches) != 3 || st.Branches[2].Reason != "rollback" || !st.Branches[2].Active || len(st.Questions) != 1 {
			t.Fatalf("%v %+v", err, st)
		}
		if qs, err := s.Questions(t.Context(), checkpoint.QuestionFilter{Thread: th.ID, Tenant: th.Tenant}); err != nil || len(qs) != 1 {
			t.Fatalf("%v: %d questions are open", err, len(qs))
		}
	})
}
