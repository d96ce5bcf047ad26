//go:build unix

package crash_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/holdfast-go/holdfast/internal/crash"
)

const (
	turners   = 16 // goroutines of a process
	processes = 3
)

// turnShare is how many turns each goroutine takes: HOLDFAST_CRASH_TURNS is how many they take together, by default 96.
func turnShare() int {
	all, err := strconv.Atoi(os.Getenv("HOLDFAST_CRASH_TURNS"))
	if err != nil {
		all = 96
	}
	return max(1, (all+turners*processes-1)/(turners*processes))
}

// TestCrashTurns has 16 goroutines in each of 3 processes start runs on one thread: every acknowledged turn is in the end
// there, once. // C2 E38, report 138
func TestCrashTurns(t *testing.T) {
	skipShort(t)
	t.Parallel()
	inEach(t, func(t *testing.T, l *lab) {
		slots <- struct{}{}
		defer func() { <-slots }()
		s := l.newStage(t, "line", "sync")
		defer s.close(t)
		share := turnShare()
		var all []*victim
		for range processes {
			v, err := s.start(t, "", "-turns", strconv.Itoa(share), "-goroutines", strconv.Itoa(turners))
			if err != nil {
				t.Fatal(err)
			}
			defer v.kill()
			all = append(all, v)
		}
		for _, v := range all {
			if err := v.wait(); err != nil || v.cmd.ProcessState.ExitCode() != crash.ExitDone {
				t.Fatalf("a process ended with %v, code %d: %s", err, v.cmd.ProcessState.ExitCode(), v.stderr.String())
			}
		}
		lines, err := s.ledger()
		if err != nil {
			t.Fatal(err)
		}
		checkTurns(t, s.room, lines, share*turners*processes)
	})
}

func TestTurnsInMemory(t *testing.T) { // C23
	t.Parallel()
	ledger, err := crash.OpenLedger(filepath.Join(t.TempDir(), "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	r := inMemory.enter(t, "")
	if err := crash.Turns(t.Context(), r.mem, ledger, turners*processes, turnShare()); err != nil {
		t.Fatal(err)
	}
	checkTurns(t, r, ledger.Lines(), turnShare()*turners*processes)
}

// checkTurns compares what was acknowledged with what the thread holds.
func checkTurns(t *testing.T, r *room, lines [][]string, want int) {
	t.Helper()
	store, err := r.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trail, total, err := crash.LookTurns(t.Context(), store)
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	var acked []string
	for _, line := range lines {
		acked = append(acked, line[1])
	}
	slices.Sort(acked)
	slices.Sort(trail)
	if len(acked) != want || total != want || !slices.Equal(acked, trail) {
		t.Errorf("%d turns were to be taken, %d were acknowledged, %d are in the state, which counts %d", want, len(acked), len(trail), total)
	}
	fmt.Printf("%s: %d turns acknowledged, %d there\n", t.Name(), len(acked), len(trail))
}
