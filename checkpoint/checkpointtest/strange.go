package checkpointtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var strangeCases = []testCase{
	{"hostile-strings", "C9", "no string of a caller or a model is ever part of a query, a pattern or a separator", hostileStrings},
	{"bad-keys", "C10", "a key without a tenant is another tenant's data; NUL cannot be kept everywhere", badKeys},
	{"poison-bodies", "C8", "bodies are opaque: NUL, lone surrogates and broken UTF-8 come back as they were", poisonBodies},
	{"large-body", "C8", "a large state must be kept, or refused by name", largeBody},
	{"many-threads", "C1", "ten thousand threads are an ordinary morning", manyThreads},
	{"context", "C11", "a call ends with its context, and says that its outcome may be unknown", contexts},
	{"closed", "C11", "a closed store says so instead of hanging or pretending", closed},
}

var hostile = []string{
	"'", `"`, "`", ";", "--", "/*", `\`, "%", "_", "*", "?", "[a]", "{a}", ":", "|", " ", "\t", "\n", "a b", "a%", "a_", "A", "a",
	"'; drop table hf_record; --", `" or ""="`, "$1", "?1", "@a", ":a", "a:b", "b:c", "a/b", "..", "null", "NULL", "0", "-1", "true",
	"\u202e", "\ufeff", "\u00e9", "e\u0301", "日本", "😀", "\U0010ffff", "\x01", "\x7f", "\ufb00", "K", "\u212a", "{hash}tag", "}",
}

func hostileStrings(e *env) {
	for i, s := range hostile {
		tenant, other := e.tenant+s, e.tenant+hostile[(i+1)%len(hostile)]
		key := checkpoint.Key{Tenant: tenant, Thread: s}
		h := e.holder(key, 1)
		ns := checkpoint.NamespaceOf(s, other)
		_, err := e.try(checkpoint.Acquire{
			Key: key, Nonce: h.nonce, Owner: s, Holder: checkpoint.Holder{Host: s, Boot: s, Start: s},
			Run:     &checkpoint.Run{ID: s, Request: s, Graph: s, By: s, Meta: map[string]string{s: s}},
			Records: []checkpoint.Record{h.record(ns, checkpoint.KindInput, s)},
		})
		e.ok(err)
		_, err = e.store.Post(e.Context(), checkpoint.Command{Key: key, Kind: checkpoint.CommandInput, Request: s, Body: []byte(s)})
		e.ok(err)
		a := h.write(h.record(ns, checkpoint.KindPause, s))
		a.Seen, a.Branch = 1, &checkpoint.Branch{N: 1, Name: s, Reason: s}
		a.Park = &checkpoint.Park{Status: checkpoint.Failed, Error: s, Questions: []checkpoint.Question{{ID: s, Namespace: ns, Run: s, Task: s, NotBy: s + "x"}}}
		e.equal("released", h.do(a).Released, true)
		_, err = e.store.Answer(e.Context(), key, []checkpoint.Reply{{Question: s, By: s, Value: []byte(s)}})
		e.ok(err)
	}
	for _, s := range hostile {
		key := checkpoint.Key{Tenant: e.tenant + s, Thread: s}
		l := e.load(key)
		if l.Head.Owner != s || l.Head.Run != s || l.Head.Graph != s || l.Head.Meta[s] != s || l.Head.Inbox != 2 {
			e.Fatalf("the head of %q is %+v", s, l.Head)
		}
		if len(l.Branches) != 1 || l.Branches[0].Name != s || len(l.Inbox) != 1 || l.Inbox[0].Request != s || len(l.Questions) != 1 || l.Questions[0].ID != s || l.Questions[0].AnsweredBy != s {
			e.Fatalf("thread %q was loaded as %+v", s, l)
		}
		heads, err := e.store.Threads(e.Context(), checkpoint.ThreadFilter{Tenant: key.Tenant, Owner: s, Graph: s, Meta: map[string]string{s: s}})
		e.ok(err)
		runs, err := e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: key.Tenant, Thread: s, Meta: map[string]string{s: s}})
		e.ok(err)
		if len(heads) != 1 || heads[0].Key != key || len(runs) != 1 || runs[0].ID != s || runs[0].Error != s || runs[0].Request != s || runs[0].By != s {
			e.Fatalf("lists of %q: %+v, %+v", s, heads, runs)
		}
	}
	gone := checkpoint.Key{Tenant: e.tenant + "%", Thread: "%"}
	e.ok(e.store.Delete(e.Context(), gone)) // no pattern
	for _, s := range hostile {
		l := e.load(checkpoint.Key{Tenant: e.tenant + s, Thread: s})
		if (l.Head.Epoch == 0) != (s == "%") {
			e.Fatalf("after the deletion of %q thread %q is %+v", "%", s, l.Head)
		}
	}
}

func badKeys(e *env) {
	long := strings.Repeat("x", checkpoint.MaxKeyBytes)
	e.start(checkpoint.Key{Tenant: e.tenant + long[len(e.tenant):], Thread: long})
	for _, k := range []checkpoint.Key{
		{}, {Tenant: e.tenant}, {Thread: "thread"}, {Tenant: "a\x00b", Thread: "t"}, {Tenant: "t", Thread: "\xff"}, {Tenant: long + "x", Thread: "t"},
	} {
		h := e.holder(k, 1)
		_, load := e.store.Load(e.Context(), k, 0, "")
		_, read := e.store.Read(e.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: k}, To: -1})
		_, chains := e.store.Chains(e.Context(), k, 0)
		_, write := e.store.Append(e.Context(), h.write(h.record("", checkpoint.KindEntry, "")))
		_, trim := e.store.Trim(e.Context(), checkpoint.Chain{Key: k}, 1)
		_, acquire := e.try(checkpoint.Acquire{Key: k})
		_, release := e.store.Release(e.Context(), checkpoint.Lease{Key: k, Nonce: h.nonce}, 0)
		_, answer := e.store.Answer(e.Context(), k, []checkpoint.Reply{{Question: "q", By: "somebody"}})
		_, post := e.store.Post(e.Context(), checkpoint.Command{Key: k, Kind: checkpoint.CommandDrain})
		_, inbox := e.store.Inbox(e.Context(), k)
		for i, err := range []error{load, read, chains, write, trim, acquire, release, answer, post, inbox, e.store.Delete(e.Context(), k)} {
			if !errors.Is(err, checkpoint.ErrBadKey) {
				e.Errorf("call %d with key %q: error %v; want ErrBadKey", i, k, err)
			}
		}
	}
}

func poisonBodies(e *env) {
	h := e.start(e.key("thread"))
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	want := e.read(h.Key, "")
	for _, b := range [][]byte{every, {}, {0}, {0xff}, []byte("\xed\xa0\x80"), []byte(`{"a":"\ud800"}`), []byte(`\u0000`), bytes.Repeat(every, 4096)} {
		r := h.record("", checkpoint.KindEntry, string(b))
		h.append(r)
		want = append(want, r)
	}
	e.sameRecords(e.read(h.Key, ""), want)
	for i, b := range [][]byte{every, {}, bytes.Repeat(every, 4096)} {
		_, err := e.store.Post(e.Context(), checkpoint.Command{Key: h.Key, Kind: checkpoint.CommandInput, Body: b})
		e.ok(err)
		id := fmt.Sprint(i)
		h.park(checkpoint.Interrupted, -1, checkpoint.Question{ID: id, Body: b, Shown: b})
		_, err = e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{{Question: id, Shown: b, Value: b, By: "somebody"}})
		e.ok(err)
		l := e.load(h.Key)
		if !bytes.Equal(l.Inbox[i].Body, b) || !bytes.Equal(l.Questions[i].Body, b) || !bytes.Equal(l.Questions[i].Answer, b) || !bytes.Equal(l.Questions[i].Shown, b) {
			e.Fatalf("a body of %d bytes came back as another one", len(b))
		}
	}
}

func largeBody(e *env) {
	size := 100 << 20
	if testing.Short() {
		size = 8 << 20
	}
	h := e.start(e.key("thread"))
	body := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	r := h.record("ns", checkpoint.KindSnapshot, "")
	r.Body = body
	ctx, cancel := context.WithTimeout(e.Context(), 5*time.Minute)
	defer cancel()
	if _, err := e.store.Append(ctx, h.write(r)); errors.Is(err, checkpoint.ErrTooLarge) {
		e.equal("records of a write that was too large", len(e.read(h.Key, "ns")), 0)
		return
	} else {
		e.ok(err)
	}
	rs, err := e.store.Read(ctx, checkpoint.Query{Chain: checkpoint.Chain{Key: h.Key, Namespace: "ns"}, To: -1})
	e.ok(err)
	e.sameRecords(rs, []checkpoint.Record{r})
}

func manyThreads(e *env) {
	n := 10_000
	if testing.Short() {
		n = 1_000
	}
	work := make(chan int)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for i := range work {
				h := e.holder(e.key(fmt.Sprintf("thread-%05d", i)), 1)
				_, err := e.try(checkpoint.Acquire{
					Key: h.Key, Nonce: h.nonce, Run: &checkpoint.Run{ID: "run"},
					Records: []checkpoint.Record{h.record("", checkpoint.KindInput, fmt.Sprint(i))},
				})
				if err != nil {
					e.Errorf("thread %d: %v", i, err)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
	count := 0
	for f := (checkpoint.ThreadFilter{Tenant: e.tenant, Status: checkpoint.Running, Limit: 1000}); ; {
		heads, err := e.store.Threads(e.Context(), f)
		e.ok(err)
		count += len(heads)
		if len(heads) < f.Limit {
			break
		}
		f.After = heads[len(heads)-1].Key
	}
	e.equal("threads", count, n)
	rs := e.read(e.key(fmt.Sprintf("thread-%05d", n/2)), "")
	if len(rs) != 1 || string(rs[0].Body) != fmt.Sprint(n/2) {
		e.Fatalf("a thread in the middle holds %+v", rs)
	}
}

func contexts(e *env) {
	h := e.start(e.key("thread"))
	ended, cancel := context.WithCancel(e.Context())
	cancel()
	a := h.write(h.record("", checkpoint.KindEntry, ""))
	_, write := e.store.Append(ended, a)
	_, load := e.store.Load(ended, h.Key, 0, "")
	_, acquire := e.store.Acquire(ended, &checkpoint.Acquire{Key: e.key("new"), Nonce: checkpoint.NewNonce(), TTL: long})
	_, list := e.store.Threads(ended, checkpoint.ThreadFilter{Tenant: e.tenant})
	_, renew := e.store.Renew(ended, []checkpoint.Lease{{Key: h.Key, Nonce: h.nonce}}, long)
	for i, err := range []error{write, load, acquire, list, renew} {
		if !errors.Is(err, checkpoint.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			e.Errorf("call %d: error %v; want ErrUnavailable and the context's", i, err)
		}
	}
	h.do(a) // the same append, unchanged, whether the first happened or not

	// Contexts that end at any moment: what is repeated until it is known is there once.
	for i := range 50 {
		a := h.write(h.record("ns", checkpoint.KindEntry, fmt.Sprint(i)))
		ctx, cancel := context.WithCancel(e.Context())
		var wg sync.WaitGroup
		wg.Go(cancel)
		_, err := e.store.Append(ctx, a)
		wg.Wait()
		if err != nil {
			e.is(err, checkpoint.ErrUnavailable)
			h.do(a)
		}
	}
	e.equal("records", len(e.read(h.Key, "ns")), 50)
}

func closed(e *env) {
	h := e.start(e.key("thread"))
	e.ok(e.store.Close())
	e.ok(e.store.Close())
	_, write := e.store.Append(e.Context(), h.write(h.record("", checkpoint.KindEntry, "")))
	_, load := e.store.Load(e.Context(), h.Key, 0, "")
	_, acquire := e.try(checkpoint.Acquire{Key: h.Key, Epoch: 1})
	_, renew := e.store.Renew(e.Context(), []checkpoint.Lease{{Key: h.Key, Nonce: h.nonce}}, long)
	_, post := e.store.Post(e.Context(), checkpoint.Command{Key: h.Key, Kind: checkpoint.CommandDrain})
	_, list := e.store.Threads(e.Context(), checkpoint.ThreadFilter{Tenant: e.tenant})
	for i, err := range []error{write, load, acquire, renew, post, list, e.store.Delete(e.Context(), h.Key)} {
		if !errors.Is(err, checkpoint.ErrClosed) {
			e.Errorf("call %d: error %v; want ErrClosed", i, err)
		}
	}
	e.store.Info() // still answers
}
