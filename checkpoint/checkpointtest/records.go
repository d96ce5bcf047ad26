package checkpointtest

import (
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var recordCases = []testCase{
	{"put-and-read-back", "C1", "what was acknowledged comes back byte for byte, each chain apart from the others", putAndReadBack},
	{"kinds", "C1", "a store keeps every kind and understands none", kinds},
	{"query", "C1", "History and State page through long chains: a wrong bound loses or repeats an entry", query},
	{"load-from-base", "C6", "a load reads from the base of the last record: less loses state, more is not bounded", loadFromBase},
	{"chains", "C1", "a fork seals every live namespace: one that is not listed is lost in the fork", chains},
	{"namespaces-by-segments", "C9", `("a:b","c") and ("a","b:c") are two namespaces; mixing them hands one task's results to another`, namespacesBySegments},
	{"trim", "C1", "retention removes what nobody can read any more, and nothing else", trim},
	{"delete", "C23", "a person's data must be gone when it was deleted, and only that person's", deleteThread},
	{"unknown-thread", "report 209", "a store that makes a thread when it is asked for one grows with every typing error", unknownThread},
}

func putAndReadBack(e *env) {
	want := map[checkpoint.Chain][]checkpoint.Record{}
	for t := range 3 {
		h := e.start(e.key(fmt.Sprint("thread-", t)))
		want[checkpoint.Chain{Key: h.Key}] = []checkpoint.Record{{Ord: 1 << 32, By: h.nonce.Writer(), Kind: checkpoint.KindInput, Body: []byte("input")}}
		for step := range 5 {
			var rs []checkpoint.Record
			for _, ns := range []checkpoint.Namespace{"", checkpoint.NamespaceOf("m", "child"), checkpoint.NamespaceOf("m", "child", "t", "3.0.1")} {
				r := h.record(ns, checkpoint.KindEntry, fmt.Sprintf("body of %q at %d", ns, step))
				r.Base, r.Step = min(r.Pos, 1), 100+r.Step
				rs = append(rs, r)
				c := checkpoint.Chain{Key: h.Key, Namespace: ns}
				want[c] = append(want[c], r)
			}
			h.append(rs...)
		}
	}
	for c, rs := range want {
		e.sameRecords(e.read(c.Key, c.Namespace), rs)
	}
}

func kinds(e *env) {
	h := e.start(e.key("thread"))
	all := []checkpoint.Kind{
		checkpoint.KindInput, checkpoint.KindEntry, checkpoint.KindSnapshot, checkpoint.KindResult, checkpoint.KindOnce, checkpoint.KindPause,
		checkpoint.KindSettle, checkpoint.KindEdit, checkpoint.KindSeal, checkpoint.KindVoid, 'z',
	}
	var want []checkpoint.Record
	for _, k := range all {
		want = append(want, h.record("ns", k, string(k)))
	}
	h.append(want[:4]...)
	h.append(want[4:]...)
	e.sameRecords(e.read(h.Key, "ns"), want)
}

func query(e *env) {
	h := e.start(e.key("thread"))
	var rs []checkpoint.Record
	for range 20 {
		rs = append(rs, h.record("ns", checkpoint.KindEntry, "body"))
	}
	h.append(rs...)
	chain := checkpoint.Chain{Key: h.Key, Namespace: "ns"}
	for _, c := range []struct {
		q        checkpoint.Query
		from, to int // of rs, half open
	}{
		{checkpoint.Query{To: -1}, 0, 20},
		{checkpoint.Query{To: 0}, 0, 1},
		{checkpoint.Query{From: 5, To: 7}, 5, 8},
		{checkpoint.Query{From: 15, To: 99}, 15, 20},
		{checkpoint.Query{From: 20, To: -1}, 20, 20},
		{checkpoint.Query{From: 8, To: 7}, 8, 8},
		{checkpoint.Query{To: -1, Limit: 3}, 0, 3},
		{checkpoint.Query{To: -1, Limit: 3, Newest: true}, 17, 20},
		{checkpoint.Query{From: 2, To: 10, Limit: 3, Newest: true}, 8, 11},
		{checkpoint.Query{To: -1, Limit: 99, Newest: true}, 0, 20},
		{checkpoint.Query{To: -1, MaxOrd: rs[9].Ord}, 0, 10},
		{checkpoint.Query{To: -1, MaxOrd: rs[9].Ord, Limit: 2, Newest: true}, 8, 10},
		{checkpoint.Query{From: 12, To: -1, MaxOrd: rs[9].Ord}, 12, 12},
		{checkpoint.Query{To: -1, MaxOrd: rs[0].Ord}, 0, 1},
		{checkpoint.Query{To: 0, MaxOrd: rs[0].Ord}, 0, 1},
		{checkpoint.Query{To: 0, MaxOrd: 1}, 0, 0},
		{checkpoint.Query{To: 0, MaxOrd: rs[9].Ord}, 0, 1}, // a search over one position, the first
	} {
		c.q.Chain = chain
		got, err := e.store.Read(e.Context(), c.q)
		e.ok(err)
		e.sameRecords(got, rs[c.from:c.to])
	}
	got, err := e.store.Read(e.Context(), checkpoint.Query{Chain: chain, To: -1, Limit: 1, NoBody: true})
	e.ok(err)
	if len(got) != 1 || got[0].Body != nil {
		e.Fatalf("a query without bodies returned %+v", got)
	}
}

func loadFromBase(e *env) {
	h := e.start(e.key("thread"))
	var rs []checkpoint.Record
	for i := range 10 {
		r := h.record("ns", checkpoint.KindEntry, fmt.Sprint(i))
		if i >= 6 {
			r.Base = 6
		}
		rs = append(rs, r)
	}
	h.append(rs[:6]...)
	l, err := e.store.Load(e.Context(), h.Key, 0, "ns")
	e.ok(err)
	e.sameRecords(l.Records, rs[:6])
	h.append(rs[6:]...)
	l, err = e.store.Load(e.Context(), h.Key, checkpoint.Active, "ns")
	e.ok(err)
	e.sameRecords(l.Records, rs[6:])
	e.equal("the head", l.Head.Epoch, 1)
	l, err = e.store.Load(e.Context(), h.Key, 0, "another")
	e.ok(err)
	if len(l.Records) != 0 || l.Head.Run != "run-1" {
		e.Fatalf("an unknown chain has records %+v, head %+v", l.Records, l.Head)
	}
}

func chains(e *env) {
	h := e.start(e.key("thread"))
	spaces := []checkpoint.Namespace{checkpoint.NamespaceOf("a"), checkpoint.NamespaceOf("a", "b"), checkpoint.NamespaceOf("b"), checkpoint.NamespaceOf("long-segment"), "\x00\xff"}
	for _, ns := range spaces {
		h.append(h.record(ns, checkpoint.KindEntry, "1"), h.record(ns, checkpoint.KindEntry, "2"))
	}
	got, err := e.store.Chains(e.Context(), h.Key, checkpoint.Active)
	e.ok(err)
	want := append([]checkpoint.Namespace{""}, spaces...)
	slices.Sort(want)
	var names []checkpoint.Namespace
	for _, r := range got {
		names = append(names, r.Namespace)
		if r.Body != nil || r.Namespace != "" && r.Pos != 1 {
			e.Fatalf("the last record of chain %q is %+v", r.Namespace, r)
		}
	}
	e.equal("namespaces", fmt.Sprintf("%q", names), fmt.Sprintf("%q", want))
	got, err = e.store.Chains(e.Context(), h.Key, 7)
	e.ok(err)
	e.equal("chains of an unknown branch", len(got), 0)
}

func namespacesBySegments(e *env) {
	h := e.start(e.key("thread"))
	a, b := checkpoint.NamespaceOf("a:b", "c"), checkpoint.NamespaceOf("a", "b:c")
	h.append(h.record(a, checkpoint.KindEntry, "of a"))
	h.append(h.record(b, checkpoint.KindEntry, "of b"))
	for ns, body := range map[checkpoint.Namespace]string{a: "of a", b: "of b"} {
		rs := e.read(h.Key, ns)
		if len(rs) != 1 || string(rs[0].Body) != body {
			e.Fatalf("namespace %q holds %+v", ns, rs)
		}
	}
}

func trim(e *env) {
	h := e.start(e.key("thread"))
	var rs []checkpoint.Record
	for range 10 {
		rs = append(rs, h.record("ns", checkpoint.KindEntry, "body"))
	}
	h.append(rs...)
	h.append(h.record("other", checkpoint.KindEntry, "kept"))
	chain := checkpoint.Chain{Key: h.Key, Namespace: "ns"}
	for _, c := range []struct{ below, removed, left int64 }{{0, 0, 10}, {4, 4, 6}, {4, 0, 6}, {2, 0, 6}} {
		n, err := e.store.Trim(e.Context(), chain, c.below)
		e.ok(err)
		e.equal("removed records", n, c.removed)
		e.sameRecords(e.read(h.Key, "ns"), rs[10-c.left:])
	}
	r := h.record("ns", checkpoint.KindEntry, "after")
	h.append(r) // the tail is where it was
	e.sameRecords(e.read(h.Key, "ns"), append(slices.Clone(rs[4:]), r))
	n, err := e.store.Trim(e.Context(), chain, 1000)
	e.ok(err)
	e.equal("removed records", n, int64(7))
	e.equal("records of a chain that was removed whole", len(e.read(h.Key, "ns")), 0)
	e.equal("records of the other chain", len(e.read(h.Key, "other")), 1)
	n, err = e.store.Trim(e.Context(), checkpoint.Chain{Key: e.key("unknown")}, 5)
	e.ok(err)
	e.equal("records removed from an unknown thread", n, int64(0))
}

func deleteThread(e *env) {
	gone, kept := e.start(e.key("gone")), e.start(e.key("kept"))
	neighbour := e.start(checkpoint.Key{Tenant: e.tenant + "x", Thread: "gone"})
	_, err := e.store.Post(e.Context(), checkpoint.Command{Key: gone.Key, Kind: checkpoint.CommandInput, Request: "r"})
	e.ok(err)
	e.equal("released", gone.park(checkpoint.Interrupted, 0, checkpoint.Question{ID: "q"}).Released, false)

	e.unchanged(kept.Key, func() {
		e.unchanged(neighbour.Key, func() {
			for range 2 { // the second time it is unknown
				e.ok(e.store.Delete(e.Context(), gone.Key))
			}
		})
	})
	l := e.load(gone.Key)
	if l.Head.Epoch != 0 || len(l.Records)+len(l.Questions)+len(l.Inbox) != 0 {
		e.Fatalf("left of a deleted thread: %+v", l)
	}
	for _, list := range []string{e.all(gone.Key)} {
		e.equal("everything of a deleted thread", list, e.all(e.key("gone")))
	}
	runs, err := e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: e.tenant})
	e.ok(err)
	e.equal("runs that are left", len(runs), 1)
	qs, err := e.store.Questions(e.Context(), checkpoint.QuestionFilter{Tenant: e.tenant})
	e.ok(err)
	e.equal("questions that are left", len(qs), 0)
	_, err = e.store.Append(e.Context(), gone.write(gone.record("", checkpoint.KindEntry, "late")))
	e.is(err, checkpoint.ErrStale)
	renewed, err := e.store.Renew(e.Context(), []checkpoint.Lease{{Key: gone.Key, Nonce: gone.nonce}}, long)
	e.ok(err)
	e.equal("a lease on a deleted thread is lost", renewed[0].Lost, true)

	again := e.start(gone.Key) // the key is free, and nothing of before comes back
	e.equal("records of the new thread", len(e.read(again.Key, "")), 1)
	inbox, err := e.store.Inbox(e.Context(), gone.Key)
	e.ok(err)
	e.equal("commands of the new thread", len(inbox), 0)
}

func unknownThread(e *env) {
	key := e.key("unknown")
	l, err := e.store.Load(e.Context(), key, checkpoint.Active, "")
	e.ok(err)
	e.equal("the head of an unknown thread", l.Head, checkpoint.Head{Key: key})
	e.equal("records", len(e.read(key, "")), 0)
	for range 3 {
		_ = e.all(key)
	}
	inbox, err := e.store.Inbox(e.Context(), key)
	e.ok(err)
	e.equal("commands", len(inbox), 0)
	_, err = e.store.Post(e.Context(), checkpoint.Command{Key: key, Kind: checkpoint.CommandCancel})
	e.is(err, checkpoint.ErrNoThread)
	_, err = e.store.Answer(e.Context(), key, []checkpoint.Reply{{Question: "q", By: "somebody"}})
	e.is(err, checkpoint.ErrNotPending)
	h := e.holder(key, 1)
	_, err = e.store.Append(e.Context(), h.write(h.record("", checkpoint.KindEntry, "")))
	e.is(err, checkpoint.ErrStale)
	_, err = e.store.Release(e.Context(), checkpoint.Lease{Key: key, Nonce: h.nonce}, 0)
	e.is(err, checkpoint.ErrStale)
	e.ok(e.store.Delete(e.Context(), key))
	heads, err := e.store.Threads(e.Context(), checkpoint.ThreadFilter{Tenant: e.tenant})
	e.ok(err)
	e.equal("threads", len(heads), 0)
}
