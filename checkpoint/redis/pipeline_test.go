package redis_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// Appends that go in one request have a verdict each: writers that were fenced are refused, callers that lose patience leave,
// the connection is cut again and again, and what was acknowledged is there, in order, with nothing between. // C2 // C4 // E54
func TestAppendsShareARequest(t *testing.T) {
	t.Parallel()
	proxy := testserver.NewProxy(t, testserver.SharedRedis(t).Addr())
	s := openURL(t, "redis://"+proxy.Addr()+"/0", redis.Options{Prefix: prefix()})
	const writers, rounds = 48, 40
	holders := make([]*holder, writers)
	for w := range holders {
		holders[w] = take(t, s, fmt.Sprint("thread-", w))
	}
	var wg sync.WaitGroup
	for w, h := range holders {
		wg.Go(func() {
			fenced := w%8 == 7
			if fenced {
				a := &checkpoint.Acquire{Key: h.key, Mode: checkpoint.Steal, Seen: h.nonce, Nonce: checkpoint.NewNonce(), TTL: time.Hour}
				for errors.Is(acquire(s, a), checkpoint.ErrUnavailable) {
				}
			}
			for i := range rounds {
				a := h.write(h.record("", fmt.Sprint(i)))
				ctx, cancel := context.WithCancel(t.Context())
				if i%5 == w%5 {
					cancel() // nobody waits for this try
				}
				_, err := s.Append(ctx, a)
				for cancel(); errors.Is(err, checkpoint.ErrUnavailable); { // the outcome is unknown: the same again
					_, err = s.Append(t.Context(), a)
				}
				if fenced != errors.Is(err, checkpoint.ErrStale) {
					t.Errorf("writer %d, round %d: %v", w, i, err)
					return
				}
				if fenced {
					return
				}
				if err != nil {
					t.Errorf("writer %d, round %d: %v", w, i, err)
					return
				}
				if w == 0 && i%4 == 0 {
					proxy.Cut()
				}
			}
		})
	}
	wg.Wait()
	for w := range writers {
		rs := read(t, s, checkpoint.Key{Tenant: "tenant", Thread: fmt.Sprint("thread-", w)}, "")
		want := rounds + 1
		if w%8 == 7 {
			want = 1
		}
		if len(rs) != want {
			t.Errorf("thread %d has %d records; want %d", w, len(rs), want)
		}
		for i, r := range rs[1:] {
			if string(r.Body) != fmt.Sprint(i) {
				t.Errorf("thread %d holds %q at position %d", w, r.Body, i+1)
			}
		}
	}
}

func acquire(s checkpoint.Store, a *checkpoint.Acquire) error {
	_, err := s.Acquire(context.Background(), a)
	return err
}
