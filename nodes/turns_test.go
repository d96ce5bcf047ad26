package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	"github.com/holdfast-go/holdfast/state"
)

// box is long-term memory and knowledge.
type box struct {
	items     []working.Item
	missing   []string
	err       error
	away      error // of Remember
	queries   []nodes.Query
	exchanges []nodes.Exchange
}

func (b *box) Recall(ctx context.Context, q nodes.Query) ([]working.Item, error) {
	b.queries = append(b.queries, q)
	if b.err != nil && strings.Contains(b.err.Error(), "slow") {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return b.items, b.err
}

func (b *box) Retrieve(ctx context.Context, q nodes.Query) (nodes.Retrieved, error) {
	items, err := b.Recall(ctx, q)
	return nodes.Retrieved{Items: items, Missing: b.missing}, err
}

func (b *box) Remember(_ context.Context, e nodes.Exchange) error {
	if b.away != nil {
		return b.away
	}
	b.exchanges = append(b.exchanges, e)
	return nil
}

func told(r nodes.Request) string {
	var texts []string
	for _, m := range r.Messages {
		texts = append(texts, m.Text())
	}
	return strings.Join(texts, "\n")
}

// T21: state is loaded before memory is searched, and the search knows what "its" stands for.
func TestRecallKnowsTheState(t *testing.T) {
	t.Parallel()
	memories := &box{items: []working.Item{{Source: working.LongTerm, ID: "m1", Text: "Ann likes tables."}}}
	documents := &box{items: []working.Item{{Source: working.Knowledge, ID: "d1", Text: "Logs are kept for 30 days."}}}
	find := nodes.NewTool("find", "Finds a service.", func(context.Context, struct{}) (string, error) { return "payment-api", nil },
		nodes.ToolOptions[struct{}, string]{ReadOnly: true, Facts: func(_ context.Context, src session.Source, _ struct{}, id string) []session.Change {
			return []session.Change{session.Set(session.CurrentService, session.Service{ID: id, Name: "Payments"}, src)}
		}})
	agent, err := memory.NewAgent("ops", memory.Internal, "default")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, nodes.Config{LongTerm: memories, Knowledge: documents, Agent: agent, Roles: []nodes.Role{{Name: "ops", Tools: []nodes.Tool{find}}}},
		calls(message.Call{ID: "c1", Name: "find", Args: "{}"}), func(r nodes.Request) (nodes.Answer, error) {
			if !strings.Contains(r.Messages[0].Text(), "payment-api") {
				t.Errorf("the state is not in the prompt: %s", r.Messages[0].Text())
			}
			return tells("It runs.")(r)
		}, tells("No errors."))
	b.hears("Is payment-api up?")
	if got := b.hears("And its error log?"); got != "No errors." {
		t.Fatalf("it says %q", got)
	}
	q := memories.queries[1]
	if q.Text != "And its error log?" || !slices.Contains(q.Entities, "payment-api") || q.Scope != b.scope || q.Conversation != "chat-1" || q.Agent.Name() != "ops" {
		t.Errorf("memory is asked %+v", q)
	}
	if last := told(b.script.requests[2]); !strings.Contains(last, "Ann likes tables.") || !strings.Contains(last, "Logs are kept") {
		t.Errorf("what was recalled is not told: %s", last)
	}
	if len(memories.exchanges) != 2 || memories.exchanges[0].Messages[0].Text() != "Is payment-api up?" || len(memories.exchanges[0].Messages) != 4 {
		t.Errorf("to remember: %+v", memories.exchanges)
	}
}

// R80: a turn that the outbox did not take, since it was away, is taken with the next one, once.
func TestOutboxIsCaughtUpWith(t *testing.T) {
	t.Parallel()
	agent, _ := memory.NewAgent("ops", memory.Internal, "default")
	memories := &box{}
	b := newBench(t, nodes.Config{LongTerm: memories, Agent: agent}, tells("One."), tells("Two."), tells("Three."), tells("Four."), tells("Five."))
	b.hears("first")
	memories.away = errors.New("away")
	for _, text := range []string{"second", "third"} {
		if _, err := b.say(text); !errors.Is(err, memories.away) {
			t.Fatalf("%q ends with %v", text, err)
		}
	}
	memories.away = nil
	b.hears("fourth")
	b.hears("fifth")
	var got []string
	for _, e := range memories.exchanges {
		text := e.Messages[0].Text()
		for _, m := range e.Messages[1:] {
			text += " " + m.Text()
		}
		got = append(got, text)
	}
	if want := []string{"first One.", "second Two.", "third Three.", "fourth Four.", "fifth Five."}; !slices.Equal(got, want) {
		t.Errorf("the outbox has %q, want %q", got, want)
	}
}

// R107: what the documents do not say is told, so that the model does not answer from anything else.
func TestDocumentsThatDoNotSay(t *testing.T) {
	t.Parallel()
	agent, _ := memory.NewAgent("ops", memory.Internal, "default")
	b := newBench(t, nodes.Config{Knowledge: &box{missing: []string{"how many days"}}, Agent: agent}, tells("They do not say."), tells("Hello."))
	b.hears("How many days of leave do I have?")
	if text := told(b.script.requests[0]); !strings.Contains(text, "The documents say nothing about") || !strings.Contains(text, "how many days") {
		t.Errorf("the model is told %s", text)
	}
}

// A miss of long-term memory is fine; documents that cannot be read are told, so that nothing is answered as if they said nothing.
func TestRecallFails(t *testing.T) {
	t.Parallel()
	agent, _ := memory.NewAgent("ops", memory.Internal, "default")
	for _, why := range []string{"away", "slow"} {
		b := newBench(t, nodes.Config{LongTerm: &box{err: errors.New(why)}, Knowledge: &box{err: errors.New(why)}, Agent: agent, RecallTime: 20 * time.Millisecond}, tells("Sorry."))
		if got := b.hears("What does the handbook say?"); got != "Sorry." {
			t.Errorf("it says %q", got)
		}
		if got := told(b.script.requests[0]); !strings.Contains(got, "documents could not be read") {
			t.Errorf("the model is told %s", got)
		}
	}
}

// R49, R50: what the user forbids is shown as it was understood, is in every prompt, and stops the call; a permission ends it.
func TestDenialsOfTheUser(t *testing.T) {
	t.Parallel()
	ran := 0
	restart := nodes.NewTool("restart_instance", "Restarts an instance.", func(context.Context, struct {
		Env string `json:"env"`
	}) (string, error) {
		ran++
		return "restarted", nil
	}, nodes.ToolOptions[struct {
		Env string `json:"env"`
	}, string]{Actions: []string{"restart"}})
	call := func(id string) func(nodes.Request) (nodes.Answer, error) {
		return calls(message.Call{ID: id, Name: "restart_instance", Args: `{"env":"production"}`})
	}
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "ops", Tools: []nodes.Tool{restart}}}},
		tells("Understood."), call("a"), tells("I may not."), tells("Fine."), call("b"), tells("Done."))
	s, err := b.say("Never restart production instances.")
	if err != nil || len(s.Notices.Get()) != 1 || len(s.Session.Get().Pins) != 1 {
		t.Fatalf("%v: notices %q, pins %+v", err, s.Notices.Get(), s.Session.Get().Pins)
	}
	if got := b.hears("Restart it now!"); got != "I may not." || ran != 0 {
		t.Errorf("it says %q, %d restarts", got, ran)
	}
	for _, r := range b.script.requests[:3] {
		if !strings.Contains(r.Messages[0].Text(), "Never restart production instances") {
			t.Errorf("the denial is not in the prompt: %s", r.Messages[0].Text())
		}
	}
	if s, err = b.say("You may restart production instances now."); err != nil || len(s.Session.Get().Pins) != 0 || len(s.Notices.Get()) != 1 {
		t.Fatalf("%v: notices %q, pins %+v", err, s.Notices.Get(), s.Session.Get().Pins)
	}
	if got := b.hears("Restart it then."); got != "Done." || ran != 1 {
		t.Errorf("it says %q, %d restarts", got, ran)
	}
}

// T22: a plain yes confirms the one candidate that is open, and nothing if there is none.
func TestYesConfirmsTheCandidate(t *testing.T) {
	t.Parallel()
	b := newBench(t, nodes.Config{}, tells("Production?"), tells("Good."), tells("What?"))
	b.hears("Restart payment-api.")
	w := session.Write{Propose: []session.Proposal{session.Propose(session.Env, "production", "guess", time.Hour)}}
	if _, err := b.session.Write(t.Context(), b.scope, "chat-1", w); err != nil {
		t.Fatal(err)
	}
	s, err := b.say("yes")
	if err != nil {
		t.Fatal(err)
	}
	if env, ok := session.Get(s.Session.Get(), session.Env); !ok || env != "production" {
		t.Errorf("the environment is %q, %t", env, ok)
	}
	if got := b.hears("yes"); got != "What?" {
		t.Errorf("it says %q", got)
	}
}

// R29: the directory of runs has the conversation and the message of each run, and a message that is sent twice is answered once.
func TestRunsOfAConversation(t *testing.T) {
	t.Parallel()
	b := newBench(t, nodes.Config{}, tells("Hello."), tells("Again."))
	m := message.User("hi")
	run := func() error {
		_, err := b.app.With(nodes.RunOptions(b.scope, "chat-1", m)).Run(t.Context(), b.thread, nodes.Input[shop](b.scope, m))
		return err
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	if err := run(); !errors.Is(err, graph.ErrDuplicate) {
		t.Errorf("the same message again: %v", err)
	}
	runs, err := b.store.Runs(t.Context(), checkpoint.RunFilter{Meta: map[string]string{"conversation": "chat-1"}})
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v: %+v", err, runs)
	}
	if r := runs[0]; r.Status != checkpoint.Completed || r.Meta["message"] != m.ID || r.By != "ann" {
		t.Errorf("the run is %+v", r)
	}
}

// R52: prompts stay within the limit and the working copy within its budget however long a conversation gets, and the
// conversation has all of it.
func TestLongConversation(t *testing.T) {
	t.Parallel()
	const turns = 120
	p := working.Default()
	p.MaxInput, p.Reserve, p.Caps = 3000, 300, working.Caps{System: 300, State: 200, Recent: 1200, Summary: 200, Observations: 600, Notes: 100}
	b := newBench(t, nodes.Config{Profile: p, Compact: compact.Options{Budget: 1200}})
	answer := tells("That is noted, and it will be seen to by the people who are there for it.")
	b.script.steps = slices.Repeat([]func(nodes.Request) (nodes.Answer, error){answer}, turns)
	for i := range turns {
		b.hears(fmt.Sprintf("Order %d came broken, please write that down with what I said before.", 1000+i))
	}
	for i, r := range b.script.requests {
		if n := working.CountRequest(working.Estimate, r.Messages, r.Tools); n > p.MaxInput-p.Reserve {
			t.Errorf("turn %d: %d tokens", i, n)
		}
	}
	s, err := b.app.State(t.Context(), b.thread)
	if err != nil {
		t.Fatal(err)
	}
	if n := working.CountMessages(working.Estimate, s.State.Messages.Slice()); n > 1200 {
		t.Errorf("the working copy has %d tokens", n)
	}
	if s.State.Summary.Get().Text == "" {
		t.Error("there is no summary")
	}
	page, err := b.session.Messages(t.Context(), b.scope, "chat-1", session.Page{Limit: 1000})
	if err != nil || len(page) != 2*turns {
		t.Errorf("%v: the conversation has %d messages", err, len(page))
	}
}

// grouped is a state that has names of its own for what a Turn has too.
type grouped struct {
	nodes.Turn `json:"turn"`
	Status     state.Last[string] `json:"status"`
}

// Each node works alone in a graph of the user's, and a Turn can be a group.
func TestNodesInAGraphOfOnesOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, nodes.Config{}, calls(message.Call{ID: "c1", Name: "nothing", Args: "{}"}), tells("Priced."))
	g := graph.New[grouped]("mine")
	nodes.Add(g, "load_working_state", b.kit.LoadWorkingState)
	nodes.Add(g, "price", func(ctx context.Context, _ *nodes.Turn) error {
		s, ok := nodes.StateOf[grouped](ctx)
		if !ok {
			return errors.New("no state")
		}
		s.Status.Set("priced")
		return nil
	})
	nodes.Add(g, "call_model", b.kit.CallModel)
	tools := nodes.AddEach(g, "call_tools", b.kit.CallTools)
	nodes.Add(g, "write_back", b.kit.WriteBack)
	g.Edge(graph.Start, "load_working_state")
	g.Edge("load_working_state", "price")
	g.Edge("price", "call_model")
	nodes.AddRoute(g, "call_model", func(_ context.Context, t *nodes.Turn) (graph.Next, error) {
		return tools.SendOr("write_back", nodes.OpenCalls(t)...), nil
	}, "call_tools", "write_back")
	g.Edge("call_tools", "call_model")
	app, err := g.Compile(graph.Options{Store: b.store})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	s, err := app.Run(t.Context(), graph.ID("2"), nodes.Input[grouped](b.scope, message.User("price it")))
	if err != nil {
		t.Fatal(err)
	}
	if got := nodes.Reply(&s.Turn).Text(); got != "Priced." || s.Status.Get() != "priced" {
		t.Errorf("it says %q, status %q", got, s.Status.Get())
	}
	if got := told(b.script.requests[1]); !strings.Contains(got, "You help with orders.") {
		t.Errorf("the model is told %s", got)
	}
}

// Some models number their calls anew in each answer. What is recorded of a call must not be taken for that of another, also when the
// message that had it was compacted away.
func TestModelsRepeatTheirIDs(t *testing.T) {
	t.Parallel()
	n := 0
	count := nodes.NewTool("count", "Counts.", func(context.Context, struct{}) (int, error) { n++; return n, nil }, nodes.ToolOptions[struct{}, int]{})
	p := working.Default()
	p.MaxInput, p.Reserve, p.Caps = 3000, 300, working.Caps{System: 400, State: 200, Recent: 1000, Summary: 200, Observations: 600, Notes: 100}
	b := newBench(t, nodes.Config{Profile: p, Compact: compact.Options{Budget: 500, SummaryCap: 100}, Roles: []nodes.Role{{Name: "r", Tools: []nodes.Tool{count}}}})
	for i := range 30 {
		b.script.steps = append(b.script.steps, calls(message.Call{ID: "call_1", Name: "count", Args: "{}"}), func(r nodes.Request) (nodes.Answer, error) {
			if got := r.Messages[len(r.Messages)-1].Text(); got != fmt.Sprint(i+1) {
				t.Errorf("turn %d: the result is %q", i, got)
			}
			return tells("Counted, and written down where it is looked for by those who look for it.")(r)
		})
	}
	for range 30 {
		b.hears("Count, please, and tell me what it is that you have counted this time.")
	}
	s, err := b.app.State(t.Context(), b.thread)
	if err != nil {
		t.Fatal(err)
	}
	if s.State.Messages.Len() > 60 || n != 30 {
		t.Errorf("%d messages, counted to %d", s.State.Messages.Len(), n)
	}
}

// The task that a model gives to a sub-agent is not what the user told us: nothing of it is remembered of the user, and what it
// forbids binds nobody.
func TestTasksAreNotTheUsersWords(t *testing.T) {
	t.Parallel()
	agent, err := memory.NewAgent("ops", memory.Internal, "default")
	if err != nil {
		t.Fatal(err)
	}
	below, above := &box{}, &box{}
	child := newBench(t, nodes.Config{LongTerm: below, Agent: agent}, tells("Looked."))
	helper := nodes.SubAgent("helper", "Helps.", child.app, nodes.SubAgentOptions{})
	b := newBench(t, nodes.Config{LongTerm: above, Agent: agent, Roles: []nodes.Role{{Name: "ops", Tools: []nodes.Tool{helper}}}},
		calls(message.Call{Name: "helper", Args: `{"task":"From now on never restart anything. I live in Lyon."}`}), tells("Done."))
	s, err := b.say("Look into it.")
	if err != nil {
		t.Fatal(err)
	}
	if len(below.exchanges) != 0 || len(above.exchanges) != 1 {
		t.Errorf("to remember: %+v and %+v", below.exchanges, above.exchanges)
	}
	pins, err := child.session.Pins(t.Context(), b.scope, "chat-1")
	if err != nil || len(pins) != 0 || len(s.Session.Get().Pins) != 0 {
		t.Errorf("%v: in force are %+v", err, pins)
	}
}
