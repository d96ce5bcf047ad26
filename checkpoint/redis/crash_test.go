package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// C4: the reply of a write is lost; the same write again finds its own.
func TestCutReply(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	proxy := testserver.NewProxy(t, server.Addr())
	s := openURL(t, "redis://"+proxy.Addr()+"/0", redis.Options{Prefix: prefix()})
	h := take(t, s, "thread")
	want := read(t, s, h.key, "")
	for i := range 20 {
		a := h.write(h.record("", fmt.Sprint(i)))
		if i == 19 {
			a.Park = &checkpoint.Park{Status: checkpoint.Completed}
		}
		dropped := proxy.DropReply(1)
		_, err := s.Append(t.Context(), a)
		if !errors.Is(err, checkpoint.ErrUnavailable) {
			t.Fatalf("a lost reply is %v; want ErrUnavailable", err)
		}
		<-dropped
		if ack := h.do(a); ack.Released != (i == 19) {
			t.Fatalf("the repeat of write %d is acknowledged as %+v", i, ack)
		}
		want = append(want, a.Records...)
	}
	same(t, read(t, s, h.key, ""), want)

	// A command and an answer have no position by which a repeat is known: within one call, sending again is harmless.
	n, err := s.Post(t.Context(), checkpoint.Command{Key: h.key, Kind: checkpoint.CommandDrain})
	must(t, err)
	if inbox, err := s.Inbox(t.Context(), h.key); err != nil || len(inbox) != 1 || inbox[0].N != n {
		t.Fatalf("the inbox is %+v, %v", inbox, err)
	}
}

// C4: a write whose reply was lost is known again although retention has removed its first records, or all of them, since; another
// write at these positions is not taken for it.
func TestRepeatAfterTrim(t *testing.T) {
	t.Parallel()
	s := open(t, testserver.SharedRedis(t), redis.Options{Prefix: prefix()})
	for below := range int64(6) { // the write has positions 1 to 3
		h := take(t, s, fmt.Sprint("thread-", below))
		a := h.write(h.record("", "1"), h.record("", "2"), h.record("", "3"), h.record("child", "4"))
		h.do(a)
		h.do(h.write(h.record("", "5")))
		h.do(h.write(h.record("", "6"), h.record("child", "7")))
		_, err := s.Trim(t.Context(), checkpoint.Chain{Key: h.key}, below)
		must(t, err)
		h.do(a)
		_, err = s.Trim(t.Context(), checkpoint.Chain{Key: h.key, Namespace: "child"}, 1)
		must(t, err)
		h.do(a)
		other := h.write()
		other.Records = slices.Clone(a.Records)
		for i := range other.Records {
			other.Records[i].Ord += 100
		}
		thief := h.write(slices.Clone(a.Records)...)
		thief.Nonce = checkpoint.NewNonce()
		for i := range thief.Records {
			thief.Records[i].By = thief.Nonce.Writer()
		}
		for _, a := range []*checkpoint.Append{other, thief} {
			if _, err := s.Append(t.Context(), a); !errors.Is(err, checkpoint.ErrStale) {
				t.Fatalf("trimmed below %d, another write is %v", below, err)
			}
		}
	}
}

// C4: the reply is lost, the caller gives up, and then another write comes to the same place: one of the two is there, and the other
// is refused.
func TestCutReplyThenAnother(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	proxy := testserver.NewProxy(t, server.Addr())
	s := openURL(t, "redis://"+proxy.Addr()+"/0", redis.Options{Prefix: prefix()})
	for i := range 10 {
		h := take(t, s, fmt.Sprint("thread-", i))
		h.do(h.write(h.record("", "before"))) // so that the server has the script: the reply that is cut is the append's
		first := h.record("", "first")
		ctx, cancel := context.WithCancel(t.Context())
		dropped := proxy.DropReply(1)
		if _, err := s.Append(ctx, h.write(first)); !errors.Is(err, checkpoint.ErrUnavailable) {
			t.Fatalf("a lost reply is %v", err)
		}
		cancel()
		<-dropped
		second := first
		second.Ord, second.Body = first.Ord+1, []byte("second")
		if _, err := s.Append(t.Context(), h.write(second)); !errors.Is(err, checkpoint.ErrStale) || errors.Is(err, checkpoint.ErrRolledBack) {
			t.Fatalf("another write at a place that is taken is %v; want ErrStale", err)
		}
		if rs := read(t, s, h.key, ""); string(rs[len(rs)-1].Body) != "first" || len(rs) != 3 {
			t.Fatalf("the thread holds %+v", rs)
		}
	}
}

// C13: with appendfsync always every acknowledged write outlives kill -9 of the server.
func TestKillServer(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{Fsync: "always"})
	s := open(t, server, redis.Options{})
	if info := s.Info(); info.Durability != "Redis always" || info.LossWindow != 0 || !info.Shared || info.Local {
		t.Fatalf("info: %+v", info)
	}
	const threads = 4
	holders, want := make([]*holder, threads), make([][]checkpoint.Record, threads)
	for i := range holders {
		holders[i] = take(t, s, fmt.Sprint("thread-", i))
		want[i] = read(t, s, holders[i].key, "")
	}
	killed := 0
	for round := range 5 {
		stop := make(chan struct{})
		unknown := make([]*checkpoint.Append, threads)
		done := make(chan error, threads)
		for i, h := range holders {
			go func() {
				for {
					a := h.write(h.record("", strings.Repeat(fmt.Sprint(round), 500)))
					switch _, err := s.Append(context.Background(), a); {
					case errors.Is(err, checkpoint.ErrUnavailable):
						unknown[i] = a
						done <- nil
						return
					case err != nil:
						done <- err
						return
					}
					want[i] = append(want[i], a.Records...)
					select {
					case stop <- struct{}{}:
					default:
					}
				}
			}()
		}
		for range 20 * (round + 1) {
			<-stop
		}
		must(t, server.Kill())
		for range threads {
			must(t, <-done)
		}
		must(t, server.Restart())
		for i, h := range holders {
			if unknown[i] != nil {
				killed++
				h.do(unknown[i]) // the same again, whether it happened or not
				want[i] = append(want[i], unknown[i].Records...)
			}
			same(t, read(t, s, h.key, ""), want[i])
		}
	}
	if killed == 0 {
		t.Fatal("no write was under way when the server was killed: the test has proved nothing")
	}
}

// C22: the server comes back without the last bytes of its log. The thread is an earlier one, whole, and its holder is told.
func TestLostTail(t *testing.T) {
	t.Parallel()
	for _, cut := range []int64{1, 200, 3000, 20_000} {
		t.Run(fmt.Sprint("bytes=", cut), func(t *testing.T) {
			t.Parallel()
			server := testserver.NewRedis(t, testserver.RedisConfig{Fsync: "everysec", Args: []string{"--aof-load-truncated", "yes", "--aof-use-rdb-preamble", "no"}})
			s := open(t, server, redis.Options{})
			if info := s.Info(); info.Durability != "Redis everysec" || info.LossWindow == 0 {
				t.Fatalf("info: %+v", info)
			}
			old := take(t, s, "thread")
			old.park(checkpoint.Completed)
			h := take(t, s, "thread")
			var acked []checkpoint.Record
			for i := range 40 {
				ns := checkpoint.Namespace("")
				if i%2 == 1 {
					ns = checkpoint.NamespaceOf("child")
				}
				r := h.record(ns, strings.Repeat("x", 200))
				h.do(h.write(r))
				acked = append(acked, r)
			}
			must(t, server.CutTail(cut))
			must(t, server.Restart())

			// What is there is a prefix of what was acknowledged, over all chains.
			there := map[int64]bool{}
			for _, ns := range []checkpoint.Namespace{"", checkpoint.NamespaceOf("child")} {
				for i, r := range read(t, s, h.key, ns) {
					if r.Pos != int64(i) {
						t.Fatalf("a gap: %+v", r)
					}
					there[r.Ord] = true
				}
			}
			n := 0
			for n < len(acked) && there[acked[n].Ord] {
				n++
			}
			for _, r := range acked[n:] {
				if there[r.Ord] {
					t.Fatalf("record %d of %d is missing, and a later one is there", n, len(acked))
				}
			}
			if n == len(acked) {
				t.Fatal("nothing was lost: the test has proved nothing")
			}
			// The last record of the root chain may be there although the child's is lost. Its holder must not go on.
			for _, ns := range []checkpoint.Namespace{"", checkpoint.NamespaceOf("child")} {
				r := h.record(ns, "next")
				r.Pos = int64(len(read(t, s, h.key, ns)))
				got, err := s.Renew(t.Context(), []checkpoint.Lease{{Key: h.key, Nonce: h.nonce}}, time.Hour)
				must(t, err)
				if l, err := s.Load(t.Context(), h.key, 0, ""); err != nil || got[0].Lost != (l.Head.Nonce != h.nonce) || got[0].RolledBack != got[0].Lost {
					t.Fatalf("renewal %+v of %+v", got[0], l.Head)
				}
				if _, err := s.Append(t.Context(), h.write(r)); !errors.Is(err, checkpoint.ErrRolledBack) || !errors.Is(err, checkpoint.ErrStale) {
					t.Fatalf("a write after the loss of %d records is %v; want ErrRolledBack", len(acked)-n, err)
				}
				if ns == "" {
					break // the first refusal ends the acquisition
				}
			}
			// Somebody else goes on from what is there, and the old holder is stale.
			l, err := s.Load(t.Context(), h.key, 0, "")
			must(t, err)
			next := checkpoint.NewNonce()
			a := &checkpoint.Acquire{Key: h.key, Epoch: l.Head.Epoch, Nonce: next, TTL: time.Hour}
			if l.Head.Held() {
				a.Mode, a.Seen = checkpoint.Steal, l.Head.Nonce
			}
			_, err = s.Acquire(t.Context(), a)
			must(t, err)
			if _, err := s.Append(t.Context(), h.write(h.record("", "late"))); !errors.Is(err, checkpoint.ErrStale) {
				t.Fatalf("the old holder's write is %v", err)
			}
		})
	}
}

// C22: a thread that was deleted and made again is another one: the holder of the old one has lost the thread, the server has
// lost nothing.
func TestRecreatedIsNotRolledBack(t *testing.T) {
	t.Parallel()
	s := open(t, testserver.SharedRedis(t), redis.Options{Prefix: prefix()})
	for _, renewed := range []bool{false, true} {
		thread := fmt.Sprint("renewed-", renewed)
		for range 3 {
			take(t, s, thread).park(checkpoint.Completed)
		}
		h := take(t, s, thread)
		h.do(h.write(h.record("", "mine")))
		old, err := s.Load(t.Context(), h.key, 0, "")
		must(t, err)
		until(t, "the thread is made in another millisecond", func() bool {
			must(t, s.Delete(t.Context(), h.key))
			take(t, s, thread)
			l, err := s.Load(t.Context(), h.key, 0, "")
			must(t, err)
			return l.Head.Created != old.Head.Created
		})
		if renewed {
			got, err := s.Renew(t.Context(), []checkpoint.Lease{{Key: h.key, Nonce: h.nonce}}, time.Hour)
			if err != nil || !got[0].Lost || got[0].RolledBack {
				t.Fatalf("the old lease is renewed as %+v, %v", got, err)
			}
		}
		for range 2 {
			if _, err := s.Append(t.Context(), h.write(h.record("", "late"))); !errors.Is(err, checkpoint.ErrStale) || isRolledBack(err) {
				t.Fatalf("a write to the old thread is %v; want ErrStale and not ErrRolledBack", err)
			}
		}
	}
}

// A server that goes away gives a typed error in time, and the store goes on when it is back.
func TestServerAway(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{}) // of its own: large values of other tests would take its time
	proxy := testserver.NewProxy(t, server.Addr())
	s := openURL(t, "redis://"+proxy.Addr()+"/0", redis.Options{Prefix: prefix(), OpTimeout: 200 * time.Millisecond})
	h := take(t, s, "thread")
	for _, how := range []struct {
		name     string
		away, on func()
	}{
		{"frozen", func() { proxy.Freeze(true) }, func() { proxy.Freeze(false) }},
		{"refusing", func() { proxy.Refuse(true); proxy.Cut() }, func() { proxy.Refuse(false) }},
	} {
		how.away()
		a := h.write(h.record("", how.name))
		_, write := s.Append(context.Background(), a)
		_, load := s.Load(context.Background(), h.key, 0, "")
		_, renew := s.Renew(context.Background(), []checkpoint.Lease{{Key: h.key, Nonce: h.nonce}}, time.Hour)
		_, list := s.Threads(context.Background(), checkpoint.ThreadFilter{})
		for i, err := range []error{write, load, renew, list} {
			if !errors.Is(err, checkpoint.ErrUnavailable) {
				t.Fatalf("%s: call %d: %v; want ErrUnavailable", how.name, i, err)
			}
		}
		how.on()
		until(t, "the same write is taken", func() bool {
			_, err := s.Append(context.Background(), a)
			if err != nil && !errors.Is(err, checkpoint.ErrUnavailable) {
				t.Fatal(err)
			}
			return err == nil
		})
	}
}

// E38: a renewal does not wait behind a large write of the same process for longer than the server itself is busy.
func TestRenewBesideLargeWrite(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	proxy := testserver.NewProxy(t, server.Addr())
	s := openURL(t, "redis://"+proxy.Addr()+"/0", redis.Options{Prefix: prefix(), OpTimeout: time.Minute})
	h := take(t, s, "thread")
	r := h.record("", "")
	r.Body = make([]byte, 64<<20)
	done := make(chan error, 1)
	go func() {
		_, err := s.Append(context.Background(), h.write(r))
		done <- err
	}()
	renewed := 0
	for {
		select {
		case err := <-done:
			must(t, err)
			if renewed == 0 {
				t.Fatal("no renewal came through while the write was under way")
			}
			return
		default:
		}
		got, err := s.Renew(t.Context(), []checkpoint.Lease{{Key: h.key, Nonce: h.nonce}}, time.Hour)
		must(t, err)
		if got[0].Lost {
			t.Fatal("the lease was lost")
		}
		renewed++
	}
}
