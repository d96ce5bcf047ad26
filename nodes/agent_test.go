package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/state"
)

// shop is a user's state.
type shop struct {
	nodes.Turn
	Refunds state.List[string] `json:"refunds"`
}

// Lines answer requests one after the other, and keeps them.
type lines struct {
	mu       sync.Mutex
	steps    []func(r nodes.Request) (nodes.Answer, error)
	requests []nodes.Request
}

func (s *lines) Generate(ctx context.Context, r nodes.Request, stream func(nodes.Delta)) (nodes.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := message.Valid(r.Messages); err != nil {
		return nodes.Answer{}, &nodes.ModelError{Kind: nodes.KindInvalid, Text: err.Error()}
	}
	s.requests = append(s.requests, r)
	if len(s.requests) > len(s.steps) {
		return nodes.Answer{}, errors.New("the script is at its end")
	}
	a, err := s.steps[len(s.requests)-1](r)
	if err == nil && stream != nil {
		stream(nodes.Delta{Text: a.Message.Text()})
	}
	return a, err
}

func tells(text string) func(nodes.Request) (nodes.Answer, error) {
	return func(nodes.Request) (nodes.Answer, error) {
		return nodes.Answer{Message: message.Assistant(text), Stop: nodes.StopEnd, Usage: nodes.Usage{Input: 10, Output: 2}}, nil
	}
}

func calls(cs ...message.Call) func(nodes.Request) (nodes.Answer, error) {
	return func(nodes.Request) (nodes.Answer, error) {
		return nodes.Answer{Message: message.Assistant("", cs...), Stop: nodes.StopEnd}, nil
	}
}

func fails(err error) func(nodes.Request) (nodes.Answer, error) {
	return func(nodes.Request) (nodes.Answer, error) { return nodes.Answer{}, err }
}

// A bench is an agent over lines, in memory.
type bench struct {
	*testing.T
	script  *lines
	store   checkpoint.Store
	session *session.Store
	kit     *nodes.Kit
	app     *graph.App[shop]
	scope   memory.Scope
	thread  graph.Thread
}

func newBench(t *testing.T, c nodes.Config, steps ...func(nodes.Request) (nodes.Answer, error)) *bench {
	t.Helper()
	b := &bench{T: t, script: &lines{steps: steps}, store: new(checkpoint.Memory), thread: graph.ID("chat-1")}
	b.scope, _ = memory.NewScope("acme", "ann")
	var err error
	if b.session, err = session.NewMemory(session.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.session.Close() })
	c.Session = b.session
	if len(c.Roles) == 0 {
		c.Roles = []nodes.Role{{Name: "support"}}
	}
	for i := range c.Roles {
		if c.Roles[i].Models == nil {
			c.Roles[i].Models = []nodes.Model{b.script}
		}
		if c.Roles[i].System == nil {
			c.Roles[i].System = []string{"You help with orders."}
		}
	}
	if b.kit, err = nodes.New(c); err != nil {
		t.Fatal(err)
	}
	b.compile()
	return b
}

func (b *bench) compile() {
	b.Helper()
	app, err := nodes.Agent[shop]("shop", b.kit).Compile(graph.Options{Store: b.store})
	if err != nil {
		b.Fatal(err)
	}
	b.app = app
	b.Cleanup(func() { app.Close(context.Background()) })
}

func (b *bench) say(text string) (*shop, error) {
	return b.app.Run(b.Context(), b.thread, nodes.Input[shop](b.scope, message.User(text)))
}

// hears says a text and returns the answer.
func (b *bench) hears(text string) string {
	b.Helper()
	s, err := b.say(text)
	if err != nil {
		b.Fatal(err)
	}
	return nodes.Reply(&s.Turn).Text()
}

// R26: messages are appended, turn after turn.
func TestATurnOfPlainText(t *testing.T) {
	t.Parallel()
	b := newBench(t, nodes.Config{}, tells("Hello."), tells("Again."))
	if got := b.hears("hi"); got != "Hello." {
		t.Fatalf("it says %q", got)
	}
	if got := b.hears("and?"); got != "Again." {
		t.Fatalf("it says %q", got)
	}
	page, err := b.session.Messages(t.Context(), b.scope, "chat-1", session.Page{})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range page {
		texts = append(texts, fmt.Sprintf("%s:%s", m.Role, m.Text()))
	}
	if got := strings.Join(texts, " "); got != "user:hi assistant:Hello. user:and? assistant:Again." {
		t.Errorf("the conversation has %s", got)
	}
	s, err := b.app.State(t.Context(), b.thread)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.State.Spent.Input.Get(); got != 20 {
		t.Errorf("20 tokens were used, %d are counted", got)
	}
	if s.State.Status.Get() != nodes.Answered {
		t.Errorf("the status is %q", s.State.Status.Get())
	}
}
