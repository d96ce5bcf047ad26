package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
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

// Appends that are stuck, whether small or so large that they never are in the queue, hold up nobody else of the store. // E54
func TestStuckAppendsHoldUpNobody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		stuck int
		body  string
	}{
		{name: "small", stuck: 2, body: "x"},
		{name: "large", stuck: 24, body: strings.Repeat("x", 300<<10)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			proxy := testserver.NewProxy(t, testserver.SharedRedis(t).Addr())
			s := openURL(t, "redis://"+proxy.Addr()+"/0?pool_size=64", redis.Options{Prefix: prefix(), OpTimeout: 30 * time.Second})
			holders := make([]*holder, c.stuck+8)
			for i := range holders {
				holders[i] = take(t, s, fmt.Sprint("thread-", i))
				holders[i].do(holders[i].write(holders[i].record("", "first"))) // the server has the script
			}
			hung := proxy.Hang(c.stuck)
			var cut atomic.Bool
			var stuck sync.WaitGroup
			for _, h := range holders[:c.stuck] {
				stuck.Go(func() {
					a := h.write(h.record("", c.body))
					if _, err := s.Append(context.Background(), a); !isAway(err) || !cut.Load() {
						t.Errorf("an append whose connection was cut (%t) is %v", cut.Load(), err)
					}
					again(t, func() (checkpoint.Ack, error) { return s.Append(context.Background(), a) }) // the cut goes on
				})
			}
			<-hung
			var others sync.WaitGroup
			for _, h := range holders[c.stuck:] {
				others.Go(func() {
					for i := range 20 {
						h.do(h.write(h.record("", fmt.Sprint(i))))
					}
				})
			}
			others.Wait() // while those are still stuck
			cut.Store(true)
			proxy.Cut()
			stuck.Wait()
			for i, h := range holders {
				if n := len(read(t, s, h.key, "")); n != 3 && i < c.stuck || n != 22 && i >= c.stuck {
					t.Errorf("thread %d has %d records", i, n)
				}
			}
		})
	}
}

// A call that comes while Close waits for others is refused at once.
func TestCloseRefusesAtOnce(t *testing.T) {
	t.Parallel()
	proxy := testserver.NewProxy(t, testserver.SharedRedis(t).Addr())
	s := openURL(t, "redis://"+proxy.Addr()+"/0", redis.Options{Prefix: prefix(), OpTimeout: time.Minute})
	h := take(t, s, "thread")
	hung := proxy.Hang(1)
	append, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := s.Append(context.Background(), h.write(h.record("", "stuck")))
		append <- err
	}()
	<-hung
	go func() { closed <- s.Close() }()
	until(t, "calls are refused", func() bool {
		_, err := s.Load(t.Context(), h.key, 0, "")
		return errors.Is(err, checkpoint.ErrClosed)
	})
	select {
	case err := <-closed:
		t.Fatalf("Close did not wait for the append: %v", err)
	default:
	}
	proxy.Cut()
	if err := <-append; !isAway(err) {
		t.Fatalf("the append is %v", err)
	}
	must(t, <-closed)
}
