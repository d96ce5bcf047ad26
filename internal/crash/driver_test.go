package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/crash"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"go.uber.org/goleak"
)

var tempDir string // of the binary

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "holdfast-crash-")
	if err != nil {
		panic(err)
	}
	tempDir = dir
	code := testserver.Main{M: m}.Run()
	if err := closeLabs(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.RemoveAll(dir)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// build compiles the victim, without the race detector: its binaries take a second to exit.
var build = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(tempDir, "victim")
	cmd := exec.Command("go", "build", "-o", bin, "./victim")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("the victim does not compile: %w\n%s", err, out)
	}
	return bin, nil
})

// A stage is one thread in its store, its ledger and the victims that come to it one after the other.
type stage struct {
	*room
	bin, dir            string
	scene, mode, broken string
	kills, recoveries   int
}

func (l *lab) newStage(t testing.TB, scene, mode string) *stage {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(tempDir, scene)
	if err != nil {
		t.Fatal(err)
	}
	return &stage{room: l.enter(t, dir), bin: bin, dir: dir, scene: scene, mode: mode}
}

func (s *stage) close(t testing.TB) {
	if err := s.leave(); err != nil {
		t.Error(err)
	}
	os.RemoveAll(s.dir)
}

// command is a victim with a fate.
func (s *stage) command(ctx context.Context, fate string, args ...string) *exec.Cmd {
	args = append([]string{
		"-store", s.url, "-ledger", filepath.Join(s.dir, "ledger"), "-scene", s.scene, "-mode", s.mode,
		"-fate", fate, "-broken", s.broken, fmt.Sprint("-sealed=", s.sealed),
	}, args...)
	cmd := exec.CommandContext(ctx, s.bin, args...)
	cmd.Env = append(os.Environ(), "HOLDFAST_VERIFY=1")
	return cmd
}

// victim runs one and returns its exit code, -1 if it was killed.
func (s *stage) victim(fate string, args ...string) (code int, r crash.Report, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // for a victim that hangs
	defer cancel()
	cmd := s.command(ctx, fate, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ended := make(chan struct{})
	if err = testserver.Start(cmd, ended); err == nil {
		err = cmd.Wait()
		close(ended)
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || ctx.Err() != nil) {
		return 0, r, fmt.Errorf("fate %q: %w: %s", fate, err, stderr.String())
	}
	code = cmd.ProcessState.ExitCode()
	if code >= 0 && stdout.Len() > 0 {
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
			return code, r, fmt.Errorf("fate %q: %w: %s", fate, err, stdout.String())
		}
	}
	if code == crash.ExitFailed || code == crash.ExitStale || code == 2 {
		return code, r, fmt.Errorf("fate %q: exit code %d: %s", fate, code, stderr.String())
	}
	return code, r, nil
}

// play sends victims until one comes to the end. The first ones have the given fates; the others live.
func (s *stage) play(fates ...string) (*crash.Outcome, []crash.Report, error) {
	return s.playWith(nil, fates...)
}

// playWith is play with arguments for the victims.
func (s *stage) playWith(args []string, fates ...string) (*crash.Outcome, []crash.Report, error) {
	var reports []crash.Report
	for n := range len(fates) + 10 {
		fate := ""
		if n < len(fates) {
			fate = fates[n]
		}
		code, r, err := s.victim(fate, args...)
		if err != nil {
			return nil, reports, err
		}
		reports = append(reports, r)
		switch code {
		case crash.ExitDone:
			return r.Outcome, reports, nil
		case crash.ExitWaiting:
			args = []string{"-answer"} // whoever comes next brings the answer
		default:
			s.kills++
		}
		if n > 0 && s.kills > 0 {
			s.recoveries++
		}
	}
	return nil, reports, errors.New("the thread does not come to its end")
}

func (s *stage) ledger() ([][]string, error) {
	l, err := crash.OpenLedger(filepath.Join(s.dir, "ledger"))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return l.Lines(), nil
}

// A calm is what a scene looks like when nobody disturbs it.
type calm struct {
	*lab
	scene, mode string
	outcome     *crash.Outcome
	reports     []crash.Report // of the processes, one after the other
	lines       [][]string
}

// calm plays it once for all tests.
func (l *lab) calm(t testing.TB, scene, mode string) *calm {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calms == nil {
		l.calms = map[string]*calm{}
	}
	c := l.calms[scene+mode]
	if c == nil {
		c = l.newCalm(t, scene, mode)
		l.calms[scene+mode] = c
	}
	return c
}

func (l *lab) newCalm(t testing.TB, scene, mode string) *calm {
	t.Helper()
	s := l.newStage(t, scene, mode)
	defer s.close(t)
	out, reports, err := s.play()
	if err != nil {
		t.Fatalf("undisturbed %s: %v", scene, err)
	}
	lines, err := s.ledger()
	if err != nil {
		t.Fatal(err)
	}
	if faults := crash.Audit(lines, lines); len(faults) > 0 {
		t.Fatalf("undisturbed %s: %s", scene, strings.Join(faults, "; "))
	}
	return &calm{l, scene, mode, out, reports, lines}
}

// compare plays the scene with fates and returns what differs from the calm one.
func (c *calm) compare(s *stage, fates []string, args ...string) error {
	out, _, err := s.playWith(args, fates...)
	if err != nil {
		return err
	}
	lines, err := s.ledger()
	if err != nil {
		return err
	}
	var errs []error
	if faults := crash.Audit(lines, c.lines); len(faults) > 0 {
		errs = append(errs, errors.New(strings.Join(faults, "; ")))
	}
	if !slices.Equal(out.Entries, c.outcome.Entries) {
		errs = append(errs, fmt.Errorf("entries %q; undisturbed %q", out.Entries, c.outcome.Entries))
	}
	return errors.Join(errs...)
}

// A trial is a scene with the fates of its first victims.
type trial struct {
	*calm
	fates []string
}

// A tally counts what trials have seen.
type tally struct{ kills, recoveries atomic.Int64 }

// slots are for the stages at a time, of all tests: they wait more than they work.
var slots = make(chan struct{}, 6)

// try plays trials, a few at a time.
func try(t *testing.T, trials []trial) *tally {
	t.Helper()
	var sum tally
	var wg sync.WaitGroup
	for _, tr := range trials {
		slots <- struct{}{}
		if t.Failed() && sum.kills.Load() > 100 { // enough to look at
			<-slots
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			s := tr.newStage(t, tr.scene, tr.mode)
			defer s.close(t)
			if err := tr.compare(s, tr.fates); err != nil {
				t.Errorf("%s %s, fates %q: %v", tr.scene, tr.mode, tr.fates, err)
			}
			sum.kills.Add(int64(s.kills))
			sum.recoveries.Add(int64(s.recoveries))
		})
	}
	wg.Wait()
	return &sum
}
