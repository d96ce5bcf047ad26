package graph

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A keeper renews the leases of all runs of an App in one call, a third of a lease apart. It has no goroutine while
// there is nothing to renew.
type keeper struct {
	store checkpoint.Store
	lease time.Duration

	mu    sync.Mutex
	runs  map[*run]time.Time // when the lease was last known to be good
	timer *time.Timer
	busy  sync.WaitGroup
}

func newKeeper(s checkpoint.Store, lease time.Duration) *keeper {
	return &keeper{store: s, lease: lease, runs: map[*run]time.Time{}}
}

// keep begins to renew a run's lease, which was good at the given time.
func (k *keeper) keep(r *run, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs[r] = at
	if k.timer == nil {
		k.busy.Add(1)
		k.timer = time.AfterFunc(k.lease/3, k.tick)
	}
}

// drop ends it.
func (k *keeper) drop(r *run) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.runs, r)
	if len(k.runs) == 0 && k.timer != nil && k.timer.Stop() {
		k.timer = nil
		k.busy.Done()
	}
}

// wait waits for a renewal under way.
func (k *keeper) wait() { k.busy.Wait() }

// fresh reports whether the lease is known to be good.
func (k *keeper) fresh(r *run) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Since(k.runs[r]) < k.lease
}

func (k *keeper) tick() {
	defer k.busy.Done()
	k.renewSoon()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer = nil
	if len(k.runs) > 0 {
		k.busy.Add(1)
		k.timer = time.AfterFunc(k.lease/3, k.tick)
	}
}

// renewSoon renews all leases. A store that does not answer is asked again until the leases have run out, a third of a lease
// after the last renewal plus two thirds here: a connection that leads nowhere any more costs a try and no lease.
func (k *keeper) renewSoon() {
	start := time.Now()
	for !k.renew() && time.Since(start) < 2*k.lease/3 {
		if sleep(context.Background(), realClock{}, k.lease/60) != nil {
			return
		}
	}
}

// renew renews all leases once, and reports whether the store has answered. Whether a lease is lost, only the store says.
func (k *keeper) renew(only ...*run) bool {
	k.mu.Lock()
	runs := only
	if len(only) == 0 {
		for r := range k.runs {
			runs = append(runs, r)
		}
	}
	k.mu.Unlock()
	if len(runs) == 0 {
		return true
	}
	leases := make([]checkpoint.Lease, len(runs))
	for i, r := range runs {
		leases[i] = checkpoint.Lease{Key: r.key, Nonce: r.journal.nonce}
	}
	// Several tries fit into a lease; where that is so short that a slow machine would not manage one, only one does.
	ctx, cancel := context.WithTimeout(context.Background(), max(k.lease/6, min(k.lease/2, 100*time.Millisecond)))
	defer cancel()
	at := time.Now()
	got, err := k.store.Renew(ctx, leases, k.lease)
	if err != nil {
		return false
	}
	k.mu.Lock()
	for i, r := range runs {
		if _, ok := k.runs[r]; ok && !got[i].Lost {
			k.runs[r] = at
		}
	}
	k.mu.Unlock()
	for i, r := range runs {
		r.renewed(got[i])
	}
	return true
}
