package redis_test

import (
	"context"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/testserver"
	goredis "github.com/redis/go-redis/v9"
)

// open opens a store on a server; the test's end closes it.
func open(t testing.TB, server *testserver.Redis, o redis.Options) *redis.Store {
	t.Helper()
	return openURL(t, server.URL(), o)
}

func openURL(t testing.TB, url string, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// prefix is one that no other store uses.
func prefix() string {
	n := checkpoint.NewNonce()
	return "hf-" + hex.EncodeToString(n[:6])
}

// raw is a client of the server itself.
func raw(t testing.TB, server *testserver.Redis) *goredis.Client {
	t.Helper()
	opt, err := goredis.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	opt.Protocol, opt.DisableIdentity = 2, true
	c := goredis.NewClient(opt)
	t.Cleanup(func() { c.Close() })
	return c
}

// threadKeys are the keys of all threads of a prefix, and indexKeys those of the lists.
func threadKeys(t testing.TB, c *goredis.Client, prefix string) []string {
	t.Helper()
	keys, err := c.Keys(t.Context(), prefix+":{*").Result()
	must(t, err)
	return keys
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until polls until f is true.
func until(t testing.TB, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	give := time.NewTimer(60 * time.Second)
	defer give.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-give.C:
			t.Fatalf("it never happened: %s", what)
		}
	}
}

// A holder is an acquisition of a thread.
type holder struct {
	t     testing.TB
	s     checkpoint.Store
	key   checkpoint.Key
	nonce checkpoint.Nonce
	epoch int64
	count int64
	next  map[checkpoint.Namespace]int64
}

// take acquires a free thread as it finds it, with a new run and its input.
func take(t testing.TB, s checkpoint.Store, thread string) *holder {
	t.Helper()
	h := &holder{t: t, s: s, key: checkpoint.Key{Tenant: "tenant", Thread: thread}, nonce: checkpoint.NewNonce(), next: map[checkpoint.Namespace]int64{}}
	l, err := s.Load(t.Context(), h.key, 0, "")
	must(t, err)
	h.epoch = l.Head.Epoch + 1
	chains, err := s.Chains(t.Context(), h.key, 0)
	must(t, err)
	for _, c := range chains {
		h.next[c.Namespace] = c.Pos + 1
	}
	id := checkpoint.NewNonce()
	_, err = s.Acquire(t.Context(), &checkpoint.Acquire{
		Key: h.key, Epoch: l.Head.Epoch, Nonce: h.nonce, TTL: time.Hour, Run: &checkpoint.Run{ID: hex.EncodeToString(id[:])},
		Records: []checkpoint.Record{h.record("", "input")},
	})
	must(t, err)
	return h
}

func (h *holder) record(ns checkpoint.Namespace, body string) checkpoint.Record {
	r := checkpoint.Record{
		Namespace: ns, Pos: h.next[ns], Ord: h.epoch<<32 | h.count, By: h.nonce.Writer(), Step: h.next[ns], Kind: checkpoint.KindEntry, Body: []byte(body),
	}
	h.next[ns]++
	h.count++
	return r
}

func (h *holder) write(records ...checkpoint.Record) *checkpoint.Append {
	return &checkpoint.Append{Key: h.key, Nonce: h.nonce, Records: records}
}

func (h *holder) do(a *checkpoint.Append) checkpoint.Ack {
	h.t.Helper()
	ack, err := h.s.Append(context.Background(), a)
	must(h.t, err)
	return ack
}

// park ends or pauses the run.
func (h *holder) park(status checkpoint.Status, questions ...checkpoint.Question) checkpoint.Ack {
	h.t.Helper()
	a := h.write(h.record("", "pause"))
	a.Park = &checkpoint.Park{Status: status, Questions: questions}
	return h.do(a)
}

func read(t testing.TB, s checkpoint.Store, key checkpoint.Key, ns checkpoint.Namespace) []checkpoint.Record {
	t.Helper()
	rs, err := s.Read(context.Background(), checkpoint.Query{Chain: checkpoint.Chain{Key: key, Namespace: ns}, To: -1})
	must(t, err)
	return rs
}

// same fails unless the chain is exactly these records, in order and without a gap.
func same(t testing.TB, got, want []checkpoint.Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records; want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Pos != int64(i) || got[i].By != want[i].By || got[i].Ord != want[i].Ord || string(got[i].Body) != string(want[i].Body) {
			t.Fatalf("the record at %d is %+v; want %+v", i, got[i], want[i])
		}
	}
}

func isAway(err error) bool { return errors.Is(err, checkpoint.ErrUnavailable) }

func isRolledBack(err error) bool { return errors.Is(err, checkpoint.ErrRolledBack) }

func asInterrupted(err error) (*graph.Interrupted, bool) {
	return errors.AsType[*graph.Interrupted](err)
}
