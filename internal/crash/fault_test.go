package crash_test

import (
	"context"
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

// A show is a play of a scene in this process. The zero value of what it does not need works.
type show struct {
	scene    crash.Scene
	open     func(context.Context) (checkpoint.Store, error)
	rig      func(*faultstore.Store) // sets traps before the play
	ctx      context.Context         // of the first try; the next ones have the test's
	broken   string
	patience time.Duration
}

// A result is what a show has led to.
type result struct {
	outcome *crash.Outcome
	lines   [][]string
	calls   int // of the store
	tries   int // how often the program had to begin again because the store was away
}

// play plays it until it comes to its end: when the store was away, or the context ended, the program begins again.
func (w show) play(t *testing.T) (*result, error) {
	t.Helper()
	ledger, err := crash.OpenLedger(filepath.Join(t.TempDir(), "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	inner, err := again3(func() (checkpoint.Store, error) { return w.open(t.Context()) })
	if err != nil {
		return nil, err
	}
	defer inner.Close()
	if inner, err = crash.Break(inner, w.broken); err != nil {
		t.Fatal(err)
	}
	store := faultstore.New(inner)
	if w.rig != nil {
		w.rig(store)
	}
	after := store.After
	store.After = func(c *faultstore.Call) error {
		crash.Witness(c, ledger)
		if after != nil {
			return after(c)
		}
		return c.Err
	}
	app, err := w.scene.Compile(ledger, graph.Options{Store: store, StorePatience: w.patience})
	if err != nil {
		t.Fatal(err)
	}
	r := &result{}
	ctx := w.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	for r.outcome, err = w.scene.Play(ctx, app, store, true); passing(err) && r.tries < 20; r.tries++ {
		r.outcome, err = w.scene.Play(t.Context(), app, store, true)
	}
	if cerr := app.Close(t.Context()); cerr != nil {
		err = errors.Join(err, fmt.Errorf("close: %w", cerr))
	}
	r.lines, r.calls = ledger.Lines(), store.Calls("")
	return r, err
}

// passing reports whether a program that gets this error simply begins again.
func passing(err error) bool {
	return errors.Is(err, checkpoint.ErrUnavailable) || errors.Is(err, context.Canceled)
}

func again3[T any](f func() (T, error)) (v T, err error) {
	for range 3 {
		if v, err = f(); err == nil {
			return v, nil
		}
	}
	return v, err
}

// differs compares with a play that nobody disturbed.
func (r *result) differs(want *result) error {
	var errs []error
	if faults := crash.Audit(r.lines, want.lines); len(faults) > 0 {
		errs = append(errs, fmt.Errorf("%q", faults))
	}
	if !slices.Equal(r.outcome.Entries, want.outcome.Entries) {
		errs = append(errs, fmt.Errorf("entries %q; undisturbed %q", r.outcome.Entries, want.outcome.Entries))
	}
	return errors.Join(errs...)
}

// here plays in a room of its own.
func (l *lab) here(t *testing.T, w show) (*result, error) {
	t.Helper()
	slots <- struct{}{}
	defer func() { <-slots }()
	r := l.enter(t, t.TempDir())
	defer func() {
		if err := r.leave(); err != nil {
			t.Error(err)
		}
	}()
	w.open = r.open
	return w.play(t)
}

// calmHere is what the scene looks like undisturbed.
func (l *lab) calmHere(t *testing.T, scene crash.Scene) *result {
	t.Helper()
	r, err := l.here(t, show{scene: scene})
	if err != nil {
		t.Fatalf("undisturbed: %v", err)
	}
	return r
}

// TestCrashCallFails has each call of the store fail once, before it is executed or after it. The program goes on by itself, and
// nothing is there twice. // C4 E23
func TestCrashCallFails(t *testing.T) {
	skipShort(t)
	t.Parallel()
	inAll(t, func(t *testing.T, l *lab) { l.callFails(t, 3*l.every()) })
}

func TestCallFailsInMemory(t *testing.T) { // C4 C23
	t.Parallel()
	inMemory.callFails(t, 1)
}

func (l *lab) callFails(t *testing.T, step int) {
	hit := 0
	for _, scene := range crash.Scenes {
		want := l.calmHere(t, scene)
		for _, fault := range []faultstore.Fault{faultstore.FailBefore, faultstore.FailAfter} {
			for n := 1 + hit%step; n <= want.calls; n += step {
				hit++
				got, err := l.here(t, show{scene: scene, rig: func(s *faultstore.Store) { s.At("", n, fault) }})
				if err == nil {
					err = got.differs(want)
				}
				if err != nil {
					t.Fatalf("%s, fault %d at call %d: %v", scene.Name, fault, n, err)
				}
			}
		}
	}
	t.Logf("%d calls failed", hit)
}
