//go:build unix

package crash_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crash"
)

// A process is stopped for longer than its lease, another one takes the thread over and finishes, then the first one wakes
// up: it gets ErrStale, and not one row of it stays. // E38
func TestCrashLateWriter(t *testing.T) {
	skipShort(t)
	t.Parallel()
	inEach(t, func(t *testing.T, l *lab) {
		for _, c := range []struct{ scene, where string }{
			{"line", "write E"}, {"line", "write O"}, {"line", "node"}, {"line", "written E"}, {"fan", "write R"}, {"loop", "write P"},
		} {
			t.Run(c.scene+" "+c.where, func(t *testing.T) {
				t.Parallel()
				if err := l.calm(t, c.scene, "sync").late(t, c.where, ""); err != nil {
					t.Error(err)
				}
			})
		}
		for _, broken := range []string{"drop-stale", "no-nonce"} { // one drops the refusal, one never refuses
			t.Run("notices "+broken, func(t *testing.T) {
				t.Parallel()
				noticed(t, l.calm(t, "line", "sync").late(t, "write E", broken), "the late process (ended with code|has changed the thread)")
			})
		}
	})
}

// late plays one such story and returns what is wrong with it.
func (c *calm) late(t *testing.T, where, broken string) error {
	s := c.newStage(t, c.scene, "sync")
	defer s.close(t)
	s.broken = broken
	first, err := s.start(t, "stop 1 "+where, "-lease", "1s")
	if err != nil {
		return err
	}
	defer first.kill() // does nothing once it has ended
	if err := first.stopped(); err != nil {
		return err
	}

	s.broken = ""
	if err := c.takeOver(s); err != nil {
		return err
	}
	before, err := s.dump(t)
	if err != nil {
		return err
	}
	if err := errors.Join(first.wake(), first.wait()); err != nil {
		return err
	}
	if code := first.cmd.ProcessState.ExitCode(); code != crash.ExitStale {
		return fmt.Errorf("the late process ended with code %d, not with ErrStale: %s", code, first.stderr.String())
	}
	after, err := s.dump(t)
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		return fmt.Errorf("the late process has changed the thread:\n%s\n%s", before, after)
	}
	if c.scene == "fan" { // a sibling may have been stopped between asking whose the thread is and its effect
		return nil
	}
	return c.effects(s)
}

// A program dies on another machine: that it is dead cannot be seen from here. Until its lease has run out its thread is not
// touched, and then it is continued. // E38 E61 // report 36
func TestCrashOtherMachine(t *testing.T) {
	skipShort(t)
	t.Parallel()
	inEach(t, func(t *testing.T, l *lab) {
		for _, scene := range []string{"line", "fan", "ask"} {
			calm := l.calm(t, scene, "sync")
			for _, lease := range []string{"1h", "1s"} {
				s := l.newStage(t, scene, "sync")
				if code, _, err := s.victim("point 1 written O", "-lease", lease, "-host", "elsewhere"); err != nil || code != -1 {
					t.Fatalf("%s: code %d, %v", scene, code, err)
				}
				if lease == "1s" {
					if err := calm.takeOver(s); err != nil {
						t.Errorf("%s: %v", scene, err)
					}
				} else if err := calm.compare(s, nil); err == nil || !strings.Contains(err.Error(), "held: true") {
					t.Errorf("%s: before the lease had run out: %v", scene, err)
				}
				s.close(t)
			}
		}
	})
}

// effects compares what happened outside. That the late process had just entered a node is no fault.
func (c *calm) effects(s *stage) error {
	lines, err := s.ledger()
	if err != nil {
		return err
	}
	lines = slices.DeleteFunc(lines, func(line []string) bool { return line[0] == "start" })
	if faults := crash.Audit(lines, c.lines); len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}

// takeOver sends victims until one finds the lease run out. That one comes to the end, as if nothing had happened.
func (c *calm) takeOver(s *stage) (err error) {
	for start := time.Now(); time.Since(start) < time.Minute; {
		if err = c.compare(s, nil); err == nil {
			return nil
		}
	}
	return fmt.Errorf("nobody could take over: %w", err)
}

// dump is the whole thread as the store has it.
func (s *stage) dump(t *testing.T) ([]byte, error) {
	store, err := s.open(t.Context())
	if err != nil {
		return nil, err
	}
	defer store.Close()
	l, err := store.Load(t.Context(), threadKey, checkpoint.Active, "")
	if err != nil {
		return nil, err
	}
	records, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: threadKey}, To: -1})
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent([]any{l.Head, l.Questions, l.Inbox, records}, "", " ")
}
