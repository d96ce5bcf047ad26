package crash_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/crash"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// TestStoreLostAtEveryCall takes the store away from a program at its nth call, before or after the call is executed, for
// every n until a program comes to the end unharmed. Another App goes on from what the store has. // E61 E23
func TestStoreLostAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, scene := range crash.Scenes {
		t.Run(scene.Name, func(t *testing.T) {
			t.Parallel()
			want, lines := playInMemory(t, scene, 0, 0, nil)
			for _, fault := range []faultstore.Fault{faultstore.CrashBefore, faultstore.CrashAfter} {
				for n, lost := 1, true; lost; n++ {
					got, all := playInMemory(t, scene, n, fault, &lost)
					if !slices.Equal(got.Entries, want.Entries) {
						t.Errorf("fault %d at call %d: %+v; undisturbed %+v", fault, n, got, want)
					}
					if faults := crash.Audit(all, lines); len(faults) > 0 {
						t.Errorf("fault %d at call %d: %q", fault, n, faults)
					}
				}
			}
		})
	}
}

// playInMemory plays a scene to its end on one Memory: first with a fault, then without. lost reports whether the fault
// was met.
func playInMemory(t *testing.T, scene crash.Scene, n int, f faultstore.Fault, lost *bool) (*crash.Outcome, [][]string) {
	t.Helper()
	ledger, err := crash.OpenLedger(filepath.Join(t.TempDir(), "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	var mem checkpoint.Memory
	store := faultstore.New(&mem)
	store.At("", n, f)                                                 // there is no call 0
	out, err := playOnce(t, scene, ledger, store, 50*time.Millisecond) // how long it takes to believe that the store is lost
	if lost != nil {
		*lost = store.Down()
	}
	// Play has read the end, so the fault came behind it. Only an App that goes on by itself with what is queued may ask something there: it looks
	// whether more has come, and writes nothing.
	looks := scene.Runs > 1 && slices.Contains([]string{"Load", "Read"}, store.Fatal())
	if store.Down() && err == nil && !looks {
		t.Errorf("fault %d at call %d, %s: no error", f, n, store.Fatal())
	}
	if errors.Is(err, checkpoint.ErrUnavailable) {
		out, err = playOnce(t, scene, ledger, faultstore.New(&mem), 0)
	}
	if err != nil {
		t.Fatalf("fault %d at call %d: %v", f, n, err)
	}
	return out, ledger.Lines()
}

// playOnce is a program that brings the scene to its end, and answers.
func playOnce(t *testing.T, scene crash.Scene, ledger *crash.Ledger, store *faultstore.Store, patience time.Duration) (*crash.Outcome, error) {
	t.Helper()
	store.After = func(c *faultstore.Call) error {
		crash.Witness(c, ledger)
		return c.Err
	}
	app, err := scene.Compile(ledger, graph.Options{Store: store, StorePatience: patience})
	if err != nil {
		t.Fatal(err)
	}
	out, err := scene.Play(t.Context(), app, store, true)
	if cerr := app.Close(t.Context()); cerr != nil {
		err = fmt.Errorf("%w; close: %w", err, cerr)
	}
	return out, err
}
