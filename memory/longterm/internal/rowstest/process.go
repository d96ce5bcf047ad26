package rowstest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/longtermtest"
)

// childEnv makes a test binary a writer: "name n place". It dies at the n-th step, or is killed from outside if that is 0.
const childEnv = "HOLDFAST_LONGTERM_TEST_CHILD"

// Child works for ever in a test binary that Processes started, and returns at once in any other. open opens a place.
func Child(open func(place string) (longterm.Backend, error)) {
	args := os.Getenv(childEnv)
	if args == "" {
		return
	}
	fmt.Fprintln(os.Stderr, child(args, open))
	os.Exit(1)
}

func child(args string, open func(place string) (longterm.Backend, error)) error {
	var name string
	var n int64
	if _, err := fmt.Sscan(args, &name, &n); err != nil {
		return err
	}
	b, err := open(strings.SplitN(args, " ", 3)[2])
	if err != nil {
		return err
	}
	s, err := longterm.New(Mortal(b, n), longtermtest.WorkOptions())
	if err != nil {
		return err
	}
	sc, a := Owner("worker")
	return longtermtest.Work(s, sc, a, name, os.Stdout)
}

// killed runs a writer until it dies, or has printed some lines and is killed, and returns all that it printed.
func killed(t *testing.T, place, name string, n, lines int) []string {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", childEnv, name, n, place))
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
	for in := bufio.NewReader(out); ; {
		line, err := in.ReadString('\n')
		if err != nil { // what has no end of line was cut
			break
		}
		if all = append(all, strings.TrimSpace(line)); len(all) == lines {
			c.Process.Kill()
		}
	}
	c.Wait()
	if stderr.Len() > 0 {
		t.Errorf("%s ended by itself: %s", name, stderr.String())
	}
	return all
}

// Points kills a writer at each of so many points of the way from an exchange to its facts, all on one place, and checks after each
// that nothing is lost or there twice. open opens the place.
func Points(t *testing.T, place string, points int, open func(t *testing.T) *longterm.Store) {
	sc, a := Owner("worker")
	var all []string
	for n := 1; n <= points; n++ {
		all = append(all, killed(t, place, fmt.Sprintf("n%d", n), n, 0)...)
		s := open(t)
		longtermtest.Check(t, s, sc, a, all)
		s.Close()
	}
	if len(all) == 0 {
		t.Error("no exchange was acknowledged before a point")
	}
}

// Pairs kills two writers of one user at once, in the middle of whatever they do, again and again, and checks as Points does.
func Pairs(t *testing.T, place string, open func(t *testing.T) *longterm.Store) {
	sc, a := Owner("worker")
	var all []string
	for round := range 3 {
		var acks [2][]string
		var wg sync.WaitGroup
		for i := range acks {
			wg.Go(func() { acks[i] = killed(t, place, fmt.Sprintf("p%d-%d", round, i), 0, 4+3*round+i) })
		}
		wg.Wait()
		all = append(append(all, acks[0]...), acks[1]...)
		s := open(t)
		longtermtest.Check(t, s, sc, a, all)
		s.Close()
	}
}
