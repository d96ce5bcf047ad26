package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

// A stopper cancels the run at one of its moments.
type stopper struct {
	over   atomic.Bool // the turn has ended
	at     string      // of the moments "store 3", "model 7", "tool look"
	cancel func()
	hit    atomic.Bool
}

func (s *stopper) moment(name string) {
	if name == s.at && !s.over.Load() && s.hit.CompareAndSwap(false, true) {
		s.cancel()
	}
}

// reports 1, 2, 5, 9, 10: whenever a turn is cancelled, the strictest provider takes the next one.
func TestCancelAtEveryMoment(t *testing.T) {
	t.Parallel()
	var moments []string
	for n := 1; n <= 12; n++ {
		moments = append(moments, fmt.Sprint("store ", n))
	}
	for n := range 12 {
		moments = append(moments, fmt.Sprint("model ", n))
	}
	moments = append(moments, "tool look", "tool pay", "question", "never")
	hits := atomic.Int64{}
	t.Run("moments", func(t *testing.T) {
		for _, at := range moments {
			t.Run(at, func(t *testing.T) {
				t.Parallel()
				if cancelAt(t, at) {
					hits.Add(1)
				}
			})
		}
	})
	if n := int(hits.Load()); n < len(moments)-8 {
		t.Errorf("only %d of %d moments have come", n, len(moments))
	}
}

func cancelAt(t *testing.T, at string) bool {
	s := &stopper{at: at}
	provider := openaitest.New(openaitest.Config{Answer: func(r openaitest.Request) openaitest.Reply {
		last := r.Messages[len(r.Messages)-1]
		reply := openaitest.Reply{Text: "It will be with you on Friday."}
		if last.Role == "user" && last.Text() == "look and pay" {
			reply = openaitest.Reply{Text: "A moment.", Calls: []openaitest.Call{{ID: "c1", Name: "look", Args: `{}`}, {ID: "c2", Name: "pay", Args: `{}`}, {ID: "c3", Name: "ask", Args: `{}`}}}
		}
		reply.Sent = func(n int) { s.moment(fmt.Sprint("model ", n)) }
		return reply
	}})
	defer provider.Close()
	model, err := openai.New(openai.Options{BaseURL: provider.URL, Model: "test"})
	if err != nil {
		t.Fatal(err)
	}
	conversations, err := session.NewMemory(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conversations.Close()
	tool := func(name string, o nodes.ToolOptions[struct{}, string]) nodes.Tool {
		return nodes.NewTool(name, "Does it.", func(ctx context.Context, _ struct{}) (string, error) {
			s.moment("tool " + name)
			return "done", ctx.Err()
		}, o)
	}
	kit, err := nodes.New(nodes.Config{Session: conversations, Roles: []nodes.Role{{Name: "support", System: []string{"You help."}, Models: []nodes.Model{model}, Tools: []nodes.Tool{
		tool("look", nodes.ToolOptions[struct{}, string]{ReadOnly: true}), tool("pay", nodes.ToolOptions[struct{}, string]{}),
		tool("ask", nodes.ToolOptions[struct{}, string]{Policy: nodes.Ask}),
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	store := faultstore.New(new(checkpoint.Memory))
	n := atomic.Int64{}
	store.After = func(c *faultstore.Call) error {
		if c.Name == "Append" {
			s.moment(fmt.Sprint("store ", n.Add(1)))
		}
		return c.Err
	}
	app, err := nodes.Agent[shop]("shop", kit).Compile(graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	thread, cancelled := graph.ID("1"), make(chan error, 1)
	s.cancel = func() { go func() { cancelled <- app.Cancel(context.Background(), thread) }() }
	scope, _ := memory.NewScope("acme", "ann")
	say := func(text string) (*shop, error) {
		return app.Run(t.Context(), thread, nodes.Input[shop](scope, message.User(text)))
	}

	_, err = say("look and pay")
	if open, ok := errors.AsType[*graph.Interrupted](err); ok {
		if at == "question" {
			s.moment(at)
			if err := <-cancelled; err != nil {
				t.Fatal(err)
			}
			cancelled <- nil
		} else if _, err = app.Resume(t.Context(), thread, graph.Answer(open.Questions[0], nodes.Reject("no"))); err != nil && !late(err) {
			t.Fatal(err)
		}
	} else if err != nil && !errors.Is(err, graph.ErrCancelled) {
		t.Fatal(err)
	}
	s.over.Store(true)
	if s.hit.Load() {
		if err := <-cancelled; err != nil && !errors.Is(err, graph.ErrNothingToDo) && !errors.Is(err, graph.ErrNoThread) {
			t.Fatal(err)
		}
	}

	out, err := say("and now?")
	if err != nil {
		t.Fatalf("the next turn: %v", err)
	}
	if got := nodes.Reply(&out.Turn).Text(); got != "It will be with you on Friday." {
		t.Errorf("it says %q", got)
	}
	if refused := provider.Refused(); len(refused) > 0 {
		t.Errorf("the provider refuses: %q", refused)
	}
	if err := message.Valid(out.Messages.Slice()); err != nil {
		t.Error(err)
	}
	page, err := conversations.Messages(t.Context(), scope, "1", session.Page{})
	if err != nil {
		t.Fatal(err)
	}
	var said []message.Message
	for _, m := range page {
		said = append(said, m.Message)
	}
	if err := message.Valid(said); err != nil {
		t.Errorf("the conversation as it is kept: %v", err)
	}
	return s.hit.Load()
}

// late reports whether an answer met the cancel.
func late(err error) bool {
	for _, of := range []error{graph.ErrCancelled, graph.ErrNothingToDo, graph.ErrBusy, graph.ErrNotPending} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}
