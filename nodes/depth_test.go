package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// caller is a model that makes its calls about a message of the user, and answers when it has their results.
func caller(calls ...message.Call) nodes.Model {
	return nodes.ModelFunc(func(_ context.Context, r nodes.Request, _ func(nodes.Delta)) (nodes.Answer, error) {
		if last := r.Messages[len(r.Messages)-1]; last.Role == message.RoleTool {
			return nodes.Answer{Message: message.Assistant("Done.")}, nil
		}
		return nodes.Answer{Message: message.Assistant("", calls...)}, nil
	})
}

// deep is an agent that does x, whose helper does y, whose helper does z.
func deep(t *testing.T, store checkpoint.Store, sess *session.Store, l *ledger, o options) *graph.App[desk] {
	t.Helper()
	var below *graph.App[desk]
	for i, name := range []string{"z", "y", "x"} {
		calls, tools := []message.Call{do("c", name)}, []nodes.Tool{doing("do", l, o)}
		if below != nil {
			calls = append(calls, call("h", "helper", `{"task":"Do it."}`))
			tools = append(tools, nodes.SubAgent("helper", "Helps.", below, nodes.SubAgentOptions{}))
		}
		kit := kitWith(t, nodes.Config{Session: sess, Roles: []nodes.Role{{Name: "main", Models: []nodes.Model{caller(calls...)}, Tools: tools}}})
		var g graph.Options
		if i == 2 {
			g.Store = store
		}
		app, err := nodes.Agent[desk]("agent-"+name, kit).Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		below = app
	}
	return below
}

// Questions at every depth are answered in any order, each in another process, and nothing is done twice or left out.
func TestQuestionsAtEveryDepth(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"x", "y", "z"}, {"x", "z", "y"}, {"y", "x", "z"}, {"y", "z", "x"}, {"z", "x", "y"}, {"z", "y", "x"}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			t.Parallel()
			store, sess, l, th := new(checkpoint.Memory), newSessions(t), new(ledger), graph.ID("t")
			process := func() *graph.App[desk] { return deep(t, store, sess, l, options{Policy: nodes.Ask}) }
			out, err := process().Run(t.Context(), th, hello(t))
			for i, name := range order {
				var mine []graph.Question
				for _, q := range waits(t, err, 3-i) {
					shown, err := graph.PromptOf[nodes.Approval](q)
					if err != nil {
						t.Fatal(err)
					}
					if string(shown.Args) == fmt.Sprintf(`{"name":%q}`, name) {
						mine = append(mine, q)
					}
				}
				if len(mine) != 1 {
					t.Fatalf("%d questions about %s", len(mine), name)
				}
				out, err = process().Resume(t.Context(), th, graph.Answer(mine[0], nodes.Approve()))
				if did := l.all(); len(did) != i+1 || !slices.Contains(did, name) {
					t.Fatalf("did %v", did)
				}
			}
			if err != nil || nodes.Reply(&out.Turn).Text() != "Done." {
				t.Fatalf("%v: %+v", err, out)
			}
		})
	}
}

// A frail backend fails once, before a write or after it.
type frail struct {
	session.Backend
	left  atomic.Int64 // writes before the one that fails
	after bool
}

func (f *frail) Update(ctx context.Context, k session.Key, refs []string, decide func(session.Snapshot) (session.Delta, error)) error {
	if f.left.Add(-1) != -1 {
		return f.Backend.Update(ctx, k, refs, decide)
	}
	if f.after {
		if err := f.Backend.Update(ctx, k, refs, decide); err != nil {
			return err
		}
	}
	return errors.Join(session.ErrUnavailable, errors.New("once"))
}

// Wherever the session store fails once, at any depth, the turn ends as if it had not, and every effect has happened once.
func TestSessionStoreFailsOnce(t *testing.T) {
	t.Parallel()
	const writes = 11 // of the turn
	for n := range int64(writes) {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(n, after), func(t *testing.T) {
				t.Parallel()
				b := &frail{Backend: session.MemoryBackend(), after: after}
				b.left.Store(n)
				sess, err := session.New(b, session.Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { sess.Close() })
				l, th, store := new(ledger), graph.ID("t"), new(checkpoint.Memory)
				out, err := deep(t, store, sess, l, options{}).Run(t.Context(), th, hello(t))
				if errors.Is(err, session.ErrUnavailable) {
					out, err = deep(t, store, sess, l, options{}).Resume(t.Context(), th)
				}
				if err != nil || !slices.Equal(l.all(), []string{"x", "y", "z"}) || nodes.Reply(&out.Turn).Text() != "Done." || b.left.Load() >= 0 {
					t.Fatalf("%v: did %v, %d writes too few", err, l.all(), b.left.Load()+1)
				}
				rows, err := sess.Messages(t.Context(), scopeOf(t, "ann"), "t", session.Page{Limit: 100})
				if err != nil || len(rows) != 5 || len(resultsOf(t, &out.Turn)) != 2 {
					t.Fatalf("%v: %d messages, %+v", err, len(rows), resultsOf(t, &out.Turn))
				}
			})
		}
	}
}
