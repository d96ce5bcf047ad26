package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// A second message comes while a call of the first waits for a person: the history stays valid, the question is gone once the turn
// is, nothing of it runs afterwards, and what the user forbade with it binds.
func TestSecondMessageWhileACallWaits(t *testing.T) {
	t.Parallel()
	for _, policy := range []graph.BusyPolicy{graph.Reject, graph.Enqueue, graph.Preempt, graph.Rollback} {
		for _, first := range []bool{false, true} {
			t.Run(fmt.Sprint(policy, first), func(t *testing.T) {
				t.Parallel()
				l := new(ledger)
				tools := []nodes.Tool{doing("do", l, options{Policy: nodes.Ask}), doing("free", l, options{ReadOnly: true})}
				b := newBench(t, nodes.Config{ApproveFirst: first, Roles: []nodes.Role{{Name: "r", Tools: tools}}},
					calls(do("1", "x"), do("2", "y"), call("3", "free", `{"name":"z"}`), call("4", "unknown", `{}`)), tells("one"), tells("two"))
				_, err := b.say("Never restart production. Do it.")
				qs := waits(t, err, 2)
				_, err = b.app.With(graph.RunOptions{OnBusy: policy}).Run(t.Context(), b.thread, nodes.Input[shop](b.scope, message.User("and now?")))
				want := []string{"x", "z"}
				switch stays := errors.Is(err, graph.ErrBusy) || errors.Is(err, graph.ErrQueued); {
				case stays:
					b.decide(err, graph.Answer(qs[0], nodes.Approve()), graph.Answer(qs[1], nodes.Reject("no")))
				case err != nil:
					t.Fatal(err)
				default:
					if _, err := b.app.Resume(t.Context(), b.thread, graph.Answer(qs[0], nodes.Approve())); err == nil {
						t.Error("an old question takes an answer")
					}
					if want = want[1:]; first {
						want = nil
					}
				}
				if got := l.all(); !slices.Equal(got, want) {
					t.Errorf("%v was done, not %v", got, want)
				}
				s, err := b.app.State(t.Context(), b.thread)
				if err != nil {
					t.Fatal(err)
				}
				if err := message.Valid(s.State.Messages.Slice()); err != nil {
					t.Error(err)
				}
				if n := len(s.State.Session.Get().Pins); n != 1 {
					t.Errorf("%d pins", n)
				}
			})
		}
	}
}

// decide answers what a run waits for, and waits for the run that is queued behind it, if there is one.
func (b *bench) decide(busy error, answers ...graph.Command) {
	b.Helper()
	if _, err := b.app.Resume(b.Context(), b.thread, answers...); err != nil {
		b.Fatal(err)
	}
	if queued, ok := errors.AsType[*graph.QueuedError](busy); ok {
		for _, err := range b.app.Watch(b.Context(), b.thread, graph.WatchOptions{Run: queued.Run}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// A thread goes on in a program that has other roles and tools: a handed-over role, an open call and an approval are of the old one.
func TestOtherRolesAndTools(t *testing.T) {
	t.Parallel()
	l := new(ledger)
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "front", HandOff: []string{"back"}}, {Name: "back", Tools: []nodes.Tool{doing("do", l, options{Policy: nodes.Ask})}}}},
		calls(call("1", "transfer_to_back", "{}")), calls(do("2", "x")), tells("There is none."), tells("Front again."))
	_, err := b.say("Do it.")
	q := waits(t, err, 1)[0]
	b.kit = kitWith(t, nodes.Config{Session: b.session, Roles: []nodes.Role{{Name: "new", System: []string{"You are new."}, Models: []nodes.Model{b.script}}}})
	b.compile()
	s, err := b.app.Resume(t.Context(), b.thread, graph.Answer(q, nodes.Approve()))
	if err != nil {
		t.Fatal(err)
	}
	if got := nodes.Reply(&s.Turn).Text(); got != "There is none." || len(l.all()) > 0 {
		t.Errorf("it says %q, did %v", got, l.all())
	}
	if got := b.hears("and?"); got != "Front again." {
		t.Errorf("it says %q", got)
	}
}

// Of calls that lead somewhere the first in the model's message counts, also where another ends the turn.
func TestParallelJumps(t *testing.T) {
	t.Parallel()
	leads := func(name, to string) nodes.Tool {
		return nodes.NewTool(name, "Leads.", func(context.Context, struct{}) (string, error) { return name + " done", nil },
			nodes.ToolOptions[struct{}, string]{Then: func(context.Context, *nodes.Turn, struct{}, string) (string, error) { return to, nil }})
	}
	for order, want := range map[string]string{"end go stay": "end done|go done|stay done", "go end stay": "went", "stay end": "stay done|end done", "stay": "asked again"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			var cs []message.Call
			for _, name := range strings.Fields(order) {
				cs = append(cs, message.Call{Name: name, Args: "{}"})
			}
			b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Tools: []nodes.Tool{leads("end", graph.End), leads("go", "mine"), leads("stay", "")}}}}, calls(cs...), tells("asked again"), tells("next"))
			g := nodes.Agent[shop]("shop", b.kit, "mine")
			nodes.Add(g, "mine", func(_ context.Context, t *nodes.Turn) error { t.Messages.Append(message.Assistant("went")); return nil })
			g.Edge("mine", nodes.NodeWriteBack)
			app, err := g.Compile(graph.Options{Store: b.store})
			if err != nil {
				t.Fatal(err)
			}
			defer app.Close(context.Background())
			s, err := app.Run(t.Context(), b.thread, nodes.Input[shop](b.scope, message.User("go")))
			if err != nil {
				t.Fatal(err)
			}
			if got := nodes.Reply(&s.Turn).Text(); !sameWords(got, want) {
				t.Errorf("it says %q, not %q", got, want)
			}
			if err := message.Valid(s.Messages.Slice()); err != nil {
				t.Error(err)
			}
			b.app = app
			b.hears("next")
			page, err := b.session.Messages(t.Context(), b.scope, "chat-1", session.Page{})
			if err != nil || message.Valid(bare(page)) != nil {
				t.Errorf("%v: the conversation is %v", err, message.Valid(bare(page)))
			}
		})
	}
}

func bare(page []session.Message) (out []message.Message) {
	for _, m := range page {
		out = append(out, m.Message)
	}
	return out
}

// sameWords compares texts whose parts may come in another order.
func sameWords(got, want string) bool {
	a := strings.FieldsFunc(got, func(r rune) bool { return r == '\n' || r == '|' })
	w := strings.Split(want, "|")
	slices.Sort(a)
	slices.Sort(w)
	return slices.Equal(a, w)
}
