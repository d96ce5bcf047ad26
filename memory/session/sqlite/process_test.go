package sqlite_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/session/sessiontest"
	"github.com/holdfast-go/holdfast/memory/session/sqlite"
	"go.uber.org/goleak"
)

// childEnv makes the test binary a writer on a file: "name path".
const childEnv = "HOLDFAST_SESSION_SQLITE_TEST_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		fmt.Fprintln(os.Stderr, child(args))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func child(args string) error {
	name, path, _ := strings.Cut(args, " ")
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	return sessiontest.Work(s, scope, name, os.Stdout)
}

// killed runs a writer until it has printed n lines, kills it, and returns all that it printed.
func killed(t *testing.T, name, path string, n int) []string {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+name+" "+path)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := c.Start(); err != nil {
		t.Error(err)
		return nil
	}
	var all []string
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil { // what has no end of line was cut
			break
		}
		all = append(all, strings.TrimSpace(line))
		if len(all) == n {
			c.Process.Kill()
		}
	}
	if c.Wait(); len(all) < n {
		t.Errorf("%s ended by itself: %s", name, stderr.String())
	}
	return all
}

// R17, R23: processes on one file, killed in the middle of writing, again and again.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	var all []string
	for round := range 3 {
		var acks [2][]string
		var wg sync.WaitGroup
		for i := range acks {
			wg.Go(func() { acks[i] = killed(t, fmt.Sprintf("p%d-%d", round, i), path, 15+7*round+i) })
		}
		wg.Wait()
		all = append(append(all, acks[0]...), acks[1]...)
		s := openAt(t, path, session.Options{})
		sessiontest.Check(t, s, scope, all)
		s.Close()
	}
}
