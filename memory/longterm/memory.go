package longterm

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// NewMemory returns a store for tests, which forgets with the process.
func NewMemory(o Options) (*Store, error) { return New(MemoryBackend(), o) }

// MemoryBackend returns the back end of NewMemory, empty, for tests that put something in front of it.
func MemoryBackend() Backend { return &inMemory{homes: map[memory.Scope]*home{}} }

type inMemory struct {
	mu    sync.Mutex
	homes map[memory.Scope]*home
}

// home of a scope. It stays when the scope is erased, so that who waits for it writes into it and nowhere else.
func (b *inMemory) home(sc memory.Scope) *home {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.homes[sc]
	if h == nil {
		h = newHome()
		b.homes[sc] = h
	}
	return h
}

// all are the homes, in no order.
func (b *inMemory) all() (all []*home) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.homes {
		all = append(all, h)
	}
	return all
}

func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func (b *inMemory) View(ctx context.Context, sc memory.Scope, f func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h := b.home(sc)
	h.mu.RLock()
	defer h.mu.RUnlock()
	return f(&memoryTx{Map: h.index, home: h, now: now()})
}

func (b *inMemory) Update(ctx context.Context, sc memory.Scope, f func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h := b.home(sc)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.erased {
		return memory.ErrErased
	}
	tx := &memoryTx{Map: h.index.Begin(), home: h, now: now()}
	done := false
	defer func() {
		if !done { // it failed, or panicked
			for _, undo := range slices.Backward(tx.undo) {
				undo()
			}
		}
	}()
	if err := f(tx); err != nil {
		return err
	}
	tx.Commit()
	done = true
	return nil
}

func (b *inMemory) Claim(ctx context.Context, holder string, lease time.Duration, limit int) ([]JobRow, error) {
	at := now()
	var due []JobRow
	for _, h := range b.all() {
		h.mu.RLock()
		for id := range h.open {
			if j := h.jobs[id]; j.claimable(at) {
				due = append(due, j)
			}
		}
		h.mu.RUnlock()
	}
	slices.SortFunc(due, func(a, b JobRow) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID)) })
	var out []JobRow
	for _, j := range due {
		if len(out) == limit {
			break
		}
		h := b.home(j.Scope)
		h.mu.Lock()
		if j := h.jobs[j.ID]; h.open[j.ID] && j.claimable(at) {
			j.Holder, j.Held = holder, at.Add(lease)
			h.jobs[j.ID] = j
			out = append(out, j.clone())
		}
		h.mu.Unlock()
	}
	return out, ctx.Err()
}

// claimable reports whether a job is due and nobody holds it.
func (j JobRow) claimable(at time.Time) bool {
	return (j.State == Queued || j.State == Failing) && !j.Due.After(at) && !j.Held.After(at)
}

func (j JobRow) clone() JobRow {
	j.Body = slices.Clone(j.Body)
	return j
}

func (b *inMemory) Next(ctx context.Context) (due, at time.Time, err error) {
	for _, h := range b.all() {
		h.mu.RLock()
		for id := range h.open {
			j := h.jobs[id]
			next := later(j.Due, j.Held)
			if (j.State == Queued || j.State == Failing) && (due.IsZero() || next.Before(due)) {
				due = next
			}
		}
		h.mu.RUnlock()
	}
	return due, now(), ctx.Err()
}

func (b *inMemory) Erase(ctx context.Context, sc memory.Scope) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h := b.home(sc)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rows, h.erased = newRows(), true
	return nil
}

func (b *inMemory) Readmit(ctx context.Context, sc memory.Scope) error {
	h := b.home(sc)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.erased = false
	return ctx.Err()
}

func (b *inMemory) Count(ctx context.Context, sc memory.Scope) (int, error) {
	h := b.home(sc)
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.items) + len(h.shelves) + len(h.jobs), ctx.Err()
}

func (b *inMemory) Close() error { return nil }

// Nothing is kept of what is deleted.
func (b *inMemory) Compact(context.Context) error { return nil }
