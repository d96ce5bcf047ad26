package rowstest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/audit/audittest"
)

// childEnv makes a test binary a writer: "tenant place".
const childEnv = "HOLDFAST_AUDIT_TEST_CHILD"

// Child notes accesses for ever in a test binary that Killed started, four at once, and prints a line for each; in any other it returns at once.
func Child(open func(place string) (*audit.Log, error)) {
	args := os.Getenv(childEnv)
	if args == "" {
		return
	}
	tenant, place, _ := strings.Cut(args, " ")
	fmt.Fprintln(os.Stderr, child(tenant, place, open))
	os.Exit(1)
}

func child(tenant, place string, open func(place string) (*audit.Log, error)) error {
	l, err := open(place)
	if err != nil {
		return err
	}
	failed := make(chan error)
	var mu sync.Mutex
	for i := range 4 {
		go func() {
			for j := 0; ; j++ {
				a := memory.Access{Tenant: tenant, User: fmt.Sprint("u", j%3), Box: "session", Verb: "State", Items: []string{fmt.Sprint(i, "-", j)}, Result: "ok"}
				if err := l.Record(context.Background(), a); err != nil {
					failed <- err
				}
				mu.Lock()
				fmt.Println("ok")
				mu.Unlock()
			}
		}()
	}
	return <-failed
}

// Killed kills two writers of one chain at once (SIGKILL), in the middle of whatever they do, again and again, and fails unless the chain verifies after
// each, through the anchor of the round before, and has all that was acknowledged.
func Killed(t *testing.T, place string, open func(t *testing.T) *audit.Log) {
	tenant := audittest.Tenant()
	rounds := 3
	if !testing.Short() {
		rounds = 10
	}
	var acknowledged int64
	var anchors []audit.Anchor
	for round := range rounds {
		var acks [2]int64
		var wg sync.WaitGroup
		for i := range acks {
			wg.Go(func() { acks[i] = killed(t, tenant, place, int64(3+5*round+i)) })
		}
		wg.Wait()
		acknowledged += acks[0] + acks[1]
		l := open(t)
		n, err := l.Verify(t.Context(), tenant, anchors...)
		if err != nil || n < acknowledged {
			t.Fatalf("%d entries of %d that were acknowledged, %v", n, acknowledged, err)
		}
		anchor, err := l.Anchor(t.Context(), tenant)
		if err != nil || anchor.N != n {
			t.Fatal(anchor, err)
		}
		anchors = append(anchors, anchor)
		l.Close()
	}
}

// killed runs a writer until it has printed some lines, and returns how many it printed in all.
func killed(t *testing.T, tenant, place string, lines int64) (n int64) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s", childEnv, tenant, place))
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Error(err)
		return 0
	}
	for in := bufio.NewReader(out); ; {
		if _, err := in.ReadString('\n'); err != nil { // what has no end of line was cut
			break
		}
		if n++; n == lines {
			c.Process.Kill()
		}
	}
	c.Wait()
	if stderr.Len() > 0 {
		t.Errorf("the writer ended by itself: %s", stderr.String())
	}
	return n
}
