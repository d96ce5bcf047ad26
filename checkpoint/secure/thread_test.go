package secure_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A scribe writes to one thread as the runtime does.
type scribe struct {
	testing.TB
	checkpoint.Store
	key   checkpoint.Key
	nonce checkpoint.Nonce
	epoch int64
	count int64
	next  map[checkpoint.Namespace]int64
	base  map[checkpoint.Namespace]int64
}

var (
	thread = checkpoint.Key{Tenant: "tenant", Thread: "thread"}
	child  = checkpoint.NamespaceOf("m", "child")
)

// start makes a thread with a run and its input.
func start(t testing.TB, s checkpoint.Store, key checkpoint.Key) *scribe {
	t.Helper()
	w := &scribe{TB: t, Store: s, key: key, next: map[checkpoint.Namespace]int64{}, base: map[checkpoint.Namespace]int64{}}
	w.acquire("run-1", w.record("", checkpoint.KindInput, "secret input"))
	return w
}

// acquire begins a run.
func (w *scribe) acquire(run string, records ...checkpoint.Record) {
	w.Helper()
	a := &checkpoint.Acquire{Key: w.key, Epoch: w.epoch, Nonce: checkpoint.NewNonce(), TTL: time.Hour, Run: &checkpoint.Run{ID: run, Request: "request of " + run}}
	w.nonce, w.epoch, w.count = a.Nonce, w.epoch+1, 0
	for i := range records {
		records[i].By, records[i].Ord = a.Nonce.Writer(), w.epoch<<32|int64(i)
		w.count++
	}
	a.Records = records
	if _, err := w.Acquire(w.Context(), a); err != nil {
		w.Fatal(err)
	}
}

// record is the next one of a chain.
func (w *scribe) record(ns checkpoint.Namespace, kind checkpoint.Kind, body string) checkpoint.Record {
	if kind == checkpoint.KindSnapshot {
		w.base[ns] = w.next[ns]
	}
	r := checkpoint.Record{
		Namespace: ns, Pos: w.next[ns], Ord: w.epoch<<32 | w.count, By: w.nonce.Writer(), Base: w.base[ns], Step: w.next[ns], Kind: kind, Body: []byte(body),
	}
	w.next[ns]++
	w.count++
	return r
}

func (w *scribe) append(records ...checkpoint.Record) {
	w.Helper()
	w.do(&checkpoint.Append{Key: w.key, Nonce: w.nonce, Records: records})
}

func (w *scribe) do(a *checkpoint.Append) checkpoint.Ack {
	w.Helper()
	ack, err := w.Append(w.Context(), a)
	if err != nil {
		w.Fatal(err)
	}
	return ack
}

// park ends or pauses the run and lets go.
func (w *scribe) park(p checkpoint.Park) {
	w.Helper()
	l, err := w.Load(w.Context(), w.key, 0, "")
	if err != nil {
		w.Fatal(err)
	}
	a := &checkpoint.Append{Key: w.key, Nonce: w.nonce, Records: []checkpoint.Record{w.record("", checkpoint.KindPause, "secret pause")}, Seen: l.Head.Inbox, Park: &p}
	if !w.do(a).Released {
		w.Fatal("the thread was not released")
	}
}

func (w *scribe) answer(replies ...checkpoint.Reply) {
	w.Helper()
	if _, err := w.Answer(w.Context(), w.key, replies); err != nil {
		w.Fatal(err)
	}
}

func (w *scribe) post(c checkpoint.Command) {
	w.Helper()
	c.Key = w.key
	if _, err := w.Post(w.Context(), c); err != nil {
		w.Fatal(err)
	}
}

// fill writes a thread that has every kind of row: two chains with a snapshot, open, answered and closed questions, commands,
// a run that failed.
func fill(t testing.TB, s checkpoint.Store, key checkpoint.Key) *scribe {
	t.Helper()
	w := start(t, s, key)
	w.append(w.record("", checkpoint.KindResult, "secret result"))
	w.append(w.record(child, checkpoint.KindInput, "secret child input"), w.record("", checkpoint.KindEntry, "secret entry 1"))
	w.append(w.record(child, checkpoint.KindEntry, "secret child entry"))
	w.append(w.record("", checkpoint.KindEntry, "secret entry 2"), w.record("", checkpoint.KindSnapshot, "secret snapshot"))
	w.append(w.record("", checkpoint.KindEntry, "secret entry 3"))
	w.post(checkpoint.Command{Kind: checkpoint.CommandCancel, Request: "r1", Body: []byte("secret command 1")})
	w.post(checkpoint.Command{Kind: checkpoint.CommandInput, Body: []byte("secret command 2")})
	w.park(checkpoint.Park{Status: checkpoint.Failed, Error: "secret error", Questions: []checkpoint.Question{
		{ID: "open", Namespace: child, Run: "run-1", Task: "1.0", Shown: []byte("hash 1"), NotBy: "author", Deadline: time.Now().Add(time.Hour), Body: []byte("secret question 1")},
		{ID: "answered", Run: "run-1", Task: "1.1", Shown: []byte("hash 2"), Body: []byte("secret question 2")},
		{ID: "also", Run: "run-1", Task: "1.2", Body: []byte("secret question 3")},
		{ID: "closed", Run: "run-1", Task: "1.3", Body: []byte("secret question 4")},
	}})
	w.answer(checkpoint.Reply{Question: "answered", Shown: []byte("hash 2"), By: "ann", Value: []byte("secret yes")})
	w.answer(checkpoint.Reply{Question: "also", By: "bob", Value: []byte("secret no")}, checkpoint.Reply{Question: "closed", By: "ann", Value: []byte("secret maybe")})
	w.acquire("run-2", w.record("", checkpoint.KindInput, "secret second input"))
	w.do(&checkpoint.Append{Key: key, Nonce: w.nonce, Records: []checkpoint.Record{w.record("", checkpoint.KindEntry, "secret entry 4")}, Closed: []string{"closed"}})
	return w
}

// content is all that a thread holds and that a wrapper protects: no times, no states, nothing of the head.
func content(t testing.TB, s checkpoint.Store, key checkpoint.Key) (string, error) {
	var b strings.Builder
	l, err := s.Load(t.Context(), key, checkpoint.Active, "")
	if err != nil {
		return "", err
	}
	for _, r := range l.Records {
		fmt.Fprintf(&b, "loaded %d %q\n", r.Pos, r.Body)
	}
	for branch := range int32(2) {
		chains, err := s.Chains(t.Context(), key, branch)
		if err != nil {
			return "", err
		}
		for _, c := range chains {
			rs, err := s.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key, Branch: branch, Namespace: c.Namespace}, To: -1})
			if err != nil {
				return "", err
			}
			for _, r := range rs {
				fmt.Fprintf(&b, "record %d %q %d %d %d %d %d %c %q\n", r.Branch, r.Namespace, r.Pos, r.Ord, r.By, r.Base, r.Step, r.Kind, r.Body)
			}
		}
	}
	for _, state := range []checkpoint.QuestionState{checkpoint.Open, checkpoint.Answered, checkpoint.Closed} {
		qs, err := s.Questions(t.Context(), checkpoint.QuestionFilter{Tenant: key.Tenant, Thread: key.Thread, State: state})
		if err != nil {
			return "", err
		}
		lines := ""
		for _, q := range qs {
			lines += fmt.Sprintf("question %s %d %q %s %s %q %s %d %q answer %q by %s\n",
				q.ID, q.Branch, q.Namespace, q.Run, q.Task, q.Shown, q.NotBy, q.Deadline.UnixMilli(), q.Body, q.Answer, q.AnsweredBy)
		}
		b.WriteString(lines)
	}
	inbox, err := s.Inbox(t.Context(), key)
	if err != nil {
		return "", err
	}
	for _, c := range inbox {
		fmt.Fprintf(&b, "command %c %q %q\n", c.Kind, c.Request, c.Body)
	}
	runs, err := s.Runs(t.Context(), checkpoint.RunFilter{Tenant: key.Tenant, Thread: key.Thread})
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		fmt.Fprintf(&b, "run error %q\n", r.Error)
	}
	return b.String(), nil
}
