//go:build unix

package crash_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

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

// TestCrashTurns has 16 goroutines in each of 3 processes start runs on one thread. One of them is stopped for longer than its
// lease and wakes up late, one is killed. Every acknowledged turn is in the end there, once. // C2 E38 // report 138
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
			v, err := s.start(t, "", "-turns", strconv.Itoa(share), "-goroutines", strconv.Itoa(turners), "-lease", "1s")
			if err != nil {
				t.Fatal(err)
			}
			defer v.kill()
			all = append(all, v)
		}
		late, dead := all[0], all[1]
		seen := s.noted(t, all, 0, share*turners/2, nil)
		late.pause(t)
		seen = s.noted(t, all[1:], seen, share*turners/2, late) // others go on, once the lease has run out
		dead.kill()
		s.noted(t, all[2:], seen, share*turners/4, late)
		if err := late.wake(); err != nil {
			t.Fatal(err)
		}
		for _, v := range []*victim{late, all[2]} {
			if err := v.wait(); err != nil || v.cmd.ProcessState.ExitCode() != crash.ExitDone {
				t.Fatalf("a process ended with %v, code %d: %s", err, v.cmd.ProcessState.ExitCode(), v.stderr.String())
			}
		}
		lines, err := s.ledger()
		if err != nil {
			t.Fatal(err)
		}
		checkTurns(t, s.room, lines, share*turners*(processes-1), turners)
	})
}

// pause stops a victim wherever it is.
func (v *victim) pause(t *testing.T) {
	t.Helper()
	if err := v.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// noted waits until more lines are in the ledger, or all these processes have ended. A paused one that holds them all up, since it
// has the lock of a file, goes on for a moment.
func (s *stage) noted(t *testing.T, vs []*victim, from, more int, paused *victim) (lines int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	nudge := time.NewTicker(4 * time.Second)
	defer nudge.Stop()
	deadline := time.After(2 * time.Minute)
	before := 0 // lines when it was last looked whether there are more
	for lines < from+more {
		ended := 0
		for _, v := range vs {
			select {
			case <-v.done:
				ended++
			default:
			}
		}
		all, err := s.ledger()
		if err != nil {
			t.Fatal(err)
		}
		if lines = len(all); ended == len(vs) {
			break
		}
		select {
		case <-tick.C:
		case <-nudge.C:
			if paused != nil && lines == before {
				if err := paused.wake(); err != nil {
					t.Fatal(err)
				}
				<-tick.C
				paused.pause(t)
			}
			before = lines
		case <-deadline:
			t.Fatalf("%d turns in two minutes, and no more", lines)
		}
	}
	return lines
}

func TestTurnsInMemory(t *testing.T) { // C23
	t.Parallel()
	ledger, err := crash.OpenLedger(filepath.Join(t.TempDir(), "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	r := inMemory.enter(t, "")
	if err := crash.Turns(t.Context(), r.mem, ledger, turners*processes, turnShare(), 0); err != nil {
		t.Fatal(err)
	}
	checkTurns(t, r, ledger.Lines(), turnShare()*turners*processes, 0)
}

// checkTurns compares what was acknowledged, at least so many turns, with what the thread holds. A process that was killed
// may have left some turns of which nobody was told.
func checkTurns(t *testing.T, r *room, lines [][]string, least, untold int) {
	t.Helper()
	store, err := r.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trail, total, err := crash.LookTurns(t.Context(), store)
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	there := map[string]int{}
	for _, turn := range trail {
		there[turn]++
	}
	for _, line := range lines {
		if there[line[1]] != 1 {
			t.Errorf("turn %s was acknowledged and is there %d times", line[1], there[line[1]])
		}
	}
	if len(lines) < least || len(trail) > len(lines)+untold || len(trail) != len(there) || total != len(trail) {
		t.Errorf("%d turns were acknowledged, at least %d were to be; %d are there, %d different ones, and %d nodes ran",
			len(lines), least, len(trail), len(there), total)
	}
	fmt.Printf("%s: %d turns acknowledged, %d there\n", t.Name(), len(lines), len(trail))
}
