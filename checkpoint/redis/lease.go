package redis

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A hold is what this process knows of an acquisition of its own: enough to see that the server has lost some of it.
type hold struct {
	epoch   int64
	created int64 // when the thread was created: one of the same key that was made after a deletion is another one
	ord     int64 // of the last record that was acknowledged; 0: unknown
}

type holds struct {
	mu sync.Mutex
	m  map[checkpoint.Lease]hold
}

func (h *holds) get(l checkpoint.Lease) hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.m[l]
}

func (h *holds) took(l checkpoint.Lease, new hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	new.ord = max(new.ord, h.m[l].ord) // an acquisition that is repeated may come after an append
	h.m[l] = new
}

func (h *holds) wrote(l checkpoint.Lease, ord int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old, ok := h.m[l]; ok && ord > old.ord {
		old.ord = ord
		h.m[l] = old
	}
}

func (h *holds) drop(l checkpoint.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.m, l)
}

// Acquire implements checkpoint.Leaser. It announces the thread to the lists first, which is a round trip of its own.
func (s *Store) Acquire(ctx context.Context, a *checkpoint.Acquire) (checkpoint.Head, error) {
	if err := a.Valid(); err != nil {
		return checkpoint.Head{}, err
	}
	w := &checkpoint.Append{Key: a.Key, Records: a.Records, Closed: a.Closed, Branch: a.Branch, Activate: a.Activate}
	if err := s.weigh(w); err != nil {
		return checkpoint.Head{}, err
	}
	return do(ctx, s, func(ctx context.Context) (checkpoint.Head, error) { return s.acquire(ctx, a, w) })
}

func (s *Store) acquire(ctx context.Context, a *checkpoint.Acquire, w *checkpoint.Append) (checkpoint.Head, error) {
	sets := "al"
	if a.Run != nil && a.Run.First() == checkpoint.Interrupted {
		sets = "alw"
	}
	_, valid, err := s.announce(ctx, a.Key, sets)
	if err != nil {
		return checkpoint.Head{}, err
	}
	holder, err := json.Marshal(a.Holder)
	if err != nil {
		return checkpoint.Head{}, err
	}
	args := []value{int(a.Mode), a.Epoch, a.Seen[:], a.Nonce[:], a.TTL.Milliseconds(), holder, a.Owner, valid, s.o.TTL.Milliseconds()}
	if run := a.Run; run == nil {
		args = append(args, "", "", "", "", "")
	} else {
		row, err := json.Marshal(runRow{run.Request, run.Graph, run.By, run.Meta})
		if err != nil {
			return checkpoint.Head{}, err
		}
		meta, err := json.Marshal(run.Meta)
		if err != nil {
			return checkpoint.Head{}, err
		}
		args = append(args, run.ID, run.Request, row, run.Graph, meta)
	}
	resume, again, first := 0, 0, checkpoint.Running
	if a.Resume {
		resume = 1
	}
	if a.Run != nil {
		first = a.Run.First()
	}
	if a.Again {
		again = 1
	}
	r := s.eval(ctx, scriptAcquire, a.Key, write(append(args, resume, int(first), again), w)...)
	switch verdict := r.text(); {
	case r.err != nil:
		return checkpoint.Head{}, r.err
	case verdict == "held":
		return checkpoint.Head{}, checkpoint.ErrHeld
	case verdict == "stale":
		return checkpoint.Head{}, checkpoint.ErrStale
	case verdict == "late":
		return checkpoint.Head{}, errLate
	case verdict == "expiring":
		return checkpoint.Head{}, errExpiring
	case verdict == "duplicate":
		run, err := decodeRun(a.Key, r.text(), r.text(), r.text())
		if err != nil {
			return checkpoint.Head{}, err
		}
		return checkpoint.Head{}, &checkpoint.DuplicateError{Run: run}
	}
	now := r.int()
	h := r.head(a.Key, now)
	if r.err != nil {
		return checkpoint.Head{}, r.err
	}
	ord := int64(0)
	if n := len(a.Records); n > 0 {
		ord = a.Records[n-1].Ord
	}
	s.holds.took(checkpoint.Lease{Key: a.Key, Nonce: a.Nonce}, hold{h.Epoch, millis(h.Created), ord})
	return h, nil
}

// Renew implements checkpoint.Leaser: all leases in one round trip, on a connection of its own.
func (s *Store) Renew(ctx context.Context, leases []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	return do(ctx, s, func(ctx context.Context) ([]checkpoint.Renewal, error) {
		out := make([]checkpoint.Renewal, len(leases))
		tasks := make([]task, len(leases))
		for i, l := range leases {
			h := s.holds.get(l)
			tasks[i] = task{s.keys(l.Key), []value{l.Nonce[:], ttl.Milliseconds(), h.epoch, h.created}}
		}
		for i, r := range evalAll(ctx, s.renewer, scriptRenew, tasks) {
			out[i] = checkpoint.Renewal{Lost: r.int() == 1, Inbox: r.int(), RolledBack: r.int() == 1}
			if r.err != nil {
				return nil, r.err
			}
			if out[i].Lost && !out[i].RolledBack { // of one that was rolled back the next write is to say so too
				s.holds.drop(leases[i])
			}
		}
		return out, nil
	})
}

// Release implements checkpoint.Leaser. It can tell its own release: a repeat returns true.
func (s *Store) Release(ctx context.Context, l checkpoint.Lease, seen int64) (bool, error) {
	if err := l.Key.Valid(); err != nil {
		return false, err
	}
	if l.Nonce.Zero() {
		return false, checkpoint.ErrStale
	}
	return do(ctx, s, func(ctx context.Context) (bool, error) {
		r := s.eval(ctx, scriptRelease, l.Key, l.Nonce[:], seen, s.o.TTL.Milliseconds())
		verdict := r.int()
		if r.err != nil {
			return false, r.err
		}
		if verdict != 0 {
			s.holds.drop(l)
		}
		if verdict < 0 {
			return false, checkpoint.ErrStale
		}
		return verdict == 1, nil
	})
}
