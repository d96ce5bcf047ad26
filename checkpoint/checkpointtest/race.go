package checkpointtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var raceCases = []testCase{
	{"create-at-once", "report 149", "of several that create a thread exactly one does: a store that looks before it locks makes two", createAtOnce},
	{"acquire-at-once", "C2", "of 16 that want a free thread exactly one gets it", acquireAtOnce},
	{"one-holder", "report 148", "16 workers on one thread: one holder at a time, no fork, no acknowledged record is missing", oneHolder},
	{"threads-at-once", "report 151", "threads do not disturb each other", threadsAtOnce},
}

const workers = 16

// atOnce runs f in 16 goroutines and counts those without an error.
func (e *env) atOnce(want error, f func(i int) error) (won int) {
	e.Helper()
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, want) {
			e.Fatalf("error %v; want %v", err, want)
		}
	}
	return won
}

func createAtOnce(e *env) {
	for round := range 20 {
		key := e.key(fmt.Sprint("thread-", round))
		won := e.atOnce(checkpoint.ErrHeld, func(i int) error {
			h := e.holder(key, 1)
			_, err := e.try(checkpoint.Acquire{
				Key: key, Nonce: h.nonce, Run: &checkpoint.Run{ID: fmt.Sprint("run-", i)}, Records: []checkpoint.Record{h.record("", checkpoint.KindInput, "")},
			})
			return err
		})
		e.equal("creators", won, 1)
		e.equal("records", len(e.read(key, "")), 1)
	}
}

func acquireAtOnce(e *env) {
	h := e.start(e.key("thread"))
	h.park(checkpoint.Completed, 0)
	for round := range 20 {
		var mu sync.Mutex
		var nonce checkpoint.Nonce
		won := e.atOnce(checkpoint.ErrHeld, func(int) error {
			head, err := e.try(checkpoint.Acquire{Key: h.Key, Epoch: int64(round + 1)})
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				nonce = head.Nonce
			}
			return err
		})
		e.equal("holders", won, 1)
		released, err := e.store.Release(e.Context(), checkpoint.Lease{Key: h.Key, Nonce: nonce}, 0)
		e.ok(err)
		e.equal("released", released, true)
	}
}

// A ledger is what was acknowledged.
type ledger struct {
	mu   sync.Mutex
	acks []checkpoint.Record
}

func oneHolder(e *env) {
	key := e.key("thread")
	var led ledger
	won := e.atOnce(nil, func(i int) error {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		for done := 0; done < 5; {
			n, err := e.turn(key, rng, &led)
			if err != nil {
				return err
			}
			if done += n; n == 0 {
				<-time.After(time.Duration(rng.Int64N(int64(4 * time.Millisecond)))) // the holder needs the processor more
			}
		}
		return nil
	})
	e.equal("workers without an error", won, workers)
	rs := e.read(key, "")
	place := map[int64]checkpoint.Record{}
	for i, r := range rs {
		if r.Pos != int64(i) || i > 0 && r.Ord <= rs[i-1].Ord {
			e.Fatalf("record %d has position %d and order %x after %x", i, r.Pos, r.Ord, rs[max(i-1, 0)].Ord)
		}
		place[r.Pos] = r
	}
	for _, r := range led.acks {
		if got := place[r.Pos]; got.By != r.By || got.Ord != r.Ord {
			e.Fatalf("the record at %d was acknowledged to %x and is of %x", r.Pos, r.By, got.By)
		}
	}
	if len(led.acks) < workers {
		e.Fatalf("only %d appends were acknowledged: the case has proved nothing", len(led.acks))
	}
}

// turn looks at the thread, takes it as it finds it, writes, and lets go or walks away. It returns how many of its writes
// were acknowledged.
func (e *env) turn(key checkpoint.Key, rng *rand.Rand, led *ledger) (acked int, err error) {
	l, err := e.store.Load(e.Context(), key, checkpoint.Active, "")
	if err != nil {
		return 0, err
	}
	a := checkpoint.Acquire{Key: key, Epoch: l.Head.Epoch, Nonce: checkpoint.NewNonce()}
	if l.Head.Held() {
		if a.Mode, a.Seen = checkpoint.Steal, l.Head.Nonce; rng.IntN(8) > 0 {
			return 0, nil
		}
	}
	head, err := e.try(a)
	if err != nil {
		return 0, unless(err, checkpoint.ErrHeld)
	}
	l, err = e.store.Load(e.Context(), key, checkpoint.Active, "") // what was read before the acquisition does not count
	if err != nil {
		return 0, err
	}
	h := e.holder(key, head.Epoch)
	h.nonce = a.Nonce
	if n := len(l.Records); n > 0 {
		h.next[checkpoint.Chain{}] = l.Records[n-1].Pos + 1
	}
	for range rng.IntN(5) + 1 {
		r := h.record("", checkpoint.KindEntry, "work")
		if _, err := e.store.Append(e.Context(), h.write(r)); err != nil {
			return acked, unless(err, checkpoint.ErrStale)
		}
		led.add(r)
		acked++
	}
	if rng.IntN(3) == 0 {
		return acked, nil
	}
	_, err = e.store.Release(e.Context(), checkpoint.Lease{Key: key, Nonce: a.Nonce}, 0)
	return acked, unless(err, checkpoint.ErrStale)
}

func (l *ledger) add(r checkpoint.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acks = append(l.acks, r)
}

// unless is err, or nil if it is one that was to be expected.
func unless(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

func threadsAtOnce(e *env) {
	const steps = 30
	e.atOnce(nil, func(i int) error {
		h := e.holder(e.key(fmt.Sprint("thread-", i)), 1)
		_, err := e.try(checkpoint.Acquire{Key: h.Key, Nonce: h.nonce, Run: &checkpoint.Run{ID: "run"}})
		for s := range steps {
			if err == nil {
				_, err = e.store.Append(e.Context(), h.write(h.record("", checkpoint.KindEntry, fmt.Sprint(i, " ", s))))
			}
		}
		return err
	})
	for i := range workers {
		for s, r := range e.read(e.key(fmt.Sprint("thread-", i)), "") {
			e.equal("body", string(r.Body), fmt.Sprint(i, " ", s))
		}
		e.equal("records", len(e.read(e.key(fmt.Sprint("thread-", i)), "")), steps)
	}
}
