package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A brokenStore has a fault that no store may have. The test must notice each of them.
type brokenStore struct {
	checkpoint.Store
	fault string

	mu    sync.Mutex
	first *checkpoint.Loaded
	queue []*checkpoint.Append // of the fault "background"
}

var faults = []string{
	"background",  // an append is acknowledged at once and written with the next one, its error dropped
	"lose-once",   // an append that records an effect is acknowledged and not written
	"stale-load",  // a load misses the last record
	"first-load",  // every load is the first one
	"forget-park", // the end of a run is acknowledged and its status not written
	"drop-stale",  // what comes too late is acknowledged
}

func breakStore(s checkpoint.Store, fault string) (checkpoint.Store, error) {
	if fault == "" {
		return s, nil
	}
	if !slices.Contains(faults, fault) {
		return nil, fmt.Errorf("there is no fault %q", fault)
	}
	return &brokenStore{Store: s, fault: fault}, nil
}

func (b *brokenStore) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fine := checkpoint.Ack{Inbox: a.Seen, Released: a.Park != nil}
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
	}
	ack, err := b.Store.Append(ctx, a)
	if b.fault == "drop-stale" && errors.Is(err, checkpoint.ErrStale) {
		return fine, nil
	}
	return ack, err
}

func (b *brokenStore) Renew(ctx context.Context, leases []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	if b.fault == "drop-stale" {
		return make([]checkpoint.Renewal, len(leases)), nil
	}
	return b.Store.Renew(ctx, leases, ttl)
}

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
