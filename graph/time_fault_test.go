package graph_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// A process dies before or after any call of the store in the middle of a fork, an edit, a return to another branch, a copy or a
// deletion: another one finds the old branch as it was, does the same again, and the thread goes on. // E41 E42 E46 E61
func TestTimeSurvivesACrashAtEachCall(t *testing.T) {
	t.Parallel()
	th := graph.ID("t")
	main := graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}
	side := graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: "side"}
	for name, op := range map[string]func(*graph.App[notes]) error{
		"fork": func(app *graph.App[notes]) error {
			_, err := app.Fork(t.Context(), main, 0, graph.ForkOptions{Name: "new"})
			return err
		},
		"activate": func(app *graph.App[notes]) error { return app.Activate(t.Context(), main) },
		"edit": func(app *graph.App[notes]) error {
			_, err := app.Edit(t.Context(), side, -1, "pay", func(s *notes) { s.Log.Append("by hand") })
			return err
		},
		"edit aside": func(app *graph.App[notes]) error {
			_, err := app.Edit(t.Context(), side, -1, graph.End, func(s *notes) { s.Log.Append("by hand") })
			return err
		},
		"copy": func(app *graph.App[notes]) error { return app.Copy(t.Context(), main, graph.ID("copy")) },
		"retain": func(app *graph.App[notes]) error {
			_, err := app.Retain(t.Context(), th, graph.Retention{KeepLast: 1})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, fault := range []faultstore.Fault{faultstore.CrashBefore, faultstore.CrashAfter} {
				for n := 1; crashAt(t, n, fault, th, op); n++ {
					if n == 50 {
						t.Fatal("it never ends")
					}
				}
			}
		})
	}
}

// crashAt does it with a crash at the nth call, and then in another process. It reports whether the crash came.
func crashAt(t *testing.T, n int, fault faultstore.Fault, th graph.Thread, op func(*graph.App[notes]) error) bool {
	d, mem := &desk{}, &checkpoint.Memory{}
	app := d.app(t, mem)
	_, err := app.Run(t.Context(), th, amount("10"))
	q := paused(t, err).Questions[0]
	if _, err := app.Fork(t.Context(), th, 0, graph.ForkOptions{Name: "side"}); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Resume(t.Context(), th); !errors.Is(err, graph.ErrInterrupted) {
		t.Fatal(err)
	}
	before := recordsOf(t, mem, th, 0)

	faulty := faultstore.New(mem)
	faulty.At("", n, fault)
	err = op(d.with(t, graph.Options{Store: faulty, StorePatience: time.Millisecond}))
	if !faulty.Down() {
		if err != nil {
			t.Fatal(err)
		}
		return false
	}
	where := fmt.Sprintf("fault %d at call %d (%v)", fault, n, err)
	if err := op(d.app(t, mem)); err != nil && !errors.Is(err, graph.ErrInUse) && !errors.Is(err, graph.ErrDormant) {
		t.Fatalf("%s: once more: %v", where, err)
	}
	if got := recordsOf(t, mem, th, 0); !slices.Equal(before, got) {
		t.Fatalf("%s: the old branch has changed", where)
	}
	main := graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}
	if err := app.Activate(t.Context(), main); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if out, err := app.Resume(t.Context(), th, graph.Answer(q, true)); err != nil || out.Total.Get() != 1 || len(d.keys) != 1 {
		t.Fatalf("%s: the old branch ends with %v", where, err)
	}
	return true
}
