package crash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A brokenStore has a fault that no store may have. The tests must notice each of them.
type brokenStore struct {
	checkpoint.Store
	fault string

	mu    sync.Mutex
	first *checkpoint.Loaded
	queue []*checkpoint.Append // of the fault "background"
	done  map[int64]bool       // of the fault "no-read-back": the orders of what was written
}

// Faults are the guarantees that a store may lack, one at a time.
var Faults = []string{
	"background",       // an append is acknowledged at once and written with the next one, its error dropped
	"lose-once",        // an append that records an effect is acknowledged and not written
	"stale-load",       // a load misses the last record
	"first-load",       // every load is the first one
	"forget-park",      // the end of a run is acknowledged and its status not written
	"drop-stale",       // what comes too late is acknowledged
	"no-cas",           // an append is written behind whatever is there, not at the position it names
	"no-nonce",         // an append is written whoever holds the thread
	"no-read-back",     // a repeated append is not recognised
	"no-release-guard", // the lease is released although something has come in that nobody has looked at
}

// Break gives a store a fault. An empty fault leaves it as it is.
func Break(s checkpoint.Store, fault string) (checkpoint.Store, error) {
	if fault == "" {
		return s, nil
	}
	if !slices.Contains(Faults, fault) {
		return nil, fmt.Errorf("there is no fault %q", fault)
	}
	return &brokenStore{Store: s, fault: fault, done: map[int64]bool{}}, nil
}

// Append implements checkpoint.Log.
func (b *brokenStore) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fine := checkpoint.Ack{Inbox: a.Seen, Released: a.Park != nil}
	last := a.Records[len(a.Records)-1].Ord
	switch {
	case b.fault == "background":
		for _, late := range b.queue {
			b.Store.Append(ctx, late)
		}
		if b.queue = nil; a.Park == nil {
			b.queue = []*checkpoint.Append{a}
			return fine, nil
		}
	case b.fault == "lose-once" && a.Records[0].Kind == checkpoint.KindOnce:
		return fine, nil
	case b.fault == "forget-park" && a.Park != nil:
		kept := *a
		kept.Park = nil
		b.Store.Append(ctx, &kept)
		return fine, nil
	case b.fault == "no-read-back" && b.done[last]:
		return checkpoint.Ack{}, checkpoint.ErrStale
	case b.fault == "no-cas":
		return b.behind(ctx, a, a.Nonce)
	case b.fault == "no-release-guard" && a.Park != nil:
		return b.blind(ctx, a)
	}
	ack, err := b.Store.Append(ctx, a)
	b.done[last] = err == nil
	switch {
	case b.fault == "drop-stale" && errors.Is(err, checkpoint.ErrStale):
		return fine, nil
	case b.fault == "no-nonce" && errors.Is(err, checkpoint.ErrStale):
		return b.barge(ctx, a)
	}
	return ack, err
}

// behind writes an append behind what is there.
func (b *brokenStore) behind(ctx context.Context, a *checkpoint.Append, nonce checkpoint.Nonce) (checkpoint.Ack, error) {
	first := a.Records[0]
	l, err := b.Store.Load(ctx, a.Key, first.Branch, first.Namespace)
	if err != nil {
		return checkpoint.Ack{}, err
	}
	moved := *a
	moved.Nonce, moved.Seen = nonce, l.Head.Inbox
	moved.Records = slices.Clone(a.Records)
	pos, ord, base := int64(0), int64(0), int64(0)
	if n := len(l.Records); n > 0 {
		pos, ord, base = l.Records[n-1].Pos+1, l.Records[n-1].Ord+1, l.Records[n-1].Base
	}
	for i := range moved.Records {
		r := &moved.Records[i]
		r.Pos, r.Ord, r.By, r.Base = pos+int64(i), max(ord, l.Head.Epoch<<32+1)+int64(i), nonce.Writer(), base
	}
	return b.Store.Append(ctx, &moved)
}

// barge writes an append for a holder that has lost the thread.
func (b *brokenStore) barge(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	l, err := b.Store.Load(ctx, a.Key, a.Records[0].Branch, a.Records[0].Namespace)
	if err != nil {
		return checkpoint.Ack{}, err
	}
	nonce := l.Head.Nonce
	if nonce.Zero() {
		nonce = checkpoint.NewNonce()
		take := &checkpoint.Acquire{Key: a.Key, Mode: checkpoint.Free, Epoch: l.Head.Epoch, Nonce: nonce, TTL: time.Minute}
		if _, err := b.Store.Acquire(ctx, take); err != nil {
			return checkpoint.Ack{}, err
		}
	}
	return b.behind(ctx, a, nonce)
}

// blind releases whatever has come in.
func (b *brokenStore) blind(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	l, err := b.Store.Load(ctx, a.Key, a.Records[0].Branch, a.Records[0].Namespace)
	if err != nil {
		return checkpoint.Ack{}, err
	}
	kept := *a
	kept.Seen = l.Head.Inbox
	ack, err := b.Store.Append(ctx, &kept)
	ack.Inbox = a.Seen
	return ack, err
}

// Renew implements checkpoint.Leaser.
func (b *brokenStore) Renew(ctx context.Context, leases []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	if b.fault == "drop-stale" || b.fault == "no-nonce" {
		return make([]checkpoint.Renewal, len(leases)), nil
	}
	return b.Store.Renew(ctx, leases, ttl)
}

// Load implements checkpoint.Log.
func (b *brokenStore) Load(ctx context.Context, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	l, err := b.Store.Load(ctx, key, branch, ns)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.fault == "stale-load" && len(l.Records) > 1:
		l.Records = l.Records[:len(l.Records)-1]
	case b.fault == "first-load" && b.first != nil:
		old := *b.first
		old.Head.Nonce = l.Head.Nonce
		return &old, nil
	case b.first == nil:
		b.first = l
	}
	return l, nil
}
