package checkpointtest

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// An env is what a case works with.
type env struct {
	*testing.T
	store  checkpoint.Store
	tenant string
}

// random is a short name that no other case uses.
func random() string {
	n := checkpoint.NewNonce()
	return hex.EncodeToString(n[:6])
}

func (e *env) key(thread string) checkpoint.Key {
	return checkpoint.Key{Tenant: e.tenant, Thread: thread}
}

func (e *env) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatalf("unexpected error: %v", err)
	}
}

// is fails the case unless the error is the one that is wanted.
func (e *env) is(err, want error) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Fatalf("error %v; want %v", err, want)
	}
}

func (e *env) equal(what string, got, want any) {
	e.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		e.Fatalf("%s:\n got %s\nwant %s", what, clip(g), clip(w))
	}
}

func clip(s string) string { return s[:min(len(s), 2000)] }

// long is a lease that does not run out during a test.
const long = time.Hour

// A holder is a test's acquisition of a thread.
type holder struct {
	*env
	checkpoint.Key
	nonce checkpoint.Nonce
	epoch int64
	count int64
	next  map[checkpoint.Chain]int64
}

// start makes a thread with one run and one input record, held.
func (e *env) start(key checkpoint.Key) *holder {
	e.Helper()
	return e.startRun(key, &checkpoint.Run{ID: "run-1", Graph: "graph"})
}

func (e *env) startRun(key checkpoint.Key, run *checkpoint.Run) *holder {
	e.Helper()
	h := e.holder(key, 1)
	head, err := e.store.Acquire(e.Context(), &checkpoint.Acquire{
		Key: key, Nonce: h.nonce, TTL: long, Run: run, Owner: "owner",
		Records: []checkpoint.Record{h.record("", checkpoint.KindInput, "input")},
	})
	e.ok(err)
	if head.Epoch != 1 || head.Nonce != h.nonce || head.Key != key {
		e.Fatalf("the head after the acquisition is %+v", head)
	}
	return h
}

// holder is an acquisition that has not happened yet.
func (e *env) holder(key checkpoint.Key, epoch int64) *holder {
	return &holder{env: e, Key: key, nonce: checkpoint.NewNonce(), epoch: epoch, next: map[checkpoint.Chain]int64{}}
}

// record is the next one of a chain of branch 0.
func (h *holder) record(ns checkpoint.Namespace, kind checkpoint.Kind, body string) checkpoint.Record {
	return h.recordIn(0, ns, kind, body)
}

func (h *holder) recordIn(branch int32, ns checkpoint.Namespace, kind checkpoint.Kind, body string) checkpoint.Record {
	chain := checkpoint.Chain{Branch: branch, Namespace: ns}
	r := checkpoint.Record{
		Branch: branch, Namespace: ns, Pos: h.next[chain], Ord: h.epoch<<32 | h.count, By: h.nonce.Writer(),
		Step: h.next[chain], Kind: kind, Body: []byte(body),
	}
	h.next[chain]++
	h.count++
	return r
}

// write is an append of records.
func (h *holder) write(records ...checkpoint.Record) *checkpoint.Append {
	return &checkpoint.Append{Key: h.Key, Nonce: h.nonce, Records: records}
}

// append must succeed.
func (h *holder) append(records ...checkpoint.Record) checkpoint.Ack {
	h.Helper()
	return h.do(h.write(records...))
}

func (h *holder) do(a *checkpoint.Append) checkpoint.Ack {
	h.Helper()
	ack, err := h.store.Append(h.Context(), a)
	h.ok(err)
	return ack
}

// park ends or pauses the run with a pause record.
func (h *holder) park(status checkpoint.Status, seen int64, questions ...checkpoint.Question) checkpoint.Ack {
	h.Helper()
	a := h.write(h.record("", checkpoint.KindPause, "pause"))
	a.Seen, a.Park = seen, &checkpoint.Park{Status: status, Questions: questions}
	return h.do(a)
}

func (e *env) load(key checkpoint.Key) *checkpoint.Loaded {
	e.Helper()
	l, err := e.store.Load(e.Context(), key, checkpoint.Active, "")
	e.ok(err)
	return l
}

func (e *env) read(key checkpoint.Key, ns checkpoint.Namespace) []checkpoint.Record {
	e.Helper()
	rs, err := e.store.Read(e.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key, Namespace: ns}, To: -1})
	e.ok(err)
	return rs
}

// all is everything that can be read of a thread, to see that nothing changed.
func (e *env) all(key checkpoint.Key) string {
	e.Helper()
	var b strings.Builder
	l := e.load(key)
	fmt.Fprintf(&b, "%+v\n", *l)
	for branch := range max(l.Head.Branches, 1) {
		chains, err := e.store.Chains(e.Context(), key, branch)
		e.ok(err)
		for _, c := range chains {
			rs, err := e.store.Read(e.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key, Branch: branch, Namespace: c.Namespace}, To: -1})
			e.ok(err)
			fmt.Fprintf(&b, "%+v\n", rs)
		}
	}
	runs, err := e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: key.Tenant, Thread: key.Thread})
	e.ok(err)
	fmt.Fprintf(&b, "%+v\n", runs)
	for _, s := range []checkpoint.QuestionState{checkpoint.Open, checkpoint.Answered, checkpoint.Closed} {
		qs, err := e.store.Questions(e.Context(), checkpoint.QuestionFilter{Tenant: key.Tenant, Thread: key.Thread, State: s})
		e.ok(err)
		fmt.Fprintf(&b, "%+v\n", qs)
	}
	return b.String()
}

// unchanged runs f and fails if the thread is another one afterwards.
func (e *env) unchanged(key checkpoint.Key, f func()) {
	e.Helper()
	before := e.all(key)
	f()
	e.equal("the thread after a refused or repeated write", e.all(key), before)
}

// sameRecords compares what was written with what came back; the store sets the time.
func (e *env) sameRecords(got, want []checkpoint.Record) {
	e.Helper()
	if len(got) != len(want) {
		e.Fatalf("%d records; want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if !bytes.Equal(g.Body, w.Body) {
			e.Fatalf("the body at position %d has %d bytes and is not the one of %d bytes that was written", w.Pos, len(g.Body), len(w.Body))
		}
		if g.At.IsZero() {
			e.Fatalf("the record at position %d has no time", g.Pos)
		}
		g.At, g.Body, w.At, w.Body = time.Time{}, nil, time.Time{}, nil
		e.equal("record", g, w)
	}
}

// until polls until f is true; the test's own deadline ends it.
func (e *env) until(what string, f func() bool) {
	e.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	give := time.NewTimer(30 * time.Second)
	defer give.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-give.C:
			e.Fatalf("it never happened: %s", what)
		}
	}
}
