package checkpointtest

import (
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var leaseCases = []testCase{
	{"acquire-free", "C2", "an acquisition that looks at an old epoch would skip what another run has written since", acquireFree},
	{"acquire-writes", "C1", "a run start is one write: lease, run and input, or nothing of them", acquireWrites},
	{"acquire-expired", "C7", "a lease ends by the store's clock and not before", acquireExpired},
	{"acquire-steal", "C2", "a holder known to be dead is replaced at once, but only the one that was seen", acquireSteal},
	{"repeat-acquire", "C4", "when the reply of an acquisition is lost, the repeat must find its own, not wait for it to run out", repeatAcquire},
	{"same-request", "C4", "a client that starts a run twice must get the first one, whatever happened since", sameRequest},
	{"renew", "C7", "a holder learns in its renewals that it lost the thread, or that a command waits", renew},
	{"release-guard", "C2", "a command that comes while the holder lets go must be seen by it, or nobody runs it", releaseGuard},
	{"park", "C2", "status, run, questions and lease change in the write that ends the run", park},
	{"resume", "C2", "a resumed run is running again, and an edit leaves the status alone", resume},
	{"another-branch", "E42", "a fork starts a run that waits, and going back makes the run of the other branch the latest again, each in one write", anotherBranch},
	{"takeovers", "E18", "a task that kills its process is taken over for ever, unless takeovers without progress are counted", takeovers},
}

// try acquires and returns the error.
func (e *env) try(a checkpoint.Acquire) (checkpoint.Head, error) {
	if a.Nonce.Zero() {
		a.Nonce = checkpoint.NewNonce()
	}
	if a.TTL == 0 {
		a.TTL = long
	}
	return e.store.Acquire(e.Context(), &a)
}

func (e *env) refused(a checkpoint.Acquire, want error) {
	e.Helper()
	e.unchanged(a.Key, func() {
		e.Helper()
		_, err := e.try(a)
		e.is(err, want)
	})
}

func acquireFree(e *env) {
	key := e.key("thread")
	e.refused(checkpoint.Acquire{Key: key, Epoch: 3}, checkpoint.ErrHeld) // not there
	h := e.start(key)
	e.refused(checkpoint.Acquire{Key: key}, checkpoint.ErrHeld)                           // is there
	e.refused(checkpoint.Acquire{Key: key, Epoch: 1}, checkpoint.ErrHeld)                 // held
	e.refused(checkpoint.Acquire{Key: key, Mode: checkpoint.Expired}, checkpoint.ErrHeld) // not run out
	e.equal("released", h.park(checkpoint.Completed, 0).Released, true)
	e.refused(checkpoint.Acquire{Key: key}, checkpoint.ErrHeld)
	e.refused(checkpoint.Acquire{Key: key, Epoch: 2}, checkpoint.ErrHeld)
	e.refused(checkpoint.Acquire{Key: key, Mode: checkpoint.Expired}, checkpoint.ErrHeld)
	e.refused(checkpoint.Acquire{Key: key, Mode: checkpoint.Steal, Seen: h.nonce}, checkpoint.ErrHeld)
	e.refused(checkpoint.Acquire{Key: key, Mode: checkpoint.Steal}, checkpoint.ErrHeld) // the zero nonce is nobody
	head, err := e.try(checkpoint.Acquire{Key: key, Epoch: 1, Owner: "another"})
	e.ok(err)
	e.equal("epoch", head.Epoch, int64(2))
	e.equal("owner", head.Owner, "owner")
	e.equal("status", head.Status, checkpoint.Completed)
}

func acquireWrites(e *env) {
	key := e.key("thread")
	h := e.holder(key, 1)
	host := checkpoint.Holder{Host: "host", Boot: "boot", PID: 7, Start: "start"}
	run := &checkpoint.Run{ID: "run", Request: "request", Graph: "graph", By: "somebody", Meta: map[string]string{"a": "1", "b": "2"}}
	a := checkpoint.Acquire{
		Key: key, Nonce: h.nonce, TTL: long, Holder: host, Owner: "owner", Run: run,
		Records: []checkpoint.Record{h.record("", checkpoint.KindInput, "i"), h.record("ns", checkpoint.KindEntry, "e")},
	}
	head, err := e.store.Acquire(e.Context(), &a)
	e.ok(err)
	l := e.load(key)
	e.equal("the head as it is loaded", l.Head, head)
	if head.Holder != host || head.Run != "run" || head.Graph != "graph" || head.Status != checkpoint.Running || head.Owner != "owner" ||
		head.Expired || head.Branches != 1 || head.Created.IsZero() || head.Updated.IsZero() || !head.LeaseUntil.After(head.Created) {
		e.Fatalf("the head is %+v", head)
	}
	e.equal("metadata", head.Meta, run.Meta)
	e.sameRecords(l.Records, a.Records[:1])
	e.sameRecords(e.read(key, "ns"), a.Records[1:])
	runs, err := e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: e.tenant, Thread: "thread"})
	e.ok(err)
	want := *run
	want.Key, want.Status, want.Started = key, checkpoint.Running, runs[0].Started
	e.equal("runs", runs, []checkpoint.Run{want})

	h.park(checkpoint.Completed, 0)
	bad := e.holder(key, 2)
	e.refused(checkpoint.Acquire{
		Key: key, Epoch: 1, Nonce: bad.nonce, Run: &checkpoint.Run{ID: "run-2"},
		Records: []checkpoint.Record{bad.record("", checkpoint.KindInput, "position 0 is taken")},
	}, checkpoint.ErrStale)
	fresh := e.holder(e.key("fresh"), 1)
	r := fresh.record("", checkpoint.KindInput, "a gap")
	r.Pos = 1
	e.refused(checkpoint.Acquire{Key: fresh.Key, Nonce: fresh.nonce, Records: []checkpoint.Record{r}}, checkpoint.ErrStale)
}

// expire waits until the lease of a thread has run out by the store's clock.
func (e *env) expire(key checkpoint.Key) {
	e.Helper()
	e.until("the lease runs out", func() bool { return e.load(key).Head.Expired })
}

func acquireExpired(e *env) {
	key := e.key("thread")
	first := e.holder(key, 1)
	_, err := e.try(checkpoint.Acquire{Key: key, Nonce: first.nonce, TTL: long, Run: &checkpoint.Run{ID: "run"}})
	e.ok(err)
	e.refused(checkpoint.Acquire{Key: key, Mode: checkpoint.Expired}, checkpoint.ErrHeld)
	_, err = e.store.Renew(e.Context(), []checkpoint.Lease{{Key: key, Nonce: first.nonce}}, time.Millisecond)
	e.ok(err)
	e.expire(key)
	first.append(first.record("", checkpoint.KindInput, "the nonce fences, not the clock"))
	heads, err := e.store.Threads(e.Context(), checkpoint.ThreadFilter{Tenant: e.tenant, Expired: true})
	e.ok(err)
	e.equal("threads whose lease ran out", len(heads), 1)
	_, err = e.try(checkpoint.Acquire{Key: key, Epoch: 1})
	e.is(err, checkpoint.ErrHeld) // held, though expired
	head, err := e.try(checkpoint.Acquire{Key: key, Mode: checkpoint.Expired})
	e.ok(err)
	e.equal("epoch", head.Epoch, int64(2))
	e.refused(checkpoint.Acquire{Key: key, Mode: checkpoint.Expired}, checkpoint.ErrHeld)
	_, err = e.store.Append(e.Context(), first.write(first.record("", checkpoint.KindEntry, "late")))
	e.is(err, checkpoint.ErrStale)
}

func acquireSteal(e *env) {
	h := e.start(e.key("thread"))
	e.refused(checkpoint.Acquire{Key: h.Key, Mode: checkpoint.Steal, Seen: checkpoint.NewNonce()}, checkpoint.ErrHeld)
	head, err := e.try(checkpoint.Acquire{Key: h.Key, Mode: checkpoint.Steal, Seen: h.nonce})
	e.ok(err)
	e.equal("epoch", head.Epoch, int64(2))
	e.equal("status", head.Status, checkpoint.Running)
	e.refused(checkpoint.Acquire{Key: h.Key, Mode: checkpoint.Steal, Seen: h.nonce}, checkpoint.ErrHeld)
	_, err = e.try(checkpoint.Acquire{Key: h.Key, Mode: checkpoint.Steal, Seen: head.Nonce, Records: []checkpoint.Record{h.record("", checkpoint.KindInput, "")}})
	e.is(err, checkpoint.ErrBadKey) // who takes over has not read the log yet
}

func repeatAcquire(e *env) {
	key := e.key("thread")
	h := e.holder(key, 1)
	free := checkpoint.Acquire{Key: key, Nonce: h.nonce, Run: &checkpoint.Run{ID: "run", Request: "request"}, Records: []checkpoint.Record{h.record("", checkpoint.KindInput, "i")}}
	want, err := e.try(free)
	e.ok(err)
	steal := checkpoint.Acquire{Key: key, Mode: checkpoint.Steal, Seen: h.nonce, Nonce: checkpoint.NewNonce()}
	for _, a := range []*checkpoint.Acquire{&free, &steal} {
		if a == &steal {
			want, err = e.try(steal)
			e.ok(err)
		}
		e.unchanged(key, func() {
			got, err := e.try(*a)
			e.ok(err)
			e.equal("the repeated acquisition", got, want)
		})
	}
}

func sameRequest(e *env) {
	key := e.key("thread")
	h := e.startRun(key, &checkpoint.Run{ID: "run-1", Request: "request"})
	twice := func(a checkpoint.Acquire) {
		e.Helper()
		e.unchanged(key, func() {
			e.Helper()
			_, err := e.try(a)
			dup, ok := errors.AsType[*checkpoint.DuplicateError](err)
			if !ok || dup.Run.ID != "run-1" || dup.Run.Key != key || dup.Run.Request != "request" {
				e.Fatalf("the same request again = %v; want a DuplicateError with the first run", err)
			}
		})
	}
	twice(checkpoint.Acquire{Key: key, Epoch: 1, Run: &checkpoint.Run{ID: "run-2", Request: "request"}}) // while it runs
	h.park(checkpoint.Completed, 0)
	twice(checkpoint.Acquire{Key: key, Epoch: 1, Run: &checkpoint.Run{ID: "run-2", Request: "request"}}) // after its end
	twice(checkpoint.Acquire{Key: key, Epoch: 1, Run: &checkpoint.Run{ID: "run-1"}})                     // by its id
	_, err := e.try(checkpoint.Acquire{Key: key, Epoch: 1, Run: &checkpoint.Run{ID: "run-2", Request: "another"}})
	e.ok(err)
	other := e.startRun(e.key("other"), &checkpoint.Run{ID: "run-1", Request: "request"}) // requests belong to a thread
	other.park(checkpoint.Completed, 0)
	for _, id := range []string{"run-2", "run-3"} { // no request is not a request
		_, err := e.try(checkpoint.Acquire{Key: other.Key, Epoch: e.load(other.Key).Head.Epoch, Run: &checkpoint.Run{ID: id}})
		e.ok(err)
		_, err = e.store.Release(e.Context(), checkpoint.Lease{Key: other.Key, Nonce: e.load(other.Key).Head.Nonce}, 0)
		e.ok(err)
	}
}

func renew(e *env) {
	a, b := e.start(e.key("a")), e.start(e.key("b"))
	_, err := e.store.Post(e.Context(), checkpoint.Command{Key: b.Key, Kind: checkpoint.CommandCancel})
	e.ok(err)
	before := e.load(a.Key).Head.LeaseUntil
	got, err := e.store.Renew(e.Context(), []checkpoint.Lease{
		{Key: a.Key, Nonce: a.nonce}, {Key: e.key("unknown"), Nonce: a.nonce}, {Key: b.Key, Nonce: b.nonce}, {Key: b.Key, Nonce: a.nonce},
	}, 3*long)
	e.ok(err)
	e.equal("renewals", got, []checkpoint.Renewal{{}, {Lost: true}, {Inbox: 1}, {Lost: true}})
	if after := e.load(a.Key).Head.LeaseUntil; !after.After(before.Add(long)) {
		e.Fatalf("the lease was extended from %v to %v", before, after)
	}
	a.park(checkpoint.Completed, 0)
	e.unchanged(a.Key, func() {
		got, err := e.store.Renew(e.Context(), []checkpoint.Lease{{Key: a.Key, Nonce: a.nonce}, {Key: a.Key}}, long)
		e.ok(err)
		e.equal("renewals after the release", got, []checkpoint.Renewal{{Lost: true}, {Lost: true}})
	})
	got, err = e.store.Renew(e.Context(), nil, long)
	e.ok(err)
	e.equal("renewals of nothing", len(got), 0)
}

func releaseGuard(e *env) {
	h := e.start(e.key("thread"))
	n, err := e.store.Post(e.Context(), checkpoint.Command{Key: h.Key, Kind: checkpoint.CommandCancel})
	e.ok(err)
	lease := checkpoint.Lease{Key: h.Key, Nonce: h.nonce}
	e.unchanged(h.Key, func() {
		released, err := e.store.Release(e.Context(), lease, n-1)
		e.ok(err)
		e.equal("released with a command unseen", released, false)
	})
	e.equal("an end with a command unseen", h.park(checkpoint.Completed, n-1), checkpoint.Ack{Inbox: n})
	head := e.load(h.Key).Head
	if head.Nonce != h.nonce || head.Status != checkpoint.Completed {
		e.Fatalf("the head is %+v; want the status written and the lease kept", head)
	}
	released, err := e.store.Release(e.Context(), lease, n)
	e.ok(err)
	e.equal("released", released, true)
	head = e.load(h.Key).Head
	if head.Held() || !head.LeaseUntil.IsZero() || head.Holder != (checkpoint.Holder{}) || head.Status != checkpoint.Completed {
		e.Fatalf("the head of a released thread is %+v", head)
	}
}

func park(e *env) {
	h := e.start(e.key("thread"))
	deadline := time.Now().Add(long).Truncate(time.Millisecond)
	q := checkpoint.Question{
		ID: "q", Namespace: checkpoint.NamespaceOf("m", "child"), Run: "run-1", Task: "3.0", Deadline: deadline, Shown: []byte{0, 255}, NotBy: "author", Body: []byte("pay?"),
	}
	e.equal("a pause", h.park(checkpoint.Interrupted, 0, q), checkpoint.Ack{Released: true})
	l := e.load(h.Key)
	e.equal("status", l.Head.Status, checkpoint.Interrupted)
	if len(l.Questions) != 1 || l.Questions[0].Asked.IsZero() || !l.Questions[0].Deadline.Equal(deadline) {
		e.Fatalf("questions: %+v", l.Questions)
	}
	want := q
	want.Key, want.Asked, want.Deadline = h.Key, l.Questions[0].Asked, l.Questions[0].Deadline
	e.equal("question", fields(l.Questions[0]), fields(want))

	again := e.holder(h.Key, 2)
	_, err := e.try(checkpoint.Acquire{Key: h.Key, Epoch: 1, Nonce: again.nonce, Resume: true})
	e.ok(err)
	again.next[checkpoint.Chain{}] = 2
	end := again.write(again.record("", checkpoint.KindEntry, ""))
	end.Park = &checkpoint.Park{Status: checkpoint.Failed, Error: "it broke \x00 \xff '"}
	again.do(end)
	runs, err := e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: e.tenant})
	e.ok(err)
	if len(runs) != 1 || runs[0].Status != checkpoint.Failed || runs[0].Error != end.Park.Error || runs[0].Ended.IsZero() {
		e.Fatalf("runs: %+v", runs)
	}
}

// fields is a question without what prints in different ways: nil and empty bytes, zones.
func fields(q checkpoint.Question) []any {
	return []any{q.Key, q.ID, q.Branch, q.Namespace, q.Run, q.Task, q.State, q.Expired, string(q.Shown), q.NotBy, string(q.Body), string(q.Answer), q.AnsweredBy}
}

func resume(e *env) {
	h := e.start(e.key("thread"))
	h.park(checkpoint.Failed, 0)
	edit, err := e.try(checkpoint.Acquire{Key: h.Key, Epoch: 1})
	e.ok(err)
	e.equal("status in an edit", edit.Status, checkpoint.Failed)
	_, err = e.store.Release(e.Context(), checkpoint.Lease{Key: h.Key, Nonce: edit.Nonce}, 0)
	e.ok(err)
	head, err := e.try(checkpoint.Acquire{Key: h.Key, Epoch: 2, Resume: true})
	e.ok(err)
	e.equal("status of a resumed run", head.Status, checkpoint.Running)
	e.equal("run", head.Run, "run-1")
	runs, err := e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: e.tenant, Status: checkpoint.Running})
	e.ok(err)
	if len(runs) != 1 || !runs[0].Ended.IsZero() {
		e.Fatalf("running runs: %+v", runs)
	}
}

func anotherBranch(e *env) {
	h := e.startRun(e.key("thread"), &checkpoint.Run{ID: "one", Request: "request", Graph: "first", Meta: map[string]string{"k": "1"}})
	h.park(checkpoint.Failed, 0)
	before, err := e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: e.tenant})
	e.ok(err)

	fork := e.holder(h.Key, 2)
	one, zero := int32(1), int32(0)
	a := checkpoint.Acquire{
		Key: h.Key, Epoch: 1, Nonce: fork.nonce, Records: []checkpoint.Record{fork.recordIn(1, "", checkpoint.KindSeal, "seal")},
		Branch: &checkpoint.Branch{N: 1, Name: "fork"}, Activate: &one,
		Run: &checkpoint.Run{ID: "two", Status: checkpoint.Interrupted, Graph: "second", Meta: map[string]string{"k": "2"}},
	}
	for range 2 { // C4
		head, err := e.try(a)
		e.ok(err)
		e.equal("the fork", []any{head.Active, head.Run, head.Status, head.Graph, head.Meta["k"]}, []any{one, "two", checkpoint.Interrupted, "second", "2"})
	}
	release := func(nonce checkpoint.Nonce) {
		released, err := e.store.Release(e.Context(), checkpoint.Lease{Key: h.Key, Nonce: nonce}, 0)
		e.ok(err)
		e.equal("released", released, true)
	}
	release(fork.nonce)
	waiting, err := e.store.Threads(e.Context(), checkpoint.ThreadFilter{Tenant: e.tenant, Status: checkpoint.Interrupted})
	e.ok(err)
	e.equal("waiting threads", len(waiting), 1)

	e.refused(checkpoint.Acquire{Key: h.Key, Epoch: 2, Again: true, Run: &checkpoint.Run{ID: "unknown"}}, checkpoint.ErrStale)
	e.refused(checkpoint.Acquire{Key: h.Key, Epoch: 2, Again: true}, checkpoint.ErrBadKey)
	back := before[0]
	head, err := e.try(checkpoint.Acquire{Key: h.Key, Epoch: 2, Run: &back, Again: true, Activate: &zero})
	e.ok(err)
	e.equal("back", []any{head.Active, head.Run, head.Status, head.Graph, head.Meta["k"]}, []any{zero, "one", checkpoint.Failed, "first", "1"})
	release(head.Nonce)
	after, err := e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: e.tenant})
	e.ok(err)
	e.equal("runs", len(after), 2)
	e.equal("the row of the run", after[0], before[0])
	e.equal("the other run", []any{after[1].ID, after[1].Status, after[1].Ended.IsZero()}, []any{"two", checkpoint.Interrupted, true})

	done, err := e.try(checkpoint.Acquire{Key: h.Key, Epoch: 3, Run: &checkpoint.Run{ID: "zero", Status: checkpoint.Completed}})
	e.ok(err)
	e.equal("a run that has ended when it starts", done.Status, checkpoint.Completed)
	runs, err := e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: e.tenant, Status: checkpoint.Completed})
	e.ok(err)
	if len(runs) != 1 || runs[0].ID != "zero" || runs[0].Ended.IsZero() {
		e.Fatalf("completed runs: %+v", runs)
	}
}

func takeovers(e *env) {
	h := e.start(e.key("thread"))
	seen := h.nonce
	var head checkpoint.Head
	var err error
	for i := range 3 {
		head, err = e.try(checkpoint.Acquire{Key: h.Key, Mode: checkpoint.Steal, Seen: seen})
		e.ok(err)
		e.equal("takeovers", head.Takeovers, i+1)
		seen = head.Nonce
	}
	last := &holder{env: e, Key: h.Key, nonce: seen, epoch: head.Epoch, next: h.next}
	last.append(last.record("", checkpoint.KindResult, "a result is no entry"))
	e.equal("takeovers after a result", e.load(h.Key).Head.Takeovers, 3)
	last.append(last.record("", checkpoint.KindEntry, "progress"))
	e.equal("takeovers after an entry", e.load(h.Key).Head.Takeovers, 0)
	head, err = e.try(checkpoint.Acquire{Key: h.Key, Mode: checkpoint.Steal, Seen: seen})
	e.ok(err)
	_, err = e.store.Release(e.Context(), checkpoint.Lease{Key: h.Key, Nonce: head.Nonce}, 0)
	e.ok(err)
	head, err = e.try(checkpoint.Acquire{Key: h.Key, Epoch: head.Epoch})
	e.ok(err)
	e.equal("takeovers after a free acquisition", head.Takeovers, 0)
}
