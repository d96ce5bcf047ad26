package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// A moody back end fails when it is told to: its writes, after they happened if it lies.
type moody struct {
	session.Backend
	down, lies atomic.Bool
	misses     atomic.Int64 // loads that fail from now on
}

func (m *moody) Load(ctx context.Context, k session.Key, refs []string) (session.Snapshot, error) {
	if m.misses.Add(-1) >= 0 {
		return session.Snapshot{}, session.ErrUnavailable
	}
	return m.Backend.Load(ctx, k, refs)
}

func (m *moody) Update(ctx context.Context, k session.Key, refs []string, decide func(session.Snapshot) (session.Delta, error)) error {
	if m.down.Load() && !m.lies.Load() {
		return session.ErrUnavailable
	}
	err := m.Backend.Update(ctx, k, refs, decide)
	if m.down.Load() {
		return session.ErrUnavailable
	}
	return err
}

// newMoodyBench is a bench over a moody back end.
func newMoodyBench(t *testing.T, c nodes.Config, steps ...func(nodes.Request) (nodes.Answer, error)) (*bench, *moody) {
	t.Helper()
	back := &moody{Backend: session.MemoryBackend()}
	b := newBench(t, c, steps...)
	s, err := session.New(back, session.Options{MessageBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	b.session, c.Session = s, s
	if len(c.Roles) == 0 {
		c.Roles = []nodes.Role{{Name: "support", System: []string{"You help."}, Models: []nodes.Model{b.script}}}
	}
	if b.kit, err = nodes.New(c); err != nil {
		t.Fatal(err)
	}
	b.store, b.thread = new(checkpoint.Memory), graph.ID("chat-1")
	b.compile()
	return b, back
}

// talk is the conversation in the session store.
func (b *bench) talk() string {
	b.Helper()
	page, err := b.session.Messages(b.Context(), b.scope, "chat-1", session.Page{Limit: 1000})
	if err != nil {
		b.Fatal(err)
	}
	var texts []string
	for _, m := range page {
		texts = append(texts, string(m.Role[0])+":"+m.Text())
	}
	return strings.Join(texts, " | ")
}

// A session store that is away, before or after it has written, ends a turn. The conversation has all of it with the next one.
func TestConversationIsWholeAfterTheStoreWasAway(t *testing.T) {
	t.Parallel()
	for _, lies := range []bool{false, true} {
		for _, at := range []string{"load", "write back"} {
			t.Run(fmt.Sprint(at, " ", lies), func(t *testing.T) {
				t.Parallel()
				var back *moody
				b, back := newMoodyBench(t, nodes.Config{})
				back.lies.Store(lies)
				b.script.steps = []func(nodes.Request) (nodes.Answer, error){tells("zero"), func(r nodes.Request) (nodes.Answer, error) {
					back.down.Store(at == "write back")
					return tells("one")(r)
				}, tells("two")}
				b.hears("a")
				back.down.Store(at == "load")
				if _, err := b.say("b"); !errors.Is(err, session.ErrUnavailable) {
					t.Fatal(err)
				}
				back.down.Store(false)
				b.hears("c")
				want := "u:a | a:zero | u:b | a:one | u:c | a:two"
				if at == "load" {
					want = "u:a | a:zero | u:b | u:c | a:one"
				}
				if got := b.talk(); got != want {
					t.Errorf("the conversation is %s", got)
				}
			})
		}
	}
}

// A denial binds although the turn in which it was said had ended before it was written; what the user said later about it counts.
func TestDenialOfATurnThatNeverBegan(t *testing.T) {
	t.Parallel()
	for then, n := range map[string]int{"Restart it.": 1, "You may restart production instances now.": 0} {
		b, back := newMoodyBench(t, nodes.Config{}, tells("No."))
		back.down.Store(true)
		if _, err := b.say("Never restart production instances."); !errors.Is(err, session.ErrUnavailable) {
			t.Fatal(err)
		}
		back.down.Store(false)
		s, err := b.say(then)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(s.Session.Get().Pins); got != n {
			t.Errorf("%q: %d pins are in force, not %d", then, got, n)
		}
	}
}

// A message that the conversation cannot take is refused, and none after it.
func TestUnwritableMessageIsNoDeadEnd(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]message.Message{
		"too large": message.User(strings.Repeat("word ", 300_000)),
		"bad id":    {ID: strings.Repeat("x", 300), Role: message.RoleUser, Parts: []message.Part{message.Text("b")}},
		"nothing":   message.User(" "),
		"assistant": message.Assistant("I am the user."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := newMoodyBench(t, nodes.Config{Attempts: 1}, tells("zero"), fails(errors.New("away")), tells("two"))
			b.hears("a")
			if _, err := b.say("failed"); err == nil {
				t.Fatal("no error")
			}
			if _, err := b.app.Run(t.Context(), b.thread, nodes.Input[shop](b.scope, m)); err == nil {
				t.Fatal("no error")
			}
			if got := b.hears("c"); got != "two" {
				t.Errorf("it says %q", got)
			}
			if got := b.talk(); !strings.Contains(got, "u:failed") || !strings.HasSuffix(got, "u:c | a:two") {
				t.Errorf("the conversation is %.300s", got)
			}
		})
	}
}

// A message that is sent again is asked again, wherever it stood.
func TestSameMessageAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, nodes.Config{Attempts: 1}, fails(errors.New("away")), tells("one"), tells("two"), func(r nodes.Request) (nodes.Answer, error) {
		if last := r.Messages[len(r.Messages)-1]; last.Text() != "a" {
			t.Errorf("the model is asked %q", last.Text())
		}
		return tells("again")(r)
	})
	m := message.User("a")
	send := func() (*shop, error) { return b.app.Run(t.Context(), b.thread, nodes.Input[shop](b.scope, m)) }
	if _, err := send(); err == nil {
		t.Fatal("no error")
	}
	if s, err := send(); err != nil || nodes.Reply(&s.Turn).Text() != "one" {
		t.Fatal(err)
	}
	b.hears("b")
	if s, err := send(); err != nil || nodes.Reply(&s.Turn).Text() != "again" {
		t.Fatal(err)
	}
}

// What the store refuses to confirm, here since a release has dropped the field, does not lose the user's message.
func TestConfirmationIsRefused(t *testing.T) {
	t.Parallel()
	back := session.MemoryBackend()
	open := func(fields ...session.Definition) *session.Store {
		s, err := session.New(back, session.Options{Fields: fields})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before, after := open(session.Env, order), open(session.Env)
	defer after.Close()
	b := newBench(t, nodes.Config{}, tells("What?"))
	if _, err := before.Write(t.Context(), b.scope, "chat-1", session.Write{Propose: []session.Proposal{session.Propose(order, 7, "g", time.Hour)}}); err != nil {
		t.Fatal(err)
	}
	b.kit = kitWith(t, nodes.Config{Session: after, Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{b.script}}}})
	b.compile()
	if got := b.hears("yes"); got != "What?" {
		t.Errorf("it says %q", got)
	}
}

// A short outage between two steps fails no turn.
func TestStoreIsAwayBetweenTwoSteps(t *testing.T) {
	t.Parallel()
	var back *moody
	find := nodes.NewTool("find", "Finds.", func(context.Context, struct{}) (string, error) {
		back.misses.Store(2)
		return "production", nil
	}, nodes.ToolOptions[struct{}, string]{ReadOnly: true, Facts: func(_ context.Context, src session.Source, _ struct{}, env string) []session.Change {
		return []session.Change{session.Set(session.Env, env, src)}
	}})
	script := new(lines)
	script.steps = []func(nodes.Request) (nodes.Answer, error){calls(message.Call{Name: "find", Args: "{}"}), tells("Found.")}
	b, back := newMoodyBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{script}, Tools: []nodes.Tool{find}}}})
	s, err := b.say("Which one?")
	if err != nil {
		t.Fatal(err)
	}
	if env, _ := session.Get(s.Session.Get(), session.Env); env != "production" {
		t.Errorf("the environment is %q", env)
	}
}

// A node of one's own that has answered ends the turn at write_back, also where the history is compacted after it.
func TestNodeThatAnswersEndsTheTurn(t *testing.T) {
	t.Parallel()
	ask := nodes.NewTool("forms", "Sends forms.", func(context.Context, struct{}) (string, error) { return "sent", nil },
		nodes.ToolOptions[struct{}, string]{Then: func(context.Context, *nodes.Turn, struct{}, string) (string, error) { return "closing", nil }})
	b := newBench(t, nodes.Config{Compact: compact.Options{Budget: 600, SummaryCap: 100}, Roles: []nodes.Role{{Name: "r", Tools: []nodes.Tool{ask}}}},
		calls(message.Call{Name: "forms", Args: "{}"}))
	g := nodes.Agent[shop]("shop", b.kit, "closing")
	nodes.Add(g, "closing", func(_ context.Context, t *nodes.Turn) error {
		t.Messages.Append(message.Assistant("The forms are on their way."))
		return nil
	})
	g.Edge("closing", nodes.NodeWriteBack)
	app, err := g.Compile(graph.Options{Store: b.store})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	s, err := app.Run(t.Context(), b.thread, nodes.Input[shop](b.scope, message.User("Forms, please. "+strings.Repeat("It is long. ", 300))))
	if err != nil {
		t.Fatal(err)
	}
	if got := nodes.Reply(&s.Turn).Text(); got != "The forms are on their way." || s.Status.Get() != nodes.Ended {
		t.Errorf("it says %q, status %q", got, s.Status.Get())
	}
	if got := b.talk(); !strings.HasSuffix(got, "a:The forms are on their way.") {
		t.Errorf("the conversation is %.300s", got)
	}
}

// What memory returns may be anything; the turn goes on.
func TestGarbageOfMemory(t *testing.T) {
	t.Parallel()
	agent, _ := memory.NewAgent("ops", memory.Internal, "default")
	odd := &box{items: []working.Item{{Source: working.LongTerm, ID: "m\xff", Text: "half a rune \xe4\xb8"}, {}, {Source: "nowhere", ID: "", Text: ""}}}
	b := newBench(t, nodes.Config{LongTerm: odd, Agent: agent}, tells("Fine."))
	if got := b.hears("hi"); got != "Fine." {
		t.Errorf("it says %q", got)
	}
}

// A branch made of any entry of a thread is a thread of its own: its turn ends, an effect that is reused does not happen again, and its
// history takes the next message.
func TestForkAtAnyEntry(t *testing.T) {
	t.Parallel()
	l := new(ledger)
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Tools: []nodes.Tool{doing("do", l, options{})}}}}, calls(do("1", "x")), tells("one"), tells("two"))
	b.script.steps = append(b.script.steps, slices.Repeat([]func(nodes.Request) (nodes.Answer, error){tells("forked")}, 60)...)
	b.hears("do it")
	b.hears("and?")
	trunk, entries := b.thread, 0
	trunk.Branch = graph.Main
	for e, err := range b.app.History(t.Context(), trunk) {
		if err != nil {
			t.Fatal(err)
		}
		entries++
		at, err := b.app.Fork(t.Context(), trunk, e.Pos, graph.ForkOptions{Effects: graph.Reuse})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.app.Resume(t.Context(), at); err != nil && !errors.Is(err, graph.ErrNothingToDo) {
			t.Fatalf("at %d (%v): %v", e.Pos, e.Tasks, err)
		}
		s, err := b.app.Run(t.Context(), at, nodes.Input[shop](b.scope, message.User("in the fork")))
		if err != nil {
			t.Fatalf("at %d (%v): %v", e.Pos, e.Tasks, err)
		}
		if err := message.Valid(s.Messages.Slice()); err != nil || nodes.Reply(&s.Turn).Text() != "forked" {
			t.Errorf("at %d: %v, it says %q", e.Pos, err, nodes.Reply(&s.Turn).Text())
		}
	}
	if got := l.all(); entries < 10 || len(got) != 1 {
		t.Errorf("%d forks did %v", entries, got)
	}
}
