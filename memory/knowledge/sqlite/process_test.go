package sqlite_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
	"github.com/holdfast-go/holdfast/memory/knowledge/sqlite"
	"go.uber.org/goleak"
)

// childEnv makes the test binary a writer on a file: "last path".
const childEnv = "HOLDFAST_KNOWLEDGE_SQLITE_TEST_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		fmt.Fprintln(os.Stderr, child(args))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func child(args string) error {
	last, path, _ := strings.Cut(args, " ")
	n, err := strconv.Atoi(last)
	if err != nil {
		return err
	}
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	return knowledgetest.Work(s, "tenant", n, os.Stdout)
}

// killed runs a writer until it has printed n lines, kills it, and returns the last number.
func killed(t *testing.T, last int, path string, n int) int {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", childEnv, last, path))
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil { // what has no end of line was cut
			break
		}
		if last, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
			t.Fatal(err)
		}
		if seen++; seen == n {
			c.Process.Kill()
		}
	}
	if c.Wait(); seen < n {
		t.Fatalf("it ended by itself: %s", stderr.String())
	}
	return last
}

// R106: a process that swaps versions is killed in the middle, again and again; each time one version of both documents is there, whole.
func TestKilledIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	last := 0
	for round := range 4 {
		last = killed(t, last, path, 3+2*round)
		s := openAt(t, path, knowledge.Options{})
		last = knowledgetest.Check(t, s, "tenant", last)
		s.Close()
	}
}
