package nodes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphtest"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

var ask = options{Policy: nodes.Ask}

// Three calls wait and are answered one at a time, each time in another process, in every order: each effect happens once,
// one result each, and the model is not asked again. A plain answer is refused while several wait. // report 26 // report
// 27 // report 44 // report 46
func TestApprovalsInEveryOrder(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		for i, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			for _, first := range []bool{false, true} {
				th := graph.ID(fmt.Sprint(i, first))
				l, sess := new(ledger), newSessions(t)
				p := wants(do("a", "x"), do("b", "y"), do("c", "z"))
				p.first = first
				app := func() *graph.App[desk] {
					return appOf(t, kitOf(t, sess, doing("do", l, ask)), p, graph.Options{Store: s})
				}
				_, err := app().Run(t.Context(), th, hello(t))
				qs := waits(t, err, 3)
				if _, err := app().Resume(t.Context(), th, graph.AnswerOnly(nodes.Approve())); !errors.Is(err, graph.ErrAmbiguous) {
					t.Fatalf("a plain answer: %v", err)
				}
				var out *desk
				for n, q := range order {
					out, err = app().Resume(t.Context(), th, graph.Answer(qs[q], nodes.Approve()))
					if n < 2 {
						waits(t, err, 2-n)
					}
				}
				if err != nil || !slices.Equal(l.all(), []string{"x", "y", "z"}) || p.asked.Load() != 2 {
					t.Fatalf("%v: %v was done, the model was asked %d times", err, l.all(), p.asked.Load())
				}
				if rs := resultsOf(t, &out.Turn); len(rs) != 3 || rs["b"].Text() != "did y" {
					t.Fatalf("results %v", rs)
				}
				if err := message.Valid(out.Messages.Slice()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// Each decision does what it says, about a call of the agent and about one of its sub-agent: a rejected tool is never
// invoked, whatever wraps it, and each call has one result. // report 57 // report 58 // report 59 // report 61
func TestDecisions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		d      nodes.Decision
		did    []string
		status message.Status
		text   string
	}{
		{"approve", nodes.Approve(), []string{"x"}, message.StatusOK, "did x"},
		{"edit", nodes.Edit(json.RawMessage(`{"name":"y"}`)), []string{"y"}, message.StatusOK,
			"It ran with other arguments, as a person decided: {\"name\":\"y\"}\ndid y"},
		{"reject", nodes.Reject("too dear"), nil, message.StatusDenied, "Rejected: too dear"},
		{"respond", nodes.Respond("It is done already."), nil, message.StatusOK, "It is done already."},
	} {
		for _, deep := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, deep), func(t *testing.T) {
				t.Parallel()
				l, sess, store, th := new(ledger), newSessions(t), new(checkpoint.Memory), graph.ID("t")
				tool := nodes.WrapTool(doing("do", l, ask), func(ctx context.Context, c message.Call, next nextCall) (message.Result, error) {
					r, err := next(ctx, c)
					if err != nil {
						return next(ctx, c)
					}
					return r, nil
				})
				p := wants(do("a", "x"), call("b", "look", `{"name":"l"}`))
				looks := new(ledger)
				build := func() *graph.App[desk] {
					app := appOf(t, kitOf(t, sess, tool, doing("look", looks, options{})), p, graph.Options{Store: store})
					if deep {
						up := planned(message.Assistant("", call("s", "helper", `{"task":"do it"}`)), message.Assistant("All done."))
						helper := nodes.SubAgent("helper", "Helps.", app, nodes.SubAgentOptions{})
						app = appOf(t, kitOf(t, sess, helper), up, graph.Options{Store: store})
					}
					return app
				}
				_, err := build().Run(t.Context(), th, hello(t))
				q := waits(t, err, 1)[0]
				if _, err = build().Resume(t.Context(), th, graph.Answer(q, c.d)); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(l.all(), c.did) || len(looks.all()) != 1 || p.asked.Load() != 2 {
					t.Fatalf("did %v, looked %v, the model was asked %d times", l.all(), looks.all(), p.asked.Load())
				}
				where := "t"
				if deep {
					where = "t/s"
				}
				got := storedResults(t, sess, where)
				if r := got["a"]; r.Status != c.status || r.Text() != c.text || len(got) != 2 {
					t.Fatalf("%+v", got)
				}
			})
		}
	}
}

type nextCall = func(context.Context, message.Call) (message.Result, error)

// storedResults are the results of a conversation in the session store.
func storedResults(t *testing.T, s *session.Store, conversation string) map[string]message.Result {
	t.Helper()
	page, err := s.Messages(t.Context(), scopeOf(t, "ann"), conversation, session.Page{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]message.Result{}
	for _, m := range page {
		for _, r := range m.Results() {
			if _, twice := out[r.CallID]; twice {
				t.Fatalf("call %s has two results", r.CallID)
			}
			out[r.CallID] = r
		}
	}
	return out
}

// What policy and pins forbid nobody is asked about, and no edit leads there; the pins of the agent that it works for count
// too.
func TestForbiddenIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	deletes := pin.Detect(message.User("Never delete anything in production."))
	if len(deletes) != 1 {
		t.Fatalf("%+v", deletes)
	}
	p := deletes[0].Pin("p1", "m1", time.Time{})
	del := options{Policy: nodes.Ask, Actions: []string{"delete"}}
	for name, c := range map[string]struct {
		o    options
		args string
		pins func(*nodes.Turn)
	}{
		"policy": {options{Policy: nodes.Deny}, `{"name":"x"}`, func(*nodes.Turn) {}},
		"pin": {del, `{"name":"production"}`, func(t *nodes.Turn) {
			t.Session.Set(session.State{Conversation: session.Conversation{Scope: t.Scope.Get()}, Pins: []pin.Pin{p}})
		}},
		"inherited": {del, `{"name":"production"}`, func(t *nodes.Turn) { t.Inherited.Set([]pin.Pin{p}) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := new(ledger)
			k := kitOf(t, newSessions(t), doing("do", l, c.o))
			says := wants(call("a", "do", c.args))
			app := appOf(t, k, says, inMemory())
			out, err := app.Run(t.Context(), graph.ID("t"), func(s *desk) { hello(t)(s); c.pins(&s.Turn) })
			if err != nil {
				t.Fatal(err)
			}
			if r := resultsOf(t, &out.Turn)["a"]; r.Status != message.StatusDenied || r.Text() == "" || len(l.all()) != 0 {
				t.Fatalf("%+v, did %v", r, l.all())
			}
		})
	}
	t.Run("edit", func(t *testing.T) {
		t.Parallel()
		l, th := new(ledger), graph.ID("t")
		app := appOf(t, kitOf(t, newSessions(t), doing("do", l, del)),
			wants(do("a", "testing")), inMemory())
		_, err := app.Run(t.Context(), th, func(s *desk) { hello(t)(s); s.Inherited.Set([]pin.Pin{p}) })
		q := waits(t, err, 1)[0]
		for _, d := range []nodes.Decision{
			nodes.Edit(json.RawMessage(`{"name":"production"}`)), nodes.Edit(json.RawMessage(`{"nam":"x"}`)), nodes.Edit(nil), nodes.Respond(" "),
		} {
			_, err := app.Resume(t.Context(), th, graph.AnswerID(q.ID, d))
			if again := waits(t, err, 1)[0]; again.Refused == "" || len(l.all()) != 0 {
				t.Fatalf("%+v was taken, did %v", d, l.all())
			}
		}
	})
}

// A call that was asked about stays one: a predicate that would not ask any more does not let it run after it was rejected.
func TestRejectedThoughNobodyWouldAskAnyMore(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} {
		var asks atomic.Bool
		asks.Store(true)
		l, th := new(ledger), graph.ID("t")
		o := options{AskIf: func(_ context.Context, a item) (string, bool) { return "It is " + a.Name + ".", asks.Load() }}
		p := wants(do("a", "x"))
		p.first = first
		app := appOf(t, kitOf(t, newSessions(t), doing("do", l, o)), p, inMemory())
		_, err := app.Run(t.Context(), th, hello(t))
		q := waits(t, err, 1)[0]
		prompt, err := graph.PromptOf[nodes.Approval](q)
		if err != nil || prompt.Reason != "It is x." || prompt.Call.ID != "a" || string(prompt.Args) != `{"name":"x"}` || prompt.About != "Does it." {
			t.Fatalf("%+v, %v", prompt, err)
		}
		asks.Store(false)
		out, err := app.Resume(t.Context(), th, graph.Answer(q, nodes.Reject("no")))
		if err != nil {
			t.Fatal(err)
		}
		if r := resultsOf(t, &out.Turn)["a"]; r.Status != message.StatusDenied || len(l.all()) != 0 {
			t.Fatalf("%+v, did %v", r, l.all())
		}
	}
}

// One of two is rejected: both have a result. Where approval comes first nothing has run before the last decision.
func TestApproveFirst(t *testing.T) {
	t.Parallel()
	l, th := new(ledger), graph.ID("t")
	p := wants(do("a", "x"), do("b", "y"), call("c", "free", `{"name":"z"}`))
	p.first = true
	app := appOf(t, kitOf(t, newSessions(t), doing("do", l, ask), doing("free", l, options{})), p, inMemory())
	_, err := app.Run(t.Context(), th, hello(t))
	qs := waits(t, err, 2)
	_, err = app.Resume(t.Context(), th, graph.Answer(qs[0], nodes.Approve()))
	if waits(t, err, 1); len(l.all()) != 0 {
		t.Fatalf("%v was done before all was decided", l.all())
	}
	out, err := app.Resume(t.Context(), th, graph.Answer(qs[1], nodes.Reject("no")))
	if err != nil {
		t.Fatal(err)
	}
	rs := resultsOf(t, &out.Turn)
	if len(rs) != 3 || rs["a"].Status != message.StatusOK || rs["b"].Status != message.StatusDenied || !slices.Equal(l.all(), []string{"x", "z"}) {
		t.Fatalf("%+v, did %v", rs, l.all())
	}
}

// The user may not decide where four eyes are required, and what nobody decides in time is rejected.
func TestWhoDecidesAndWhen(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, h *hand) {
		l, th := new(ledger), graph.ID("t")
		o := options{Policy: nodes.Ask, FourEyes: true, Within: time.Hour}
		p := wants(do("a", "x"), do("b", "y"))
		app := appOf(t, kitOf(t, newSessions(t), doing("do", l, o)), p, graph.Options{Store: s})
		_, err := app.Run(t.Context(), th, hello(t))
		qs := waits(t, err, 2)
		for _, by := range []string{"ann", ""} {
			if _, err := app.Resume(t.Context(), th, graph.Answer(qs[0], nodes.Approve()).By(by)); !errors.Is(err, checkpoint.ErrNotAllowed) {
				t.Fatalf("an answer by %q: %v", by, err)
			}
		}
		_, err = app.Resume(t.Context(), th, graph.Answer(qs[0], nodes.Approve()).By("bob"))
		waits(t, err, 1)
		h.move(2 * time.Hour)
		out, err := app.Resume(t.Context(), th)
		if err != nil {
			t.Fatal(err)
		}
		rs := resultsOf(t, &out.Turn)
		if r := rs["b"]; r.Status != message.StatusDenied || !strings.Contains(r.Text(), "in time") || !slices.Equal(l.all(), []string{"x"}) {
			t.Fatalf("%+v, did %v", rs, l.all())
		}
	})
}

// A decision is about the call as it was shown: with other arguments it is another call.
func TestDecisionIsBoundToTheCall(t *testing.T) {
	t.Parallel()
	l := new(ledger)
	k := kitOf(t, newSessions(t), doing("do", l, ask))
	c := call("a", "do", `{"name":"x","n":1}`)
	turn := turnWith(t, c)
	if !k.NeedsDecision(t.Context(), turn, c) || k.NeedsDecision(t.Context(), turn, call("a", "do", `{}`)) {
		t.Fatal("who has to decide")
	}
	yes := graphtest.Options{Answers: []graphtest.Reply{graphtest.Answer(nodes.ApproveQuestion, nodes.Approve())}}
	if err := k.Approve(graphtest.Context(t, yes), turn, c); err != nil {
		t.Fatal(err)
	}
	changed := c
	changed.Args = `{"name":"y"}`
	if k.NeedsDecision(t.Context(), turn, c) || !k.NeedsDecision(t.Context(), turn, changed) {
		t.Fatal("the decision is about other arguments")
	}
	if err := k.CallTools(graphtest.Context(t, graphtest.Options{}), turn, changed); !graph.Waits(err) || len(l.all()) != 0 {
		t.Fatalf("%v, did %v", err, l.all())
	}
	same := c
	same.Args = ` {"n":1, "name":"x"} `
	if err := k.CallTools(graphtest.Context(t, graphtest.Options{}), turn, same); err != nil || len(l.all()) != 1 {
		t.Fatalf("%v, did %v", err, l.all())
	}
}
