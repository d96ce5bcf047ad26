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
	k.renew()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer = nil
	if len(k.runs) > 0 {
		k.busy.Add(1)
		k.timer = time.AfterFunc(k.lease/3, k.tick)
	}
}

// renew renews all leases once. A store that does not answer is asked again at the next tick; whether a lease is lost, only
// the store says.
func (k *keeper) renew(only ...*run) {
	k.mu.Lock()
	runs := only
	if len(only) == 0 {
		for r := range k.runs {
			runs = append(runs, r)
		}
	}
	k.mu.Unlock()
	if len(runs) == 0 {
		return
	}
	leases := make([]checkpoint.Lease, len(runs))
	for i, r := range runs {
		leases[i] = checkpoint.Lease{Key: r.key, Nonce: r.journal.nonce}
	}
	ctx, cancel := context.WithTimeout(context.Background(), k.lease/2)
	defer cancel()
	at := time.Now()
	got, err := k.store.Renew(ctx, leases, k.lease)
	if err != nil {
		return
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
}
