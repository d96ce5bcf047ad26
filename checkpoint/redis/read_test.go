package redis_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/testserver"
	goredis "github.com/redis/go-redis/v9"
)

// A spy calls before with the number of each script since it was armed.
type spy struct {
	goredis.UniversalClient
	before atomic.Pointer[func(n int64)]
	n      atomic.Int64
}

func (s *spy) arm(before func(n int64)) {
	s.n.Store(0)
	s.before.Store(&before)
}

func (s *spy) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *goredis.Cmd {
	if f := s.before.Load(); f != nil {
		(*f)(s.n.Add(1))
	}
	return s.UniversalClient.EvalSha(ctx, sha, keys, args...)
}

// C22: a read that takes several round trips returns no gap and no mixture, whatever happens to the thread in between.
func TestReadStartsOver(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	const records = 2500
	body := strings.Repeat("x", 10)
	fill := func(t *testing.T, s checkpoint.Store, body string, n int) *holder {
		h := take(t, s, "thread")
		for len(body) > 0 && int(h.next[""]) < n {
			var rs []checkpoint.Record
			for range min(500, n-int(h.next[""])) {
				rs = append(rs, h.record("", body))
			}
			h.do(h.write(rs...))
		}
		return h
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *redis.Store, h *holder)
		first  int64
		last   int64
		body   string
	}{
		{"nothing", func(*testing.T, *redis.Store, *holder) {}, 0, records - 1, body},
		{"trim below", func(t *testing.T, s *redis.Store, h *holder) {
			_, err := s.Trim(t.Context(), checkpoint.Chain{Key: h.key}, 500)
			must(t, err)
		}, 0, records - 1, body},
		{"trim above", func(t *testing.T, s *redis.Store, h *holder) {
			_, err := s.Trim(t.Context(), checkpoint.Chain{Key: h.key}, 1500)
			must(t, err)
		}, 1500, records - 1, body},
		{"delete", func(t *testing.T, s *redis.Store, h *holder) { must(t, s.Delete(t.Context(), h.key)) }, 0, -1, body},
		{"recreate", func(t *testing.T, s *redis.Store, h *holder) {
			old, err := s.Load(t.Context(), h.key, 0, "")
			must(t, err)
			until(t, "the thread is made in another millisecond", func() bool {
				must(t, s.Delete(t.Context(), h.key))
				l, err := s.Load(t.Context(), fill(t, s, "new", 3000).key, 0, "")
				must(t, err)
				return l.Head.Created != old.Head.Created
			})
		}, 0, 2999, "new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := prefix()
			client := &spy{UniversalClient: raw(t, server)}
			s, err := redis.New(t.Context(), client, redis.Options{Prefix: p, NoEviction: true})
			must(t, err)
			defer s.Close()
			other := open(t, server, redis.Options{Prefix: p})
			h := fill(t, other, body, records)
			client.arm(func(n int64) {
				if n == 2 {
					c.change(t, other, h)
				}
			})
			rs := read(t, s, h.key, "")
			if len(rs) != int(c.last-c.first)+1 {
				t.Fatalf("%d records; want %d to %d", len(rs), c.first, c.last)
			}
			for i, r := range rs {
				if r.Pos != c.first+int64(i) || r.Kind == checkpoint.KindEntry && i > 0 && string(r.Body) != c.body {
					t.Fatalf("the record at %d is %d, %q", i, r.Pos, r.Body)
				}
			}
		})
	}
}
