package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/state"
)

// A desk is the state of the graphs in these tests.
type desk struct {
	nodes.Turn
	Done state.List[string] `json:"done"`
}

// A hand is a clock that is moved by hand.
type hand struct{ moved atomic.Int64 }

func (h *hand) now() time.Time {
	return time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(h.moved.Load()))
}
func (h *hand) move(d time.Duration) { h.moved.Add(int64(d)) }

// onStores runs a test on the memory store and on SQLite.
func onStores(t *testing.T, test func(t *testing.T, s checkpoint.Store, h *hand)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		h := new(hand)
		test(t, &checkpoint.Memory{Now: h.now}, h)
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		h := new(hand)
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "db"), sqlite.Options{Now: h.now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		test(t, s, h)
	})
}

var silent = nodes.ModelFunc(func(context.Context, nodes.Request, func(nodes.Delta)) (nodes.Answer, error) {
	return nodes.Answer{}, errors.New("no model is asked here")
})

func newSessions(t testing.TB) *session.Store {
	t.Helper()
	s, err := session.NewMemory(session.Options{Fields: []session.Definition{session.Env, order}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var order = session.NewField("order", func(n int) error {
	if n <= 0 {
		return errors.New("an order has a number above zero")
	}
	return nil
})

func kitOf(t testing.TB, s *session.Store, tools ...nodes.Tool) *nodes.Kit {
	t.Helper()
	return kitWith(t, nodes.Config{Session: s, Roles: []nodes.Role{{Name: "main", Models: []nodes.Model{silent}, Tools: tools}}})
}

func kitWith(t testing.TB, c nodes.Config) *nodes.Kit {
	t.Helper()
	k, err := nodes.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func scopeOf(t testing.TB, user string) memory.Scope {
	t.Helper()
	s, err := memory.NewScope("acme", user)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A plan is what the scripted model says, one message after the other; what it says is the same in every process.
type plan struct {
	says  []message.Message
	asked atomic.Int32
	first bool // all questions of a step before any of its calls
}

func planned(says ...message.Message) *plan { return &plan{says: says} }

func (p *plan) next(t *nodes.Turn) message.Message {
	n := 0
	for _, m := range t.Messages.All() {
		if m.Role == message.RoleAssistant {
			n++
		}
	}
	p.asked.Add(1)
	return p.says[min(n, len(p.says)-1)]
}

// wants is a model that makes calls in its first answer and no more.
func wants(calls ...message.Call) *plan {
	return planned(message.Assistant("", calls...), message.Assistant("Done."))
}

// graphOf is an agent with a scripted model: model, approve if asked for, call_tools, and again.
func graphOf(k *nodes.Kit, p *plan) *graph.Graph[desk] {
	g := graph.New[desk]("desk")
	calls := nodes.AddEach[desk](g, "call_tools", k.CallTools)
	approve := nodes.AddEach[desk](g, "approve", k.Approve)
	nodes.AddBranch[desk](g, "model", func(ctx context.Context, t *nodes.Turn) (graph.Next, error) {
		m := p.next(t)
		t.Messages.Append(m)
		if open := m.Calls(); p.first {
			return approve.SendOr(graph.End, open...), nil
		}
		return calls.SendOr(graph.End, m.Calls()...), nil
	}, "call_tools", "approve", graph.End)
	nodes.AddBranch[desk](g, "run", func(ctx context.Context, t *nodes.Turn) (graph.Next, error) {
		return calls.SendOr(graph.End, message.Open(t.Messages.Slice())...), nil
	}, "call_tools", graph.End)
	g.Edge(graph.Start, "model")
	g.Edge("approve", "run")
	g.Edge("call_tools", "model")
	return g
}

func appOf(t testing.TB, k *nodes.Kit, p *plan, o graph.Options) *graph.App[desk] {
	t.Helper()
	app, err := graphOf(k, p).Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

func hello(t testing.TB) func(*desk) {
	return nodes.Input[desk](scopeOf(t, "ann"), message.User("Please do it."))
}

func call(id, tool, args string) message.Call { return message.Call{ID: id, Name: tool, Args: args} }

func do(id, name string) message.Call { return call(id, "do", fmt.Sprintf(`{"name":%q}`, name)) }

func inMemory() graph.Options { return graph.Options{Store: new(checkpoint.Memory)} }

// waits returns what a run waits for.
func waits(t testing.TB, err error, n int) []graph.Question {
	t.Helper()
	in, ok := errors.AsType[*graph.Interrupted](err)
	if !ok || len(in.Questions) != n {
		t.Fatalf("the run does not wait for %d questions: %v", n, err)
	}
	return in.Questions
}

// resultsOf are the results in a history by call; two of one call fail the test.
func resultsOf(t testing.TB, s *nodes.Turn) map[string]message.Result {
	t.Helper()
	out := map[string]message.Result{}
	for _, m := range s.Messages.All() {
		for _, r := range m.Results() {
			if _, twice := out[r.CallID]; twice {
				t.Fatalf("call %s has two results", r.CallID)
			}
			out[r.CallID] = r
		}
	}
	return out
}

// A ledger is the outside world: it counts what was done to it.
type ledger struct {
	mu   sync.Mutex
	did  []string
	keys map[string][]string
}

func (l *ledger) note(what, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.did = append(l.did, what)
	if l.keys == nil {
		l.keys = map[string][]string{}
	}
	l.keys[what] = append(l.keys[what], key)
}

func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.did))
}

type options = nodes.ToolOptions[item, string]

type item struct {
	Name string `json:"name" description:"of the thing"`
	N    int    `json:"n,omitzero"`
}

// doing is a tool that notes what it did.
func doing(name string, l *ledger, o options) nodes.Tool {
	return nodes.NewTool(name, "Does it.", func(ctx context.Context, a item) (string, error) {
		in, _ := nodes.Current(ctx)
		l.note(a.Name, in.Key)
		return "did " + a.Name, nil
	}, o)
}
