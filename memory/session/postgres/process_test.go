package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/session/postgres"
	"github.com/holdfast-go/holdfast/memory/session/sessiontest"
	"go.uber.org/goleak"
)

// childEnv makes the test binary a writer on a schema: "name schema url".
const childEnv = "HOLDFAST_SESSION_POSTGRES_TEST_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		fmt.Fprintln(os.Stderr, child(args))
		os.Exit(1)
	}
	goleak.VerifyTestMain(testserver.Main{M: m})
}

func child(args string) error {
	var name, schema, url string
	if _, err := fmt.Sscan(args, &name, &schema, &url); err != nil {
		return err
	}
	s, err := postgres.Open(context.Background(), url, postgres.Options{Schema: schema})
	if err != nil {
		return err
	}
	return sessiontest.Work(s, scope, name, os.Stdout)
}

// killed runs a writer until it has printed n lines, kills it, and returns all that it printed.
func killed(t *testing.T, name, place string, n int) []string {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+name+" "+place)
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

// R17, R23: processes on one schema, killed in the middle of writing, again and again.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	schema, url := fresh(t), testserver.Postgres(t).URL()+few
	var all []string
	for round := range 3 {
		var acks [2][]string
		var wg sync.WaitGroup
		for i := range acks {
			wg.Go(func() { acks[i] = killed(t, fmt.Sprintf("p%d-%d", round, i), schema+" "+url, 15+7*round+i) })
		}
		wg.Wait()
		all = append(append(all, acks[0]...), acks[1]...)
		s := openAt(t, url, postgres.Options{Schema: schema})
		sessiontest.Check(t, s, scope, all)
		s.Close()
	}
}
