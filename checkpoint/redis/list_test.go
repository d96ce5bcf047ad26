package redis_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// C22: a list never misses a thread, whatever other threads do meanwhile, and though lists prune the index all the time. Each writer
// leads its threads from state to state, and after each change the list that is about it must show it.
func TestListsMissNothing(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{}) // of its own: large values of other tests would take its time
	// A short grace, so that candidates are pruned within the test. A call that takes longer is unavailable, and is repeated.
	s := open(t, server, redis.Options{Prefix: prefix(), OpTimeout: 100 * time.Millisecond})
	ctx := t.Context()
	const writers, rounds = 8, 25
	var done atomic.Bool
	var readers, workers sync.WaitGroup
	readers.Go(func() {
		for !done.Load() { // others read and prune
			s.Threads(ctx, checkpoint.ThreadFilter{Held: true})
			s.Threads(ctx, checkpoint.ThreadFilter{Status: checkpoint.Interrupted})
			s.Threads(ctx, checkpoint.ThreadFilter{HasInbox: true})
			s.Questions(ctx, checkpoint.QuestionFilter{})
			s.Threads(ctx, checkpoint.ThreadFilter{})
		}
	})
	for w := range writers {
		workers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 7))
			c := &changer{t: t, s: s, tenant: fmt.Sprint("tenant-", w)}
			for range rounds {
				c.change(fmt.Sprint("thread-", rng.IntN(4)), rng)
			}
		})
	}
	workers.Wait()
	done.Store(true)
	readers.Wait()
}

// again repeats a call until its outcome is known.
func again[T any](t testing.TB, f func() (T, error)) (v T) {
	t.Helper()
	until(t, "a call gets through", func() bool {
		var err error
		v, err = f()
		if err != nil && !isAway(err) {
			t.Error(err)
			return true
		}
		return err == nil
	})
	return v
}

// A changer leads the threads of one tenant, which nobody else touches, from state to state.
type changer struct {
	t      *testing.T
	s      checkpoint.Store
	tenant string
}

func (c *changer) change(thread string, rng *rand.Rand) {
	t, ctx := c.t, c.t.Context()
	key := checkpoint.Key{Tenant: c.tenant, Thread: thread}
	l := again(t, func() (*checkpoint.Loaded, error) { return c.s.Load(ctx, key, 0, "") })
	switch {
	case !l.Head.Held():
		a := &checkpoint.Acquire{Key: key, Epoch: l.Head.Epoch, Nonce: checkpoint.NewNonce(), TTL: time.Hour, Run: &checkpoint.Run{ID: fmt.Sprint("run-", l.Head.Epoch+1)}}
		again(t, func() (checkpoint.Head, error) { return c.s.Acquire(ctx, a) })
		c.listed(key, checkpoint.ThreadFilter{Held: true}, checkpoint.ThreadFilter{Status: checkpoint.Running}, checkpoint.ThreadFilter{})
		runs := again(t, func() ([]checkpoint.Run, error) {
			return c.s.Runs(ctx, checkpoint.RunFilter{Tenant: c.tenant, Status: checkpoint.Running})
		})
		if !slices.ContainsFunc(runs, func(r checkpoint.Run) bool { return r.Key == key && r.ID == a.Run.ID }) {
			t.Errorf("run %s of %v is not listed", a.Run.ID, key)
		}
	case rng.IntN(3) == 0:
		again(t, func() (int64, error) {
			return c.s.Post(ctx, checkpoint.Command{Key: key, Kind: checkpoint.CommandDrain, Request: "r"})
		})
		c.listed(key, checkpoint.ThreadFilter{HasInbox: true}, checkpoint.ThreadFilter{Held: true})
	case rng.IntN(8) == 0:
		again(t, func() (struct{}, error) { return struct{}{}, c.s.Delete(ctx, key) })
	default:
		pos := int64(0)
		if n := len(l.Records); n > 0 {
			pos = l.Records[n-1].Pos + 1
		}
		a := &checkpoint.Append{Key: key, Nonce: l.Head.Nonce, Seen: l.Head.Inbox, Taken: l.Head.Inbox, Records: []checkpoint.Record{{
			Pos: pos, Ord: l.Head.Epoch<<32 | pos, By: l.Head.Nonce.Writer(), Kind: checkpoint.KindPause,
		}}}
		a.Park = &checkpoint.Park{Status: checkpoint.Completed}
		if rng.IntN(2) == 0 {
			a.Park = &checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{{ID: "q"}}}
		}
		again(t, func() (checkpoint.Ack, error) { return c.s.Append(ctx, a) })
		c.listed(key, checkpoint.ThreadFilter{Status: a.Park.Status})
		if len(a.Park.Questions) > 0 {
			c.asked(key)
		}
	}
}

// listed fails unless each list shows the thread, page by page, once.
func (c *changer) listed(key checkpoint.Key, filters ...checkpoint.ThreadFilter) {
	c.t.Helper()
	for _, f := range filters {
		f.Tenant, f.Limit = c.tenant, 2
		seen := 0
		for {
			heads := again(c.t, func() ([]checkpoint.Head, error) { return c.s.Threads(c.t.Context(), f) })
			for _, h := range heads {
				if f.After = h.Key; h.Key == key {
					seen++
				}
			}
			if len(heads) < f.Limit {
				break
			}
		}
		if seen != 1 {
			c.t.Errorf("thread %v is listed %d times by %+v", key, seen, f)
		}
	}
}

// asked fails unless the list of questions over all tenants shows that of the thread.
func (c *changer) asked(key checkpoint.Key) {
	c.t.Helper()
	seen := 0
	for f := (checkpoint.QuestionFilter{Limit: 3}); ; {
		qs := again(c.t, func() ([]checkpoint.Question, error) { return c.s.Questions(c.t.Context(), f) })
		for _, q := range qs {
			if f.After = (checkpoint.QuestionCursor{Asked: q.Asked, Key: q.Key, ID: q.ID}); q.Key == key {
				seen++
			}
		}
		if len(qs) < f.Limit {
			break
		}
	}
	if seen != 1 {
		c.t.Errorf("the question of %v is listed %d times", key, seen)
	}
}

// The oldest question comes first, also over many threads and tenants, and a question that is asked again has a new age.
func TestQuestionsByAge(t *testing.T) {
	t.Parallel()
	s := open(t, testserver.SharedRedis(t), redis.Options{Prefix: prefix()})
	var want []checkpoint.QuestionCursor
	for i := range 60 {
		h := take(t, s, fmt.Sprint("thread-", i))
		if i%3 == 0 {
			h.park(checkpoint.Interrupted, checkpoint.Question{ID: "b"}, checkpoint.Question{ID: "a"})
			h = take(t, s, fmt.Sprint("thread-", i))
		}
		h.park(checkpoint.Interrupted, checkpoint.Question{ID: "b"}, checkpoint.Question{ID: "a"})
		l, err := s.Load(t.Context(), h.key, 0, "")
		must(t, err)
		for _, q := range l.Questions {
			want = append(want, checkpoint.QuestionCursor{Asked: q.Asked, Key: q.Key, ID: q.ID})
		}
	}
	slices.SortFunc(want, func(a, b checkpoint.QuestionCursor) int {
		return cmp.Or(a.Asked.Compare(b.Asked), strings.Compare(a.Thread, b.Thread), strings.Compare(a.ID, b.ID))
	})
	for _, limit := range []int{1, 7, 200} {
		var got []checkpoint.QuestionCursor
		for f := (checkpoint.QuestionFilter{Limit: limit}); ; {
			qs, err := s.Questions(t.Context(), f)
			must(t, err)
			for _, q := range qs {
				f.After = checkpoint.QuestionCursor{Asked: q.Asked, Key: q.Key, ID: q.ID}
				got = append(got, f.After)
			}
			if len(qs) < limit {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("in pages of %d there are %d questions in another order than the %d that were asked", limit, len(got), len(want))
		}
	}
}

// C22: a thread that was announced stays listed although lists look at it many times before the write comes that it was announced for.
func TestAnnouncedOutlivesPruning(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	p := prefix()
	client := &spy{UniversalClient: raw(t, server)}
	s, err := redis.New(t.Context(), client, redis.Options{Prefix: p, NoEviction: true})
	must(t, err)
	defer s.Close()
	other := open(t, server, redis.Options{Prefix: p})
	filters := []checkpoint.ThreadFilter{{}, {Held: true}}
	key := checkpoint.Key{Tenant: "tenant", Thread: "thread"}
	client.arm(func(n int64) {
		if n != 2 { // the first announces, the second is the write
			return
		}
		began := time.Now()
		for range 3 { // each is later than the one before it by the server's clock, which counts milliseconds
			for next := time.Since(began) + 5*time.Millisecond; time.Since(began) < next; {
				for _, f := range filters {
					if heads, err := other.Threads(context.Background(), f); err != nil || len(heads) != 0 {
						t.Errorf("a thread that is not there is listed as %v, %v", heads, err)
					}
				}
			}
		}
	})
	must(t, acquire(s, &checkpoint.Acquire{Key: key, Nonce: checkpoint.NewNonce(), TTL: time.Hour, Run: &checkpoint.Run{ID: "run"}}))
	for _, f := range filters {
		heads, err := other.Threads(t.Context(), f)
		if err != nil || len(heads) != 1 || heads[0].Key != key {
			t.Errorf("%+v lists %v, %v", f, heads, err)
		}
	}
}
