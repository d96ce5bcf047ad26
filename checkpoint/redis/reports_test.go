package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/state"
)

// A form is the state of the graphs of this file.
type form struct {
	A     state.Last[string] `json:"a"`
	B     state.Last[string] `json:"b"`
	C     state.Last[string] `json:"c"`
	Parts state.List[string] `json:"parts"`
}

func (f *form) text() string {
	return fmt.Sprint(f.A.Get(), f.B.Get(), f.C.Get(), f.Parts.Slice())
}

// line is a graph of three nodes that each write one field; the last asks twice before.
func line(t *testing.T, store checkpoint.Store) *graph.App[form] {
	t.Helper()
	g := graph.New[form]("line")
	g.Node("a", func(_ context.Context, s *form) error { s.A.Set("a"); return nil })
	g.Node("b", func(_ context.Context, s *form) error { s.B.Set("b"); return nil })
	g.Node("c", func(ctx context.Context, s *form) error {
		for _, name := range []string{"first", "second"} {
			if ok, err := graph.Ask[bool](ctx, name, "go on?"); err != nil || !ok {
				return err
			}
		}
		s.C.Set("c")
		return nil
	})
	g.Edge(graph.Start, "a")
	g.Edge("a", "b")
	g.Edge("b", "c")
	app, err := g.Compile(graph.Options{Store: store})
	must(t, err)
	t.Cleanup(func() { must(t, app.Close(context.Background())) })
	return app
}

// report 78, report 87: each node writes one field and a new process sees all of them; a pause stays until its step is done, also the
// second one of one node.
func TestTwoConfirmations(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	p := prefix()
	ctx, thread := t.Context(), graph.ID("thread")
	_, err := line(t, open(t, server, redis.Options{Prefix: p, TTL: time.Hour})).Run(ctx, thread, nil)
	for range 2 {
		open := opened(t, err)
		app := line(t, openURL(t, server.URL(), redis.Options{Prefix: p, TTL: time.Hour})) // another process
		var out *form
		if out, err = app.Resume(ctx, thread, graph.Answer(open.Questions[0], true)); err == nil && out.text() != "abc[]" {
			t.Fatalf("the state is %s", out.text())
		}
	}
	must(t, err)
}

func opened(t *testing.T, err error) *graph.Interrupted {
	t.Helper()
	if err == nil {
		t.Fatal("the run did not pause")
	}
	open, ok := asInterrupted(err)
	if !ok || len(open.Questions) != 1 {
		t.Fatalf("the run ended with %v", err)
	}
	return open
}

// report 79: many steps do not make more keys.
func TestKeysAreConstant(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	c, p := raw(t, server), prefix()
	h := take(t, open(t, server, redis.Options{Prefix: p}), "thread")
	for i := range 200 {
		h.do(h.write(h.record(checkpoint.NamespaceOf("child", fmt.Sprint(i%20)), "step"), h.record("", "step")))
	}
	h.park(checkpoint.Interrupted, checkpoint.Question{ID: "q"})
	if keys := threadKeys(t, c, p); len(keys) != 3 {
		t.Fatalf("a thread has the keys %q", keys)
	}
}

// report 80: after a deletion no key of the thread is left, and the index forgets it too.
func TestDeleteLeavesNothing(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{}) // of its own: large values of other tests would take its time
	c, p := raw(t, server), prefix()
	s := open(t, server, redis.Options{Prefix: p, OpTimeout: 100 * time.Millisecond})
	var h *holder
	until(t, "a thread is made", func() bool { h = take(t, s, "thread"); return true })
	h.do(h.write(h.record("", "root"), h.record("child", "child")))
	h.park(checkpoint.Interrupted, checkpoint.Question{ID: "q"})
	must(t, s.Delete(t.Context(), h.key))
	if keys := threadKeys(t, c, p); len(keys) != 0 {
		t.Fatalf("left: %q", keys)
	}
	until(t, "the index is empty", func() bool {
		for _, f := range []checkpoint.ThreadFilter{{}, {Held: true}, {Status: checkpoint.Interrupted}} {
			s.Threads(t.Context(), f)
		}
		s.Questions(t.Context(), checkpoint.QuestionFilter{})
		keys, err := c.Keys(t.Context(), p+":*").Result()
		must(t, err)
		return len(keys) == 0
	})
}

// report 84, report 85: a server that refuses expiry commands does not lose the pause, and later writes make up for it on all keys.
func TestExpiryIsRefused(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{})
	c := raw(t, server)
	user := func(rules ...any) {
		must(t, c.Do(t.Context(), append([]any{"acl", "setuser", "app", "on", ">secret", "~*", "+@all"}, rules...)...).Err())
	}
	user("-pexpireat", "-persist", "-pttl")
	s := openURL(t, "redis://app:secret@"+server.Addr()+"/0", redis.Options{TTL: time.Hour})
	h := take(t, s, "thread")
	h.park(checkpoint.Interrupted, checkpoint.Question{ID: "q"})
	h = take(t, s, "thread")
	if !h.park(checkpoint.Completed).Released {
		t.Fatal("not released")
	}
	for _, d := range expiries(t, c, "hf") {
		if d >= 0 {
			t.Fatal("an expiry was set although the server refuses it: the test has proved nothing")
		}
	}
	user("+@all")
	take(t, s, "thread").park(checkpoint.Completed)
	es := expiries(t, c, "hf")
	for _, d := range es {
		if d < 0 || len(es) != 3 {
			t.Fatalf("the keys expire in %v", es)
		}
	}
}

// report 85: a thread that is about to expire is not taken, and gets no command, where the server refuses to let it stay: what was
// written would be lost with it.
func TestExpiryIsNotStopped(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{})
	c := raw(t, server)
	user := func(rules ...any) {
		must(t, c.Do(t.Context(), append([]any{"acl", "setuser", "app", "on", ">secret", "~*", "+@all"}, rules...)...).Err())
	}
	user()
	s := openURL(t, "redis://app:secret@"+server.Addr()+"/0", redis.Options{TTL: time.Hour})
	h := take(t, s, "thread")
	h.park(checkpoint.Completed)
	for _, refused := range [][]any{{"-persist"}, {"-persist", "-pttl"}, {"-persist", "-pttl", "-ttl"}} {
		user(refused...)
		err := acquire(s, &checkpoint.Acquire{Key: h.key, Epoch: 1, Nonce: checkpoint.NewNonce(), TTL: time.Hour})
		_, post := s.Post(t.Context(), checkpoint.Command{Key: h.key, Kind: checkpoint.CommandDrain})
		for i, err := range []error{err, post} {
			if !errors.Is(err, redis.ErrConfig) || !strings.Contains(err.Error(), "PERSIST") {
				t.Fatalf("%v: call %d on a thread that expires is %v", refused, i, err)
			}
		}
		inbox, err := s.Inbox(t.Context(), h.key)
		l, lerr := s.Load(t.Context(), h.key, 0, "")
		if err != nil || lerr != nil || len(inbox) != 0 || l.Head.Held() || l.Head.Epoch != 1 {
			t.Fatalf("%v: a refused write has left %+v, %v", refused, l.Head, inbox)
		}
	}
	user()
	take(t, s, "thread")
	for _, d := range expiries(t, c, "hf") {
		if d >= 0 {
			t.Fatalf("a thread that runs expires in %v", d)
		}
	}
}

// report 88: a result and the entry that replaces it, in either order and at once: the pause stays visible.
func TestPauseIsVisible(t *testing.T) {
	t.Parallel()
	s := open(t, testserver.SharedRedis(t), redis.Options{Prefix: prefix()})
	for i := range 20 {
		h := take(t, s, fmt.Sprint("thread-", i))
		pause, other := h.write(h.record("", "pause")), h.write(h.record("child", "result"))
		pause.Park = &checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{{ID: "q"}}}
		pause.Seen = -1 // keep the lease
		writes := []*checkpoint.Append{pause, other}
		var wg sync.WaitGroup
		for k := range writes {
			w := writes[(k+i)%2]
			if i%3 < 2 {
				h.do(w)
				continue
			}
			wg.Go(func() { h.do(w) })
		}
		wg.Wait()
		l, err := s.Load(t.Context(), h.key, 0, "")
		must(t, err)
		qs, err := s.Questions(t.Context(), checkpoint.QuestionFilter{Tenant: h.key.Tenant, Thread: h.key.Thread})
		must(t, err)
		if len(l.Questions) != 1 || l.Head.Status != checkpoint.Interrupted || len(qs) != 1 || len(read(t, s, h.key, "child")) != 1 {
			t.Fatalf("the pause is %+v, listed as %+v", l, qs)
		}
	}
}

// report 92: a list shows what a load shows.
func TestListAgreesWithLoad(t *testing.T) {
	t.Parallel()
	s := open(t, testserver.SharedRedis(t), redis.Options{Prefix: prefix()})
	for i := range 10 {
		h := take(t, s, fmt.Sprint("thread-", i))
		if i%2 == 0 {
			h.park(checkpoint.Interrupted, checkpoint.Question{ID: "q", Body: []byte(strings.Repeat("b", i))})
		}
	}
	heads, err := s.Threads(t.Context(), checkpoint.ThreadFilter{})
	must(t, err)
	qs, err := s.Questions(t.Context(), checkpoint.QuestionFilter{})
	must(t, err)
	if len(heads) != 10 || len(qs) != 5 {
		t.Fatalf("%d threads, %d questions", len(heads), len(qs))
	}
	for _, h := range heads {
		l, err := s.Load(t.Context(), h.Key, 0, "")
		must(t, err)
		if fmt.Sprintf("%+v", l.Head) != fmt.Sprintf("%+v", h) {
			t.Errorf("listed as %+v, loaded as %+v", h, l.Head)
		}
	}
	for _, q := range qs {
		l, err := s.Load(t.Context(), q.Key, 0, "")
		must(t, err)
		if fmt.Sprintf("%+v", l.Questions) != fmt.Sprintf("%+v", []checkpoint.Question{q}) {
			t.Errorf("listed as %+v, loaded as %+v", q, l.Questions)
		}
	}
}

// C22: a run whose store has lost its tail ends with ErrRolledBack; Resume goes on from what is there, and an effect that had
// happened happens again under the same key only.
func TestRunIsRolledBack(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{Fsync: "everysec", Args: []string{"--aof-use-rdb-preamble", "no"}})
	store := open(t, server, redis.Options{})
	var mu sync.Mutex
	effects := map[string]int{}
	lost := false
	g := graph.New[form]("rolled")
	g.Node("pay", func(ctx context.Context, s *form) error {
		_, err := graph.Once(ctx, "charge", func(_ context.Context, key string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			effects[key]++
			return "paid", nil
		})
		mu.Lock()
		first := !lost
		lost = true
		mu.Unlock()
		if err == nil && first { // the receipt was recorded, and the server loses it
			err = server.CutTail(100)
			if err == nil {
				err = server.Restart()
			}
		}
		s.A.Set("paid")
		return err
	})
	g.Edge(graph.Start, "pay")
	app, err := g.Compile(graph.Options{Store: store})
	must(t, err)
	defer app.Close(context.Background())
	_, err = app.Run(t.Context(), graph.ID("thread"), nil)
	if !isRolledBack(err) {
		t.Fatalf("the run ended with %v; want ErrRolledBack", err)
	}
	var out *form
	until(t, "the thread is resumed", func() bool {
		out, err = app.Resume(t.Context(), graph.ID("thread"))
		return err == nil
	})
	if out.A.Get() != "paid" || len(effects) != 1 {
		t.Fatalf("the state is %s, the effects %v", out.text(), effects)
	}
	for key, n := range effects {
		if n != 2 {
			t.Fatalf("the effect of key %s happened %d times: the test has lost nothing", key, n)
		}
	}
}
