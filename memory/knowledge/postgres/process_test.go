package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
	"github.com/holdfast-go/holdfast/memory/knowledge/postgres"
	"go.uber.org/goleak"
)

// childEnv makes the test binary a writer on a schema: "last schema url".
const childEnv = "HOLDFAST_KNOWLEDGE_POSTGRES_TEST_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		fmt.Fprintln(os.Stderr, child(args))
		os.Exit(1)
	}
	goleak.VerifyTestMain(testserver.Main{M: m})
}

func child(args string) error {
	var last int
	var schema, url string
	if _, err := fmt.Sscan(args, &last, &schema, &url); err != nil {
		return err
	}
	s, err := postgres.Open(context.Background(), url, postgres.Options{Schema: schema})
	if err != nil {
		return err
	}
	return knowledgetest.Work(s, "tenant", last, os.Stdout)
}

// killed runs a writer until it has printed n lines, kills it, and returns the last number.
func killed(t *testing.T, last int, place string, n int) int {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", childEnv, last, place))
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
	schema, url := fresh(t), testserver.Postgres(t).URL()+few
	last := 0
	for round := range 4 {
		last = killed(t, last, schema+" "+url, 3+2*round)
		s := openAt(t, url, postgres.Options{Schema: schema})
		last = knowledgetest.Check(t, s, "tenant", last)
		s.Close()
	}
}
