package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"go.uber.org/goleak"
)

// childEnv makes the test binary a worker on a file: "turns path".
const childEnv = "HOLDFAST_SQLITE_TEST_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		if err := child(args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// An acked is a record that was acknowledged, as a child prints it.
type acked struct {
	thread       int
	pos, ord, by int64
}

func processKey(thread int) checkpoint.Key {
	return checkpoint.Key{Tenant: "tenant", Thread: fmt.Sprint("thread-", thread)}
}

// child takes turns on four threads and prints every record that was acknowledged.
func child(args string) error {
	var turns int
	var path string
	if _, err := fmt.Sscanf(args, "%d %s", &turns, &path); err != nil {
		return err
	}
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	for range turns {
		for done := false; !done; {
			if done, err = turn(s, rand.IntN(4)); err != nil {
				return err
			}
			if !done {
				time.Sleep(rand.N(2 * time.Millisecond)) // the holder needs the processor
			}
		}
	}
	return s.Close()
}

// turn acquires a thread, appends two records and releases it; it does nothing if somebody else has the thread.
func turn(s *sqlite.Store, thread int) (bool, error) {
	ctx, key, nonce := context.Background(), processKey(thread), checkpoint.NewNonce()
	l, err := s.Load(ctx, key, 0, "")
	if err != nil || l.Head.Held() {
		return false, err
	}
	h, err := s.Acquire(ctx, &checkpoint.Acquire{Key: key, Epoch: l.Head.Epoch, Nonce: nonce, TTL: time.Hour})
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
		a := &checkpoint.Append{Key: key, Nonce: nonce, Records: []checkpoint.Record{r}}
		if i == 1 {
			a.Park = &checkpoint.Park{Status: checkpoint.Completed}
		}
		if _, err := s.Append(ctx, a); err != nil {
			return false, err
		}
		fmt.Println(thread, r.Pos, r.Ord, r.By)
	}
	return true, nil
}

// startChild runs a child; after each line that it prints, seen is called. wait returns what was acknowledged.
func startChild(t *testing.T, turns int, path string, seen func(n int, c *exec.Cmd)) (wait func() ([]acked, error)) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+strconv.Itoa(turns)+" "+path)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return func() ([]acked, error) {
		var all []acked
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var a acked
			if n, _ := fmt.Sscan(lines.Text(), &a.thread, &a.pos, &a.ord, &a.by); n == 4 { // a killed child may have cut its last line
				all = append(all, a)
			}
			seen(len(all), c)
		}
		return all, c.Wait()
	}
}

// present fails unless all records are there and no chain has a gap.
func present(t *testing.T, s *sqlite.Store, all []acked) {
	t.Helper()
	places := map[int][]checkpoint.Record{}
	for thread := range 4 {
		rs, err := s.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: processKey(thread)}, To: -1})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rs {
			if r.Pos != int64(i) || i > 0 && r.Ord <= rs[i-1].Ord {
				t.Fatalf("thread %d: record %d has position %d", thread, i, r.Pos)
			}
		}
		places[thread] = rs
	}
	for _, a := range all {
		if rs := places[a.thread]; a.pos >= int64(len(rs)) || rs[a.pos].Ord != a.ord || rs[a.pos].By != a.by {
			t.Fatalf("an acknowledged record is missing: %+v", a)
		}
	}
}

// Reports 158, 160: "database is locked" with several processes on one file.
func TestEightProcessesOnOneFile(t *testing.T) {
	t.Parallel()
	turns := 200
	if testing.Short() {
		turns = 20
	}
	path := filepath.Join(t.TempDir(), "threads.db")
	var all [8][]acked
	var wg sync.WaitGroup
	for i := range all {
		wait := startChild(t, turns, path, func(int, *exec.Cmd) {})
		wg.Go(func() {
			var err error
			if all[i], err = wait(); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	s := openAt(t, path, sqlite.Options{})
	for i := range all {
		if len(all[i]) != 2*turns {
			t.Errorf("process %d: %d records were acknowledged; want %d", i, len(all[i]), 2*turns)
		}
		present(t, s, all[i])
	}
}

// C20: kill -9 in the middle of writing, again and again on one file.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "threads.db")
	var all []acked
	for round := range 5 {
		wait := startChild(t, 1_000_000, path, func(n int, c *exec.Cmd) {
			if n == 20+round*7 {
				c.Process.Kill()
			}
		})
		acks, err := wait()
		if err == nil || len(acks) < 20 {
			t.Fatalf("the child ended by itself after %d records: %v", len(acks), err)
		}
		all = append(all, acks...)
		s := openAt(t, path, sqlite.Options{})
		present(t, s, all)
		for thread := range 4 { // what the dead process held is taken at once
			l, err := s.Load(t.Context(), processKey(thread), 0, "")
			if err != nil {
				t.Fatal(err)
			}
			if !l.Head.Held() {
				continue
			}
			nonce := checkpoint.NewNonce()
			if _, err := s.Acquire(t.Context(), &checkpoint.Acquire{Key: l.Head.Key, Mode: checkpoint.Steal, Seen: l.Head.Nonce, Nonce: nonce, TTL: time.Hour}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Release(t.Context(), checkpoint.Lease{Key: l.Head.Key, Nonce: nonce}, l.Head.Inbox); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A file that another process is just making is not a foreign one.
func TestEightProcessesMakeOneFile(t *testing.T) {
	t.Parallel()
	for range 5 {
		path := filepath.Join(t.TempDir(), "threads.db")
		var wg sync.WaitGroup
		for i := range 8 {
			wait := startChild(t, 1, path, func(int, *exec.Cmd) {})
			wg.Go(func() {
				if _, err := wait(); err != nil {
					t.Errorf("process %d: %v", i, err)
				}
			})
		}
		wg.Wait()
	}
}
