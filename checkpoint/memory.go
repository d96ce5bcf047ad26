package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Memory is a store in the memory of one process: for tests, and for runs that need not outlive it. Its zero value is
// empty and ready. It must not be copied after first use.
//
// Bodies are copied when they are stored and handed out as they are: a reader must not write into Record.Body,
// Question.Body and the like. Calls on different threads do not wait for each other, except that creating and deleting a
// thread stops all of them for as long as a map operation takes. Lists over threads look at every thread.
type Memory struct {
	// Now is the store's clock; nil means the time since the process started, which never
	// jumps. It must be set before first use and be safe for concurrent use.
	Now func() time.Time

	// CacheBytes is how much it keeps of cached bodies, with what surrounds them; 0 means 64 MiB. It must be set before first use.
	CacheBytes int64

	// mu guards the map and closed. Every call holds it for reading until it is done, so that a thread cannot vanish
	// under a call and Close waits.
	mu      sync.RWMutex
	threads map[Key]*memThread
	closed  bool
	cache   memCache
}

// Info says that nothing outlives the process.
func (m *Memory) Info() Info {
	return Info{Name: "memory", Durability: "memory", LossWindow: Forever, Local: true}
}

// Close frees everything; later calls return ErrClosed.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.threads, m.cache = true, nil, memCache{}
	return nil
}

// Load implements Log.
func (m *Memory) Load(ctx context.Context, key Key, branch int32, ns Namespace) (*Loaded, error) {
	l := &Loaded{Head: Head{Key: key}, Branch: max(branch, 0)}
	err := m.view(ctx, key, func(t *memThread, now time.Time) error {
		l.Head = t.header(now)
		l.Branch = t.resolve(branch)
		if c := t.chains[chainID{l.Branch, ns}]; c != nil {
			base := c.records[len(c.records)-1].Base
			l.Records = slices.Clone(c.records[c.index(base):])
		}
		for _, q := range t.questions {
			if q.Branch == l.Branch && q.State != Closed {
				l.Questions = append(l.Questions, q.seen(now))
			}
		}
		slices.SortFunc(l.Questions, compareQuestions)
		l.Inbox = slices.Clone(t.inbox)
		l.Branches = slices.Clone(t.branches)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Read implements Log.
func (m *Memory) Read(ctx context.Context, q Query) ([]Record, error) {
	var out []Record
	err := m.view(ctx, q.Key, func(t *memThread, _ time.Time) error {
		if c := t.chains[chainID{t.resolve(q.Branch), q.Namespace}]; c != nil {
			out = c.read(&q)
		}
		return nil
	})
	return out, err
}

// Chains implements Log.
func (m *Memory) Chains(ctx context.Context, key Key, branch int32) ([]Record, error) {
	var out []Record
	err := m.view(ctx, key, func(t *memThread, _ time.Time) error {
		branch := t.resolve(branch)
		for id, c := range t.chains {
			if id.branch == branch {
				r := c.records[len(c.records)-1]
				r.Body = nil
				out = append(out, r)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Record) int { return cmp.Compare(a.Namespace, b.Namespace) })
	return out, err
}

// Append implements Log.
func (m *Memory) Append(ctx context.Context, a *Append) (Ack, error) {
	if err := a.Valid(); err != nil {
		return Ack{}, err
	}
	w := writeOf(a)
	var ack Ack
	err := m.change(ctx, a.Key, func(t *memThread, now time.Time) (err error) {
		ack, err = t.append(a, w, now)
		return err
	}, ErrStale)
	return ack, err
}

// Trim implements Log.
func (m *Memory) Trim(ctx context.Context, c Chain, below int64) (int64, error) {
	var removed int64
	err := m.change(ctx, c.Key, func(t *memThread, _ time.Time) error {
		removed = t.trim(chainID{t.resolve(c.Branch), c.Namespace}, below)
		return nil
	}, nil)
	return removed, err
}

// Delete implements Log.
func (m *Memory) Delete(ctx context.Context, key Key) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	delete(m.threads, key)
	return nil
}

// Acquire implements Leaser.
func (m *Memory) Acquire(ctx context.Context, a *Acquire) (Head, error) {
	if err := a.Valid(); err != nil {
		return Head{}, err
	}
	w := writeOf(&Append{Key: a.Key, Records: a.Records, Closed: a.Closed, Branch: a.Branch, Activate: a.Activate})
	if a.Mode == Free && a.Epoch == 0 {
		return m.create(ctx, a, w)
	}
	var head Head
	err := m.change(ctx, a.Key, func(t *memThread, now time.Time) (err error) {
		head, err = t.acquire(a, w, now)
		return err
	}, ErrHeld)
	return head, err
}

// create makes a thread and acquires it under one lock, so that of several creators exactly one wins.
func (m *Memory) create(ctx context.Context, a *Acquire, w *write) (Head, error) {
	if err := begin(ctx, a.Key); err != nil {
		return Head{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return Head{}, ErrClosed
	}
	now := m.now()
	if t := m.threads[a.Key]; t != nil {
		return t.acquire(a, w, now)
	}
	t := newThread(a.Key, a.Owner, now)
	head, err := t.acquire(a, w, now)
	if err != nil {
		return Head{}, err
	}
	if m.threads == nil {
		m.threads = map[Key]*memThread{}
	}
	m.threads[a.Key] = t
	return head, nil
}

// Renew implements Leaser.
func (m *Memory) Renew(ctx context.Context, leases []Lease, ttl time.Duration) ([]Renewal, error) {
	out := make([]Renewal, len(leases))
	for i, l := range leases {
		out[i].Lost = true
		err := m.change(ctx, l.Key, func(t *memThread, now time.Time) error {
			if t.head.Nonce == l.Nonce && t.head.Held() {
				t.head.LeaseUntil = now.Add(ttl)
				out[i] = Renewal{Inbox: t.head.Inbox}
			}
			return nil
		}, nil)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Release implements Leaser. It can tell its own release: a repeat returns true.
func (m *Memory) Release(ctx context.Context, l Lease, seen int64) (bool, error) {
	released := false
	err := m.change(ctx, l.Key, func(t *memThread, _ time.Time) error {
		switch {
		case l.Nonce.Zero():
			return ErrStale
		case t.head.Nonce == l.Nonce:
			released = t.release(seen)
		case !t.head.Held() && t.released == l.Nonce:
			released = true
		default:
			return ErrStale
		}
		return nil
	}, ErrStale)
	return released, err
}

// Answer implements Desk.
func (m *Memory) Answer(ctx context.Context, key Key, replies []Reply) (int64, error) {
	if err := ValidReplies(key, replies); err != nil {
		return 0, err
	}
	var inbox int64
	unknown := &NotPendingError{Question: replies[0].Question, State: Closed}
	err := m.change(ctx, key, func(t *memThread, now time.Time) (err error) {
		inbox, err = t.answer(replies, now)
		return err
	}, unknown)
	return inbox, err
}

// Post implements Desk.
func (m *Memory) Post(ctx context.Context, c Command) (int64, error) {
	if err := c.Valid(); err != nil {
		return 0, err
	}
	c.Body = bytes.Clone(c.Body)
	var n int64
	err := m.change(ctx, c.Key, func(t *memThread, now time.Time) error {
		n = t.post(c, now)
		return nil
	}, ErrNoThread)
	return n, err
}

// Inbox implements Desk.
func (m *Memory) Inbox(ctx context.Context, key Key) ([]Command, error) {
	var out []Command
	err := m.view(ctx, key, func(t *memThread, _ time.Time) error {
		out = slices.Clone(t.inbox)
		return nil
	})
	return out, err
}

// view calls f with the thread, if it is there.
func (m *Memory) view(ctx context.Context, key Key, f func(*memThread, time.Time) error) error {
	return m.change(ctx, key, f, nil)
}

// change calls f with the thread locked; without such a thread it returns missing.
func (m *Memory) change(ctx context.Context, key Key, f func(*memThread, time.Time) error, missing error) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return ErrClosed
	}
	t := m.threads[key]
	if t == nil {
		return missing
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return f(t, m.now())
}

// now is in whole milliseconds, as on the other stores.
func (m *Memory) now() time.Time {
	if m.Now != nil {
		return m.Now().UTC().Truncate(time.Millisecond)
	}
	return processStart.Add(time.Since(processStart)).Truncate(time.Millisecond)
}

// processStart makes the clock monotonic: a wall clock that is set must not end leases.
var processStart = time.Now().UTC()

// begin refuses a bad key and a context that has ended.
func begin(ctx context.Context, key Key) error {
	if err := key.Valid(); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
