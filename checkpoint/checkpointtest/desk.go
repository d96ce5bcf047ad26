package checkpointtest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var deskCases = []testCase{
	{"answer", "E33", "an answer is recorded once, with who and when, and the thread learns that it has to look", answer},
	{"answer-refused", "E33", "a click that comes late, twice, from the wrong person or to another text must not pay a refund", answerRefused},
	{"answer-all-or-nothing", "C2", "a form with two fields is one decision", answerAllOrNothing},
	{"ask-again", "E31", "a question that is asked again is open again and keeps no old answer", askAgain},
	{"answers-at-once", "E33", "of two people who click at once exactly one decides, and the other is told who", answersAtOnce},
	{"answers-against-park", "C2", "an answer that comes while the holder lets go must not be lost: its number was not seen", answersAgainstPark},
	{"post", "E26", "commands keep their order, and a repeated one is there once", post},
}

// ask parks a thread on questions and releases it.
func (e *env) ask(key checkpoint.Key, questions ...checkpoint.Question) *holder {
	e.Helper()
	h := e.start(key)
	if !h.park(checkpoint.Interrupted, 0, questions...).Released {
		e.Fatal("the pause did not release the thread")
	}
	return h
}

func answer(e *env) {
	h := e.ask(e.key("thread"), checkpoint.Question{ID: "q1", Shown: []byte("hash")}, checkpoint.Question{ID: "q2"})
	n, err := e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{
		{Question: "q1", Shown: []byte("hash"), Value: []byte("yes"), By: "ann"}, {Question: "q2", Value: nil, By: "ann"},
	})
	e.ok(err)
	e.equal("the inbox number", n, 1)
	l := e.load(h.Key)
	e.equal("the inbox number of the head", l.Head.Inbox, 1)
	if len(l.Questions) != 2 {
		e.Fatalf("questions: %+v; an answered one is needed until its task has used it", l.Questions)
	}
	q := l.Questions[0]
	if q.State != checkpoint.Answered || string(q.Answer) != "yes" || q.AnsweredBy != "ann" || q.AnsweredAt.IsZero() {
		e.Fatalf("the answered question is %+v", q)
	}
	e.refused(checkpoint.Acquire{Key: h.Key, Epoch: 0}, checkpoint.ErrHeld)
	_, err = e.try(checkpoint.Acquire{Key: h.Key, Epoch: 1}) // an answer is no acquisition
	e.ok(err)
}

func answerRefused(e *env) {
	past, future := time.Unix(1_000_000_000, 0), time.Now().Add(long)
	h := e.ask(e.key("thread"),
		checkpoint.Question{ID: "open", Deadline: future},
		checkpoint.Question{ID: "expired", Deadline: past},
		checkpoint.Question{ID: "changed", Shown: []byte("new text")},
		checkpoint.Question{ID: "four eyes", NotBy: "author"},
		checkpoint.Question{ID: "answered"},
		checkpoint.Question{ID: "closed"},
	)
	_, err := e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{{Question: "answered", By: "ann", Value: []byte("42")}})
	e.ok(err)
	next := e.holder(h.Key, 2)
	_, err = e.try(checkpoint.Acquire{Key: h.Key, Epoch: 1, Nonce: next.nonce})
	e.ok(err)
	next.next[checkpoint.Chain{}] = 2
	a := next.write(next.record("", checkpoint.KindEntry, ""))
	a.Closed = []string{"closed"}
	next.do(a)

	for _, c := range []struct {
		reply checkpoint.Reply
		want  error
	}{
		{checkpoint.Reply{Question: "expired", By: "bob"}, checkpoint.ErrExpired},
		{checkpoint.Reply{Question: "changed", By: "bob", Shown: []byte("old text")}, checkpoint.ErrChanged},
		{checkpoint.Reply{Question: "four eyes", By: "author"}, checkpoint.ErrNotAllowed},
		{checkpoint.Reply{Question: "answered", By: "bob", Value: []byte("43")}, checkpoint.ErrNotPending},
		{checkpoint.Reply{Question: "closed", By: "bob"}, checkpoint.ErrNotPending},
		{checkpoint.Reply{Question: "unknown", By: "bob"}, checkpoint.ErrNotPending},
	} {
		e.unchanged(h.Key, func() {
			_, err := e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{c.reply})
			e.is(err, c.want)
			if c.want != checkpoint.ErrNotPending {
				return
			}
			lost, ok := errors.AsType[*checkpoint.NotPendingError](err)
			if !ok || lost.Question != c.reply.Question {
				e.Fatalf("error %v; want a NotPendingError that names %s", err, c.reply.Question)
			}
			if c.reply.Question == "answered" && (lost.By != "ann" || string(lost.Answer) != "42" || lost.At.IsZero()) {
				e.Fatalf("the loser is told %+v; want who won and with what", lost)
			}
			if c.reply.Question == "unknown" && lost.State != checkpoint.Closed {
				e.Fatalf("an unknown question is %+v", lost)
			}
		})
	}
	e.unchanged(h.Key, func() {
		_, err := e.store.Answer(e.Context(), h.Key, nil)
		e.is(err, checkpoint.ErrBadKey)
	})
	_, err = e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{
		{Question: "open", By: "bob"}, {Question: "changed", By: "bob"}, {Question: "four eyes", By: "bob"}, // no hash is no claim
	})
	e.ok(err)
}

func answerAllOrNothing(e *env) {
	h := e.ask(e.key("thread"), checkpoint.Question{ID: "q1"}, checkpoint.Question{ID: "q2", NotBy: "ann"})
	for _, replies := range [][]checkpoint.Reply{
		{{Question: "q1", By: "ann"}, {Question: "q2", By: "ann"}},
		{{Question: "q1", By: "bob"}, {Question: "unknown", By: "bob"}},
		{{Question: "q1", By: "bob"}, {Question: "q1", By: "bob"}},
	} {
		e.unchanged(h.Key, func() {
			if _, err := e.store.Answer(e.Context(), h.Key, replies); err == nil {
				e.Fatalf("replies %+v were taken", replies)
			}
		})
	}
}

func askAgain(e *env) {
	h := e.ask(e.key("thread"), checkpoint.Question{ID: "q", Body: []byte("first")})
	_, err := e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{{Question: "q", By: "ann", Value: []byte("no")}})
	e.ok(err)
	next := e.holder(h.Key, 2)
	_, err = e.try(checkpoint.Acquire{Key: h.Key, Epoch: 1, Nonce: next.nonce})
	e.ok(err)
	next.next[checkpoint.Chain{}] = 2
	next.park(checkpoint.Interrupted, 1, checkpoint.Question{ID: "q", Body: []byte("second")})
	l := e.load(h.Key)
	if len(l.Questions) != 1 || l.Questions[0].State != checkpoint.Open || string(l.Questions[0].Body) != "second" || len(l.Questions[0].Answer) != 0 {
		e.Fatalf("questions: %+v", l.Questions)
	}
	_, err = e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{{Question: "q", By: "bob"}})
	e.ok(err)
}

func answersAtOnce(e *env) {
	const people, questions = 16, 5
	for q := range questions {
		h := e.ask(e.key(fmt.Sprint("thread-", q)), checkpoint.Question{ID: "q"})
		errs := make([]error, people)
		var wg sync.WaitGroup
		for i := range people {
			wg.Go(func() {
				name := fmt.Sprint("person-", i)
				_, errs[i] = e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{{Question: "q", By: name, Value: []byte(name)}})
			})
		}
		wg.Wait()
		winner := e.load(h.Key).Questions[0].AnsweredBy
		for i, err := range errs {
			lost, ok := errors.AsType[*checkpoint.NotPendingError](err)
			switch {
			case fmt.Sprint("person-", i) == winner:
				e.ok(err)
			case !ok || lost.By != winner || string(lost.Answer) != winner:
				e.Fatalf("a loser got %v; want that %s won", err, winner)
			}
		}
		e.equal("the inbox number", e.load(h.Key).Head.Inbox, 1)
	}
}

// answersAgainstPark has a holder that lets go again and again, and an answerer who comes at any moment.
func answersAgainstPark(e *env) {
	for i := range 20 {
		h := e.start(e.key(fmt.Sprint("thread-", i)))
		h.park(checkpoint.Interrupted, -1, checkpoint.Question{ID: "q"})
		var answered int64
		var ack checkpoint.Ack
		var errs [2]error
		var wg sync.WaitGroup
		wg.Go(func() {
			answered, errs[0] = e.store.Answer(e.Context(), h.Key, []checkpoint.Reply{{Question: "q", By: "ann"}})
		})
		a := h.write(h.record("", checkpoint.KindPause, ""))
		a.Park = &checkpoint.Park{Status: checkpoint.Interrupted}
		wg.Go(func() { ack, errs[1] = e.store.Append(e.Context(), a) })
		wg.Wait()
		e.ok(errors.Join(errs[:]...))
		head := e.load(h.Key).Head
		switch {
		case ack.Released == head.Held() || head.Inbox != answered:
			e.Fatalf("acknowledged %+v, but the head is %+v", ack, head)
		case !ack.Released && ack.Inbox != answered:
			e.Fatalf("the lease was kept, but the holder is not told of number %d: %+v", answered, ack)
		}
	}
}

func post(e *env) {
	h := e.start(e.key("thread"))
	var last int64
	var want []string
	for i, req := range []string{"a", "", "b", ""} {
		n, err := e.store.Post(e.Context(), checkpoint.Command{Key: h.Key, Kind: checkpoint.CommandInput, Request: req, Body: []byte{byte(i)}})
		e.ok(err)
		if n <= last {
			e.Fatalf("command %d has number %d after %d", i, n, last)
		}
		last = n
		want = append(want, fmt.Sprint(req, i))
	}
	e.unchanged(h.Key, func() {
		n, err := e.store.Post(e.Context(), checkpoint.Command{Key: h.Key, Kind: checkpoint.CommandInput, Request: "a", Body: []byte("again")})
		e.ok(err)
		e.equal("the number of the repeated command", n, 1)
	})
	inbox, err := e.store.Inbox(e.Context(), h.Key)
	e.ok(err)
	var got []string
	for _, c := range inbox {
		got = append(got, fmt.Sprint(c.Request, c.Body[0]))
		if c.Key != h.Key || c.Kind != checkpoint.CommandInput || c.At.IsZero() {
			e.Fatalf("command %+v", c)
		}
	}
	e.equal("commands", got, want)
	e.equal("commands as loaded", len(e.load(h.Key).Inbox), 4)
	heads, err := e.store.Threads(e.Context(), checkpoint.ThreadFilter{Tenant: e.tenant, HasInbox: true})
	e.ok(err)
	e.equal("threads with commands", len(heads), 1)

	a := h.write(h.record("", checkpoint.KindEntry, ""))
	a.Taken = last
	e.equal("the acknowledgement", h.do(a).Inbox, last)
	n, err := e.store.Post(e.Context(), checkpoint.Command{Key: h.Key, Kind: checkpoint.CommandCancel, Request: "a"})
	e.ok(err)
	e.equal("numbers are never given twice", n, last+1)
}
