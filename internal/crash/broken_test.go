package crash_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/crash"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// The comparison must notice stores that break the contract: a test that passes with them proves nothing. The faults are
// described in package crash.
func TestCrashNoticesBrokenStores(t *testing.T) {
	skipShort(t)
	t.Parallel()
	inEach(t, func(t *testing.T, l *lab) {
		for _, c := range []struct {
			broken, scene string
			fates         []string
			finding       string
		}{
			{"background", "line", []string{"point 2 written O", ""}, foundTwice},
			{"background", "fan", []string{"point 3 written R", ""}, foundTwice},
			{"lose-once", "line", []string{"point 2 written O", ""}, foundTwice + "|" + foundStale},
			{"stale-load", "line", []string{"point 2 written E", ""}, foundTwice + "|" + foundUnheld},
			{"stale-load", "ask", []string{"point 1 written O", ""}, foundTwice + "|" + foundUnheld},
			{"first-load", "line", []string{"point 2 written E", ""}, foundUnheld},
			{"forget-park", "loop", nil, foundUnheld},
		} {
			t.Run(c.broken+" "+c.scene, func(t *testing.T) {
				t.Parallel()
				calm := l.calm(t, c.scene, "sync")
				whole := l.newStage(t, c.scene, "sync")
				defer whole.close(t)
				if err := calm.compare(whole, c.fates); err != nil {
					t.Fatalf("with a good store: %v", err)
				}
				s := l.newStage(t, c.scene, "sync")
				defer s.close(t)
				s.broken = c.broken
				noticed(t, calm.compare(s, c.fates), c.finding)
			})
		}
	})
}

// What may be found where a store breaks the contract. A server that does not start, a victim that does not compile or hangs, and a
// store that is away are none of it.
const (
	foundTwice  = ` again after its (result|record) was written`
	foundEnd    = `the state in the end is|in the end the run is|entries .*; undisturbed`
	foundStale  = `stale write: another holder has the thread`
	foundUnheld = `after Recover the thread is|the run does not come to an end|the thread does not come to its end`
)

// noticed fails unless the error is a finding of this kind, a regular expression.
func noticed(t *testing.T, err error, finding string) {
	t.Helper()
	switch {
	case err == nil:
		t.Error("nothing was noticed")
	case !regexp.MustCompile(finding).MatchString(err.Error()):
		t.Errorf("this is not what was to be noticed: %v", err)
	default:
		t.Logf("noticed: %.300v", err)
	}
}

// The same for a call that was executed and whose reply was lost. // C2 C4
func TestCrashNoticesBrokenRepeats(t *testing.T) {
	skipShort(t)
	t.Parallel()
	inEach(t, func(t *testing.T, l *lab) { l.noticesBrokenRepeats(t) })
}

func TestNoticesBrokenRepeatsInMemory(t *testing.T) { // C2 C4 C23
	t.Parallel()
	inMemory.noticesBrokenRepeats(t)
}

func (l *lab) noticesBrokenRepeats(t *testing.T) {
	scene, err := crash.SceneOf("line")
	if err != nil {
		t.Fatal(err)
	}
	want := l.calmHere(t, scene)
	findings := map[string]string{"no-cas": foundEnd + "|" + foundTwice, "no-read-back": foundStale}
	for _, broken := range []string{"", "no-cas", "no-read-back"} { // the fourth append is an entry
		got, err := l.here(t, show{scene: scene, broken: broken, rig: func(s *faultstore.Store) { s.At("Append", 4, faultstore.FailAfter) }})
		if err == nil {
			err = got.differs(want)
		}
		if broken != "" {
			noticed(t, err, findings[broken])
		} else if err != nil {
			t.Errorf("with a good store: %v", err)
		}
	}
}

// A cancel that comes in while the run is about to wait for an answer is not overlooked: the store keeps the lease for
// whoever holds it to look again. // E26
func TestCrashCancelAgainstPark(t *testing.T) {
	skipShort(t)
	t.Parallel()
	inEach(t, func(t *testing.T, l *lab) { l.cancelAgainstPark(t) })
}

func TestCancelAgainstParkInMemory(t *testing.T) { // C23
	t.Parallel()
	inMemory.cancelAgainstPark(t)
}

func (l *lab) cancelAgainstPark(t *testing.T) {
	for _, broken := range []string{"", "no-release-guard"} {
		status, err := l.cancelAtPark(t, broken)
		if err == nil && status != checkpoint.Cancelled {
			err = fmt.Errorf("in the end the run is %s", status)
		}
		if broken != "" {
			noticed(t, err, foundEnd)
		} else if err != nil {
			t.Errorf("with a good store: %v", err)
		}
	}
}

// cancelAtPark starts a run that asks, and posts a cancel right before it parks.
func (l *lab) cancelAtPark(t *testing.T, broken string) (checkpoint.Status, error) {
	r := l.enter(t, t.TempDir())
	good, err := r.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(good.Close(), r.leave()); err != nil {
			t.Error(err)
		}
	}()
	ledger, err := crash.OpenLedger(filepath.Join(t.TempDir(), "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	bad, err := crash.Break(good, broken)
	if err != nil {
		t.Fatal(err)
	}
	store := faultstore.New(bad)
	posted := false
	store.Before = func(c *faultstore.Call) error {
		if posted || c.Append == nil || c.Append.Park == nil {
			return nil
		}
		posted = true
		l, err := good.Load(t.Context(), threadKey, checkpoint.Active, "")
		if err != nil {
			return err
		}
		body, err := json.Marshal(map[string]string{"run": l.Head.Run})
		if err != nil {
			return err
		}
		_, err = good.Post(t.Context(), checkpoint.Command{Key: threadKey, Kind: checkpoint.CommandCancel, Request: "c", Body: body})
		return err
	}
	scene, err := crash.SceneOf("ask")
	if err != nil {
		t.Fatal(err)
	}
	app, err := scene.Compile(ledger, graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.Run(t.Context(), crash.Thread, nil)
	if cerr := app.Close(t.Context()); cerr != nil {
		t.Fatal(cerr)
	}
	if !errors.Is(err, graph.ErrCancelled) && !errors.Is(err, graph.ErrInterrupted) || !posted {
		return 0, err
	}
	after, err := good.Load(t.Context(), threadKey, checkpoint.Active, "")
	if err != nil {
		return 0, err
	}
	return after.Head.Status, nil
}
