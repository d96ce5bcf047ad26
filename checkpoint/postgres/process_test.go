package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"go.uber.org/goleak"
)

// childEnv makes the test binary a worker on a schema: "turns schema url".
const childEnv = "HOLDFAST_POSTGRES_TEST_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		if err := child(args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(testserver.Main{M: m})
}

var sharedKey = checkpoint.Key{Tenant: "tenant", Thread: "shared"}

// child takes turns on the one thread and prints every record that was acknowledged.
func child(args string) error {
	var turns int
	var schema, url string
	if _, err := fmt.Sscan(args, &turns, &schema, &url); err != nil {
		return err
	}
	s, err := postgres.Open(context.Background(), url, postgres.Options{Schema: schema})
	if err != nil {
		return err
	}
	for range turns {
		for done := false; !done; {
			if done, err = turn(s); err != nil {
				return err
			}
			if !done {
				<-time.After(rand.N(2 * time.Millisecond)) // the holder needs the processor
			}
		}
	}
	return s.Close()
}

// turn acquires the thread, appends two records and releases it; it does nothing if somebody else has the thread.
func turn(s *postgres.Store) (bool, error) {
	ctx, nonce := context.Background(), checkpoint.NewNonce()
	l, err := s.Load(ctx, sharedKey, 0, "")
	if err != nil || l.Head.Held() {
		return false, err
	}
	h, err := s.Acquire(ctx, &checkpoint.Acquire{Key: sharedKey, Epoch: l.Head.Epoch, Nonce: nonce, TTL: time.Hour})
	if errors.Is(err, checkpoint.ErrHeld) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	pos := int64(0)
	if n := len(l.Records); n > 0 {
		pos = l.Records[n-1].Pos + 1
	}
	for i := range int64(2) {
		r := checkpoint.Record{Pos: pos + i, Ord: h.Epoch<<32 | i, By: nonce.Writer(), Base: pos + i, Kind: checkpoint.KindEntry, Body: make([]byte, 1000)}
		a := &checkpoint.Append{Key: sharedKey, Nonce: nonce, Records: []checkpoint.Record{r}}
		if i == 1 {
			a.Park = &checkpoint.Park{Status: checkpoint.Completed}
		}
		if _, err := s.Append(ctx, a); err != nil {
			return false, err
		}
		fmt.Println(r.Pos, r.Ord, r.By)
	}
	return true, nil
}

// E37, E38, report 148: three processes on one thread. Every acknowledged record is in the history, once, in order.
func TestThreeProcessesOnOneThread(t *testing.T) {
	t.Parallel()
	turns := 170
	if testing.Short() {
		turns = 25
	}
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	url := testserver.Postgres(t).URL()
	type acked struct{ pos, ord, by int64 }
	var all [3][]acked
	var wg sync.WaitGroup
	for i := range all {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", childEnv, turns, o.Schema, url))
		var stderr strings.Builder
		c.Stderr = &stderr
		out := must(c.StdoutPipe())
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				var a acked
				if _, err := fmt.Sscan(lines.Text(), &a.pos, &a.ord, &a.by); err != nil {
					t.Errorf("process %d printed %q", i, lines.Text())
				}
				all[i] = append(all[i], a)
			}
			if err := c.Wait(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, stderr.String())
			}
		})
	}
	wg.Wait()
	rs := must(openAt(t, url, o).Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: sharedKey}, To: -1}))
	if len(rs) != 3*2*turns {
		t.Errorf("%d records; want %d", len(rs), 3*2*turns)
	}
	for i, r := range rs {
		if r.Pos != int64(i) || i > 0 && r.Ord <= rs[i-1].Ord {
			t.Fatalf("record %d has position %d and order %x", i, r.Pos, r.Ord)
		}
	}
	for i := range all {
		for _, a := range all[i] {
			if a.pos >= int64(len(rs)) || rs[a.pos].Ord != a.ord || rs[a.pos].By != a.by {
				t.Fatalf("process %d: an acknowledged record is missing: %+v", i, a)
			}
		}
	}
}
