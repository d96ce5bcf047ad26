package checkpointtest

import (
	"errors"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var writeCases = []testCase{
	{"position", "C2", "two writers that both think they are next must not fork a chain or leave a gap in it", position},
	{"all-or-nothing", "C2", "half a superstep is worse than none: a resume would run on it", allOrNothing},
	{"stale-nonce", "C2, C3", "a frozen process that wakes after its lease must not write over its successor", staleNonce},
	{"repeat-append", "C4", "a reply can be lost after the commit: the same append again must be acknowledged, not stored twice", repeatAppend},
	{"repeat-after-trim", "C4", "retention may pass between the first attempt and the repeat: what is below the base cannot be compared", repeatAfterTrim},
	{"repeat-is-not-another", "C4", "a late first attempt must not be taken for a different second one", repeatIsNotAnother},
	{"repeat-own-release", "C4", "the append that ends a run releases the lease; when its reply was lost the repeat has no lease any more", repeatOwnRelease},
	{"closed-and-taken", "C2", "an entry uses up its questions and commands in the same write, or they are used twice", closedAndTaken},
	{"branches", "C1", "the active branch is the one that answers and plain reads mean", branches},
	{"bad-appends", "C14", "a write that a store cannot keep is refused as a whole, by name", badAppends},
}

func position(e *env) {
	h := e.start(e.key("thread"))
	h.append(h.record("", checkpoint.KindEntry, "1"))
	for _, pos := range []int64{0, 1, 3, 100} {
		r := h.record("", checkpoint.KindEntry, "wrong")
		r.Pos = pos
		e.unchanged(h.Key, func() {
			_, err := e.store.Append(e.Context(), h.write(r))
			e.is(err, checkpoint.ErrStale)
		})
	}
	r := h.record("new chain", checkpoint.KindEntry, "wrong")
	r.Pos = 1
	e.unchanged(h.Key, func() {
		_, err := e.store.Append(e.Context(), h.write(r))
		e.is(err, checkpoint.ErrStale)
	})
	r = h.record("", checkpoint.KindEntry, "right")
	r.Pos = 2
	h.append(r)
}

func allOrNothing(e *env) {
	h := e.start(e.key("thread"))
	h.append(h.record("b", checkpoint.KindEntry, "1"))
	good, bad := h.record("a", checkpoint.KindEntry, "good"), h.record("b", checkpoint.KindEntry, "bad")
	bad.Pos = 5
	e.unchanged(h.Key, func() {
		a := h.write(good, bad)
		a.Park = &checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{{ID: "q"}}}
		a.Branch = &checkpoint.Branch{N: 1, Name: "fork"}
		_, err := e.store.Append(e.Context(), a)
		e.is(err, checkpoint.ErrStale)
	})
	// A gap inside the write itself.
	one, two := h.record("c", checkpoint.KindEntry, "1"), h.record("c", checkpoint.KindEntry, "2")
	two.Pos = 2
	e.unchanged(h.Key, func() {
		_, err := e.store.Append(e.Context(), h.write(one, two))
		e.is(err, checkpoint.ErrStale)
	})
}

func staleNonce(e *env) {
	old := e.start(e.key("thread"))
	thief := e.holder(old.Key, 2)
	_, err := e.store.Acquire(e.Context(), &checkpoint.Acquire{Key: old.Key, Mode: checkpoint.Steal, Seen: old.nonce, Nonce: thief.nonce, TTL: long})
	e.ok(err)
	e.unchanged(old.Key, func() {
		a := old.write(old.record("", checkpoint.KindEntry, "late"))
		_, err := e.store.Append(e.Context(), a)
		e.is(err, checkpoint.ErrStale)
		a.Park = &checkpoint.Park{Status: checkpoint.Completed}
		_, err = e.store.Append(e.Context(), a)
		e.is(err, checkpoint.ErrStale)
		_, err = e.store.Release(e.Context(), checkpoint.Lease{Key: old.Key, Nonce: old.nonce}, 0)
		e.is(err, checkpoint.ErrStale)
	})
	thief.next[checkpoint.Chain{}] = 1
	thief.append(thief.record("", checkpoint.KindEntry, "mine"))
	e.is(func() error {
		_, err := e.store.Append(e.Context(), old.write(old.record("", checkpoint.KindEntry, "later")))
		return err
	}(), checkpoint.ErrStale)
}

func repeatAppend(e *env) {
	h := e.start(e.key("thread"))
	single := h.write(h.record("", checkpoint.KindEntry, "single"))
	many := h.write(h.record("", checkpoint.KindEntry, "a"), h.record("ns", checkpoint.KindEntry, "b"), h.record("ns", checkpoint.KindSnapshot, "c"))
	for _, a := range []*checkpoint.Append{single, many} {
		first := h.do(a)
		e.unchanged(h.Key, func() { e.equal("the acknowledgement of the repeat", h.do(a), first) })
	}
	// Also when the chain has moved on.
	e.unchanged(h.Key, func() { h.do(single) })
	// Also when somebody else holds the thread now.
	_, err := e.store.Acquire(e.Context(), &checkpoint.Acquire{Key: h.Key, Mode: checkpoint.Steal, Seen: h.nonce, Nonce: checkpoint.NewNonce(), TTL: long})
	e.ok(err)
	e.unchanged(h.Key, func() { h.do(single); h.do(many) })
}

func repeatAfterTrim(e *env) {
	h := e.start(e.key("thread"))
	h.append(h.record("ns", checkpoint.KindEntry, "0"))
	entry, snapshot := h.record("ns", checkpoint.KindEntry, "1"), h.record("ns", checkpoint.KindSnapshot, "of 1")
	snapshot.Base = snapshot.Pos
	a := h.write(entry, snapshot)
	first := h.do(a)
	removed, err := e.store.Trim(e.Context(), checkpoint.Chain{Key: h.Key, Namespace: "ns"}, snapshot.Pos)
	e.ok(err)
	e.equal("removed", removed, 2)
	e.unchanged(h.Key, func() { e.equal("the acknowledgement of the repeat", h.do(a), first) })

	// The last record decides: another one at its place is another write.
	other := snapshot
	other.Ord += 1 << 20
	e.unchanged(h.Key, func() {
		_, err := e.store.Append(e.Context(), h.write(entry, other))
		e.is(err, checkpoint.ErrStale)
	})
}

func repeatIsNotAnother(e *env) {
	h := e.start(e.key("thread"))
	first := h.record("", checkpoint.KindEntry, "first")
	h.append(first)
	second := h.record("", checkpoint.KindEntry, "second")
	second.Pos = first.Pos
	e.unchanged(h.Key, func() {
		_, err := e.store.Append(e.Context(), h.write(second))
		e.is(err, checkpoint.ErrStale)
	})
	// Half of it was there: it is another write.
	second.Pos++
	e.unchanged(h.Key, func() {
		gap := second
		gap.Pos++
		_, err := e.store.Append(e.Context(), h.write(first, gap))
		e.is(err, checkpoint.ErrStale)
	})
}

func repeatOwnRelease(e *env) {
	h := e.start(e.key("thread"))
	end := h.write(h.record("", checkpoint.KindEntry, "end"))
	end.Park = &checkpoint.Park{Status: checkpoint.Completed}
	e.equal("the end", h.do(end), checkpoint.Ack{Released: true})
	e.unchanged(h.Key, func() { e.equal("the repeated end", h.do(end), checkpoint.Ack{Released: true}) })

	next := e.holder(h.Key, 2)
	_, err := e.store.Acquire(e.Context(), &checkpoint.Acquire{Key: h.Key, Epoch: 1, Nonce: next.nonce, TTL: long})
	e.ok(err)
	e.unchanged(h.Key, func() { e.equal("the repeat under the next holder", h.do(end), checkpoint.Ack{Released: true}) })

	lease := checkpoint.Lease{Key: h.Key, Nonce: next.nonce}
	released, err := e.store.Release(e.Context(), lease, 0)
	e.ok(err)
	e.equal("released", released, true)
	e.unchanged(h.Key, func() {
		released, err := e.store.Release(e.Context(), lease, 0)
		if !errors.Is(err, checkpoint.ErrStale) && (err != nil || !released) {
			e.Fatalf("a repeated release = %v, %v; want true, or ErrStale from a store that cannot tell", released, err)
		}
	})
}

func closedAndTaken(e *env) {
	h := e.start(e.key("thread"))
	for range 3 {
		_, err := e.store.Post(e.Context(), checkpoint.Command{Key: h.Key, Kind: checkpoint.CommandInput})
		e.ok(err)
	}
	a := h.write(h.record("", checkpoint.KindPause, ""))
	a.Park = &checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{{ID: "q1"}, {ID: "q2"}}}
	a.Seen = 2
	ack := h.do(a)
	e.equal("a pause that has not seen the inbox", ack, checkpoint.Ack{Inbox: 3})

	a = h.write(h.record("", checkpoint.KindEntry, ""))
	a.Closed, a.Taken = []string{"q1", "unknown"}, 2
	h.do(a)
	l := e.load(h.Key)
	if len(l.Questions) != 1 || l.Questions[0].ID != "q2" {
		e.Fatalf("open questions: %+v", l.Questions)
	}
	if len(l.Inbox) != 1 || l.Inbox[0].N != 3 {
		e.Fatalf("inbox: %+v", l.Inbox)
	}
	_, err := e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{{Question: "q1", By: "late"}})
	e.is(err, checkpoint.ErrNotPending)
}

func branches(e *env) {
	h := e.start(e.key("thread"))
	h.park(checkpoint.Interrupted, -1, checkpoint.Question{ID: "q0"}) // seen -1: keeps the lease
	one := int32(1)
	a := h.write(h.recordIn(1, "", checkpoint.KindSeal, "seal"))
	a.Branch, a.Activate = &checkpoint.Branch{N: 1, Name: "fork", Origin: 0, Ord: 42, Reason: "fork"}, &one
	h.do(a)
	e.unchanged(h.Key, func() { h.do(a) }) // C4
	l := e.load(h.Key)
	e.equal("branch", l.Branch, one)
	e.equal("active", l.Head.Active, one)
	e.equal("branches", l.Branches, []checkpoint.Branch{*a.Branch})
	e.equal("open questions of the active branch", len(l.Questions), 0)
	e.sameRecords(l.Records, a.Records)

	_, err := e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{{Question: "q0", By: "somebody"}})
	e.is(err, checkpoint.ErrNotPending) // dormant
	qs, err := e.store.Questions(e.Context(), checkpoint.QuestionFilter{Tenant: e.tenant})
	e.ok(err)
	e.equal("questions of active branches", len(qs), 0)
	l, err = e.store.Load(e.Context(), h.Key, 0, "")
	e.ok(err)
	e.equal("questions of branch 0", len(l.Questions), 1)

	for _, b := range []checkpoint.Branch{{N: 1, Name: "again"}, {N: 3, Name: "gap"}, {N: 2, Name: "fork"}} {
		e.unchanged(h.Key, func() {
			a := h.write(checkpoint.Record{Branch: b.N, By: h.nonce.Writer(), Ord: 9<<32 + int64(b.N), Kind: checkpoint.KindSeal})
			a.Branch = &b
			_, err := e.store.Append(e.Context(), a)
			e.is(err, checkpoint.ErrStale)
		})
	}
	e.unchanged(h.Key, func() {
		_, err := e.store.Append(e.Context(), h.write(checkpoint.Record{Branch: 7, By: h.nonce.Writer(), Ord: 9 << 32}))
		e.is(err, checkpoint.ErrStale)
	})

	zero := int32(0)
	back := h.write(h.record("", checkpoint.KindEntry, "back"))
	back.Activate = &zero
	h.do(back)
	_, err = e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{{Question: "q0", By: "somebody"}})
	e.ok(err)
}

func badAppends(e *env) {
	h := e.start(e.key("thread"))
	good := h.record("", checkpoint.KindEntry, "good")
	foreign := good
	foreign.By++
	for name, a := range map[string]*checkpoint.Append{
		"no records":         h.write(),
		"zero nonce":         {Key: h.Key, Records: []checkpoint.Record{good}},
		"another writer":     h.write(foreign),
		"negative position":  h.write(checkpoint.Record{Pos: -1, By: h.nonce.Writer()}),
		"no tenant":          {Key: checkpoint.Key{Thread: "thread"}, Nonce: h.nonce, Records: []checkpoint.Record{good}},
		"NUL in an id":       {Key: h.Key, Nonce: h.nonce, Records: []checkpoint.Record{good}, Park: &checkpoint.Park{Status: checkpoint.Completed, Questions: []checkpoint.Question{{ID: "a\x00b"}}}},
		"NUL in a closed id": {Key: h.Key, Nonce: h.nonce, Records: []checkpoint.Record{good}, Closed: []string{"a\x00b"}},
		"no status":          {Key: h.Key, Nonce: h.nonce, Records: []checkpoint.Record{good}, Park: &checkpoint.Park{}},
	} {
		e.unchanged(h.Key, func() {
			if _, err := e.store.Append(e.Context(), a); !errors.Is(err, checkpoint.ErrBadKey) {
				e.Errorf("%s: error %v; want ErrBadKey", name, err)
			}
		})
	}
}
