package golden_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

var input = json.RawMessage(`{"steps":["in"],"total":10}`)

// A scene is a way to leave a thread.
type scene struct {
	name  string
	leave func(t testing.TB, s checkpoint.Store, th graph.Thread)
	alone bool // one call of Run: whatever of it a dying process has left, the end is the same
}

// scenes are never changed once their format is released; a new one gets a new name.
var scenes = []scene{
	{"question open", func(t testing.TB, s checkpoint.Store, th graph.Thread) { toQuestion(t, s, th, &world{}) }, true},
	{"question partly answered", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		v, qs := toQuestion(t, s, th, &world{})
		_, err := v.Resume(t.Context(), th, reply(qs[1]))
		want(t, err, graph.ErrInterrupted)
	}, true},
	{"question answered and not resumed", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		_, qs := toQuestion(t, s, th, &world{})
		var all []checkpoint.Reply
		for _, q := range qs {
			all = append(all, checkpoint.Reply{Question: q.ID, Value: answerTo(q), By: "bob"})
		}
		_, err := s.Answer(t.Context(), keyOf(th), all)
		want(t, err, nil)
	}, true},
	{"question expired", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		toQuestion(t, s, th, &world{within: time.Millisecond})
		for {
			qs, err := s.Questions(t.Context(), checkpoint.QuestionFilter{Thread: th.ID, Expired: true})
			want(t, err, nil)
			if len(qs) == 1 {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}, false},
	{"breakpoint", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		v := newer1(t, s, &world{}).With(graph.RunOptions{BreakBefore: []string{"flaky"}})
		_, err := v.Run(t.Context(), th, input)
		want(t, err, graph.ErrInterrupted)
	}, true},
	{"failed", func(t testing.TB, s checkpoint.Store, th graph.Thread) { toError(t, s, th, "split") }, true},
	{"failed behind the answers", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		v, qs := toQuestion(t, s, th, &world{bad: "close"})
		_, err := v.Resume(t.Context(), th, replies(qs)...)
		want(t, err, errBad)
	}, true},
	{"a send failed", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		toQuestion(t, s, th, &world{bad: "item 2"})
	}, true},
	{"cancelled", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		v, _ := toQuestion(t, s, th, &world{})
		want(t, v.Cancel(t.Context(), th), nil)
	}, false},
	{"drained", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		w := &world{}
		v := newer1(t, s, w)
		w.drain = func(ctx context.Context) error { return v.Drain(ctx, th, "deploy") }
		_, err := v.Run(t.Context(), th, input)
		want(t, err, graph.ErrDrained)
	}, false},
	{"running, of an app that has closed", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		w := &world{}
		app, closed := app1(t, s, w), make(chan error)
		w.drain = func(context.Context) error {
			go func() { closed <- app.Close(context.Background()) }()
			return nil
		}
		_, err := app.View().Run(t.Context(), th, input)
		want(t, err, graph.ErrDrained)
		want(t, <-closed, nil)
	}, false},
	{"completed", func(t testing.TB, s checkpoint.Store, th graph.Thread) { toEnd(t, s, th) }, false},
	{"input queued", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		v, _ := toQuestion(t, s, th, &world{})
		_, err := v.With(graph.RunOptions{OnBusy: graph.Enqueue, By: "ann"}).Run(t.Context(), th, json.RawMessage(`{"steps":["queued"]}`))
		want(t, err, graph.ErrQueued)
	}, false},
	{"forked", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		toEnd(t, s, th)
		_, err := newer1(t, s, &world{}).Fork(t.Context(), th, 0, graph.ForkOptions{Name: "again", Effects: graph.Reuse})
		want(t, err, nil)
	}, false},
	{"edited", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		v, _ := toQuestion(t, s, th, &world{})
		_, err := v.Edit(t.Context(), th, -1, graph.End, json.RawMessage(`{"steps":["by hand"],"now":"now"}`))
		want(t, err, nil)
	}, false},
	{"retained", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		toEnd(t, s, th)
		for i := range 12 { // until a snapshot lets something go
			v := newer1(t, s, &world{bad: "split"})
			_, err := v.Run(t.Context(), th, fmt.Appendf(nil, `{"said":{"big":"%0*d"}}`, 2000, i))
			want(t, err, errBad)
		}
		removed, err := newer1(t, s, &world{}).Retain(t.Context(), th, graph.Retention{KeepLast: 1})
		if want(t, err, nil); removed.Records == 0 {
			t.Fatal("nothing was removed")
		}
	}, false},
	{"copied", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		from := graph.ID(th.ID + ", the source")
		v, _ := toQuestion(t, s, from, &world{})
		want(t, v.Copy(t.Context(), from, th), nil)
	}, false},
	{"of version 0", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		_, err := older0(t, s, &world{}).Run(t.Context(), th, input)
		want(t, err, graph.ErrInterrupted)
	}, true},
	{"of version 0, a send failed", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		_, err := older0(t, s, &world{bad: "item 2"}).Run(t.Context(), th, input)
		want(t, err, errBad)
	}, true},
	{"migrated", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		_, err := older0(t, s, &world{bad: "item 2"}).Run(t.Context(), th, input)
		want(t, err, errBad)
		_, err = newer1(t, s, &world{bad: "item 2"}).Resume(t.Context(), th)
		want(t, err, errBad)
	}, true},
	{"crashed", func(t testing.TB, s checkpoint.Store, th graph.Thread) {
		toError(t, s, th, "split")
		l, err := s.Load(t.Context(), keyOf(th), checkpoint.Active, "")
		want(t, err, nil)
		_, err = s.Acquire(t.Context(), &checkpoint.Acquire{
			Key: keyOf(th), Mode: checkpoint.Free, Epoch: l.Head.Epoch, Nonce: checkpoint.NewNonce(), TTL: time.Second, Resume: true,
			Holder: checkpoint.Holder{Host: "another machine", Boot: "its boot", PID: 7, Start: "its start"},
		})
		want(t, err, nil)
	}, false},
}

func keyOf(th graph.Thread) checkpoint.Key { return checkpoint.Key{Tenant: th.Tenant, Thread: th.ID} }

func want(t testing.TB, err, target error) {
	t.Helper()
	if target == nil && err != nil || target != nil && !errors.Is(err, target) {
		t.Fatalf("got %v, want %v", err, target)
	}
}

func toQuestion(t testing.TB, s checkpoint.Store, th graph.Thread, w *world) (*graph.View, []graph.Question) {
	t.Helper()
	v := newer1(t, s, w)
	_, err := v.Run(t.Context(), th, input)
	in, ok := errors.AsType[*graph.Interrupted](err)
	if !ok || len(in.Questions) != 3 {
		t.Fatalf("got %v, want three questions", err)
	}
	return v, in.Questions
}

func toError(t testing.TB, s checkpoint.Store, th graph.Thread, bad string) {
	t.Helper()
	_, err := newer1(t, s, &world{bad: bad}).Run(t.Context(), th, input)
	want(t, err, errBad)
}

func toEnd(t testing.TB, s checkpoint.Store, th graph.Thread) {
	t.Helper()
	v, qs := toQuestion(t, s, th, &world{})
	_, err := v.Resume(t.Context(), th, replies(qs)...)
	want(t, err, nil)
}

func answerTo(q graph.Question) json.RawMessage {
	return map[string]json.RawMessage{"ok": json.RawMessage("true"), "who": json.RawMessage(`"ann"`), "sure": json.RawMessage("true")}[q.Name]
}

func replies(qs []graph.Question) (cmds []graph.Command) {
	for _, q := range qs {
		cmds = append(cmds, reply(q))
	}
	return cmds
}

func reply(q graph.Question) graph.Command { return graph.AnswerJSON(q.ID, answerTo(q)) }

// An outcome is what becomes of a thread: its state, and what ran, entry by entry.
type outcome struct {
	State   json.RawMessage `json:"state"`
	Entries []string        `json:"entries"`
}

// finish continues a thread with the present program until nothing of it is left, answering what is asked, and then runs another
// input if there are to be so many runs.
func finish(t testing.TB, s checkpoint.Store, th graph.Thread, more int) outcome {
	t.Helper()
	v := newer1(t, s, &world{})
	var cmds []graph.Command
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		_, err := v.Resume(t.Context(), th, cmds...)
		cmds = nil
		if errors.Is(err, graph.ErrNoThread) || errors.Is(err, graph.ErrNothingToDo) && more > 0 {
			more--
			_, err = v.Run(t.Context(), th, input)
		}
		in, asked := errors.AsType[*graph.Interrupted](err)
		switch {
		case asked:
			for _, q := range in.Questions {
				if !q.Expired {
					cmds = append(cmds, reply(q))
				}
			}
		case errors.Is(err, graph.ErrBusy): // somebody runs what is queued, or the lease of the dead has not run out
			time.Sleep(time.Millisecond)
		case errors.Is(err, graph.ErrNothingToDo):
			return outcomeOf(t, v, th)
		case err != nil:
			t.Fatal(err)
		}
	}
	t.Fatal("it does not come to an end")
	return outcome{}
}

func outcomeOf(t testing.TB, v *graph.View, th graph.Thread) (o outcome) {
	t.Helper()
	st, err := v.State(t.Context(), th)
	want(t, err, nil)
	if o.State = st.JSON; len(st.Unknown) > 0 {
		t.Errorf("unknown: %v", st.Unknown)
	}
	for e, err := range v.History(t.Context(), th) {
		want(t, err, nil)
		o.Entries = append(o.Entries, fmt.Sprintf("%c %v", e.Kind, e.Tasks))
	}
	slices.Reverse(o.Entries)
	return o
}
