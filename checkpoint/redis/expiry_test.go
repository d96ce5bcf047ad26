package redis_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/testserver"
	goredis "github.com/redis/go-redis/v9"
)

// expiries are the moments at which the keys of a prefix's threads expire; -1 is never.
func expiries(t testing.TB, c *goredis.Client, prefix string) (out []time.Duration) {
	t.Helper()
	for _, k := range threadKeys(t, c, prefix) {
		d, err := c.PTTL(t.Context(), k).Result()
		must(t, err)
		out = append(out, d)
	}
	return out
}

// C22, report 91: a thread expires only after it ended, all keys at once, and a write starts the time anew.
func TestExpiry(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	c, p := raw(t, server), prefix()
	s := open(t, server, redis.Options{Prefix: p, TTL: time.Hour})
	never := func(when string) {
		t.Helper()
		es := expiries(t, c, p)
		if len(es) == 0 {
			t.Fatal("the thread has no keys")
		}
		for _, d := range es {
			if d >= 0 {
				t.Fatalf("%s the keys expire in %v", when, es)
			}
		}
	}
	soon := func(when string) {
		t.Helper()
		es := expiries(t, c, p)
		for _, d := range es {
			if d < 59*time.Minute || d > time.Hour {
				t.Fatalf("%s the keys expire in %v; want an hour", when, es)
			}
		}
		if len(es) != 3 {
			t.Fatalf("%s there are %d keys", when, len(es))
		}
	}
	h := take(t, s, "thread")
	never("while it runs")
	h.do(h.write(h.record(checkpoint.NamespaceOf("child"), "1")))
	h.park(checkpoint.Interrupted, checkpoint.Question{ID: "q"})
	never("while it waits")
	_, err := s.Answer(t.Context(), h.key, []checkpoint.Reply{{Question: "q", By: "ann"}})
	must(t, err)
	never("after an answer")
	for _, status := range []checkpoint.Status{checkpoint.Completed, checkpoint.Failed, checkpoint.Cancelled} {
		h = take(t, s, "thread")
		never("when it runs again")
		a := h.write(h.record("", "end"))
		a.Seen, a.Park = 1, &checkpoint.Park{Status: status}
		if !h.do(a).Released {
			t.Fatal("not released")
		}
		soon("after it ended " + status.String())
	}
	n, err := s.Post(t.Context(), checkpoint.Command{Key: h.key, Kind: checkpoint.CommandInput})
	must(t, err)
	never("while a command waits") // it would be lost with the thread
	h = take(t, s, "thread")
	a := h.write(h.record("", "end"))
	a.Seen, a.Taken, a.Park = n, n, &checkpoint.Park{Status: checkpoint.Completed}
	h.do(a)
	soon("after the command was done")

	// A store without a TTL takes the time off again.
	forever := open(t, server, redis.Options{Prefix: p})
	h = take(t, forever, "thread")
	a = h.write(h.record("", "end"))
	a.Seen, a.Park = n, &checkpoint.Park{Status: checkpoint.Completed}
	h.do(a)
	never("without a TTL")
}

// C22: when the time is over nothing of the thread is left, lists do not show it, and its key is free.
func TestExpired(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	c, p := raw(t, server), prefix()
	s := open(t, server, redis.Options{Prefix: p, TTL: 50 * time.Millisecond})
	const threads = 20
	for i := range threads {
		h := take(t, s, fmt.Sprint("thread-", i))
		h.do(h.write(h.record("ns", "1")))
		h.park([]checkpoint.Status{checkpoint.Completed, checkpoint.Interrupted}[i%2], checkpoint.Question{ID: "q"})
	}
	until(t, "the ended threads have expired", func() bool {
		// At each moment a thread has all of its keys or none: m, j and q count the same.
		return len(threadKeys(t, c, p)) == 3*threads/2
	})
	heads, err := s.Threads(t.Context(), checkpoint.ThreadFilter{})
	must(t, err)
	qs, err := s.Questions(t.Context(), checkpoint.QuestionFilter{})
	must(t, err)
	if len(heads) != threads/2 || len(qs) != threads/2 {
		t.Fatalf("%d threads and %d questions are listed; want %d", len(heads), len(qs), threads/2)
	}
	h := take(t, s, "thread-0")
	if h.epoch != 1 || len(read(t, s, h.key, "")) != 1 || len(read(t, s, h.key, "ns")) != 0 {
		t.Fatal("an expired thread has left something")
	}
}
