package golden_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testserver.Main{M: m}) }

// A tape records the writes to a store, to be played to another one up to any of them.
type tape struct {
	checkpoint.Store
	mu    sync.Mutex
	calls []func(ctx context.Context, s checkpoint.Store) error
}

func (t *tape) note(err error, call func(ctx context.Context, s checkpoint.Store) error) {
	if err == nil {
		t.mu.Lock()
		t.calls = append(t.calls, call)
		t.mu.Unlock()
	}
}

func (t *tape) Acquire(ctx context.Context, a *checkpoint.Acquire) (checkpoint.Head, error) {
	h, err := t.Store.Acquire(ctx, a)
	c := *a
	t.note(err, func(ctx context.Context, s checkpoint.Store) error { _, err := s.Acquire(ctx, &c); return err })
	return h, err
}

func (t *tape) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	ack, err := t.Store.Append(ctx, a)
	c := *a
	c.Records = slices.Clone(a.Records)
	t.note(err, func(ctx context.Context, s checkpoint.Store) error { _, err := s.Append(ctx, &c); return err })
	return ack, err
}

func (t *tape) Release(ctx context.Context, l checkpoint.Lease, seen int64) (bool, error) {
	ok, err := t.Store.Release(ctx, l, seen)
	t.note(err, func(ctx context.Context, s checkpoint.Store) error { _, err := s.Release(ctx, l, seen); return err })
	return ok, err
}

func (t *tape) Answer(ctx context.Context, k checkpoint.Key, rs []checkpoint.Reply) (int64, error) {
	n, err := t.Store.Answer(ctx, k, rs)
	t.note(err, func(ctx context.Context, s checkpoint.Store) error { _, err := s.Answer(ctx, k, rs); return err })
	return n, err
}

func (t *tape) Post(ctx context.Context, c checkpoint.Command) (int64, error) {
	n, err := t.Store.Post(ctx, c)
	t.note(err, func(ctx context.Context, s checkpoint.Store) error { _, err := s.Post(ctx, c); return err })
	return n, err
}

func (t *tape) Trim(ctx context.Context, c checkpoint.Chain, below int64) (int64, error) {
	n, err := t.Store.Trim(ctx, c, below)
	t.note(err, func(ctx context.Context, s checkpoint.Store) error { _, err := s.Trim(ctx, c, below); return err })
	return n, err
}

// E45, E5: whoever left a thread behind any of its writes, and whatever version that was, the present program brings it to the same
// end: the same state by the same tasks, each committed once. A migration that was cut off happens once all the same.
func TestCutAtEveryWrite(t *testing.T) {
	t.Parallel()
	for _, sc := range scenes {
		if sc.name == "crashed" { // whoever is cut off here has crashed, and this one would have to be waited for
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			th := graph.ID("1")
			rec := &tape{Store: new(checkpoint.Memory)}
			sc.leave(t, rec, th)
			first := len(rec.calls) // below it the calls of leave would be missing from the end, except for one Run alone
			if sc.alone {
				first = 1
			}
			end := finish(t, rec, th, 0)
			if len(rec.calls) < first {
				t.Fatal("nothing was written")
			}
			for n := first; n <= len(rec.calls); n++ {
				cut := new(checkpoint.Memory)
				for i, call := range rec.calls[:n] {
					if err := call(t.Context(), cut); err != nil {
						t.Fatalf("write %d: %v", i, err)
					}
				}
				if got := finish(t, cut, th, 0); !sameEnd(got, end) {
					t.Errorf("cut behind write %d of %d:\n%s\n%v\nwant\n%s\n%v", n, len(rec.calls), got.State, got.Entries, end.State, end.Entries)
				}
			}
		})
	}
}

// sameEnd compares what counts: a migration is an entry of its own, wherever it comes; and the node that asks has another name in
// version 0, and with it another place in the order of tasks that are scheduled together.
func sameEnd(a, b outcome) bool {
	entries := func(o outcome) (out []string) {
		for _, e := range o.Entries {
			if e != "D []" {
				tasks := strings.Fields(strings.ReplaceAll(strings.NewReplacer("[", " ", "]", " ").Replace(e), "gate", "ask"))
				slices.Sort(tasks)
				out = append(out, strings.Join(tasks, " "))
			}
		}
		return out
	}
	return string(a.State) == string(b.State) && slices.Equal(entries(a), entries(b))
}
