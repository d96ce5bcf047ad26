package nodes_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// providerName is what providers take as the name of a tool.
var providerName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Whatever a model writes, the turn ends with an answer, the next one too, and every provider takes what it is shown.
func TestGarbageOfAModel(t *testing.T) {
	t.Parallel()
	text := func(s string) message.Part { return message.Text(s) }
	call := func(name, args string) message.Part {
		return message.Part{Kind: message.KindCall, Call: &message.Call{ID: "x", Name: name, Args: args}}
	}
	result := message.Call{ID: "x", Name: "look"}.Done("made up")
	for name, parts := range map[string][]message.Part{
		"text of other bytes":     {text("half a rune \xe4\xb8")},
		"reasoning of such":       {message.Reasoning("hm \xff", "sig\xff"), text("fine")},
		"no name":                 {call("", "{}")},
		"name of other bytes":     {call("lo\xffok", "{}")},
		"name with spaces":        {call("look it up", "{}")},
		"dotted name":             {call("functions.look", "{}")},
		"endless name":            {call(strings.Repeat("look", 100), "{}")},
		"arguments of such bytes": {call("look", "{\"a\":\"\xff\"}")},
		"no arguments":            {call("look", "")},
		"arguments cut short":     {call("look", `{"a":`)},
		"lone surrogates":         {call("look", `{"a":"\ud800"}`)},
		"a megabyte":              {call("look", `{"a":"`+strings.Repeat("word ", 200_000)+`"}`)},
		"a megabyte of none":      {call("look", strings.Repeat("x", 1<<20))},
		"the same call twice":     {call("look", "{}"), call("look", "{}")},
		"empty parts":             {text(""), text(" "), {}, call("look", "{}"), text("")},
		"replacement characters":  {text("\ufffd\ufffd"), call("look", "{}")},
		"a result":                {text("fine"), {Kind: message.KindResult, Result: &result}},
		"a call with a result":    {call("look", "{}"), {Kind: message.KindResult, Result: &result}},
		"a call without one":      {text("fine"), {Kind: message.KindCall}},
		"a call in a text":        {{Kind: message.KindText, Text: "fine", Call: &message.Call{Name: "no name"}}},
		"an unknown kind":         {text("fine"), {Kind: "video", Text: "v"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := nodes.NewTool("look", "Looks.", func(context.Context, struct{}) (string, error) { return "seen", nil }, nodes.ToolOptions[struct{}, string]{ReadOnly: true})
			n := 0
			model := nodes.ModelFunc(func(_ context.Context, r nodes.Request, _ func(nodes.Delta)) (nodes.Answer, error) {
				takes(t, r)
				if n++; n == 1 {
					return nodes.Answer{Message: message.Message{Role: message.RoleUser, Parts: parts}, Stop: nodes.StopEnd}, nil
				}
				return nodes.Answer{Message: message.Assistant("fine"), Stop: nodes.StopEnd}, nil
			})
			b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{model}, Tools: []nodes.Tool{look}}}})
			b.hears("hi")
			if got := b.hears("and?"); got != "fine" {
				t.Errorf("it says %q", got)
			}
			page, err := b.session.Messages(t.Context(), b.scope, "chat-1", session.Page{})
			if err != nil || len(page) < 4 || page[len(page)-1].Text() != "fine" {
				t.Errorf("%v: the conversation has %d messages", err, len(page))
			}
		})
	}
}

// takes fails a test if a strict provider would not take a request.
func takes(t *testing.T, r nodes.Request) {
	t.Helper()
	if err := message.Valid(r.Messages); err != nil {
		t.Error(err)
	}
	for _, m := range r.Messages {
		for _, c := range m.Calls() {
			if !providerName.MatchString(c.Name) {
				t.Errorf("no provider takes a call of %.80q", c.Name)
			}
		}
	}
}

// What was written before a stop may end in the middle of a rune.
func TestStoppedInTheMiddleOfARune(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	model := nodes.ModelFunc(func(context.Context, nodes.Request, func(nodes.Delta)) (nodes.Answer, error) {
		cancel()
		return nodes.Answer{Message: message.Assistant("你好\xe4\xb8")}, ctx.Err()
	})
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{model}}}})
	_, err := b.app.Run(ctx, b.thread, nodes.Input[shop](b.scope, message.User("hi")))
	s, serr := b.app.State(t.Context(), b.thread)
	if serr != nil {
		t.Fatal(serr)
	}
	if last, _ := s.State.Messages.Last(); !last.Partial || !strings.HasPrefix(last.Text(), "你好") {
		t.Errorf("%v: the last message is %+v", err, last)
	}
}

// A success that the model itself marks as cut is none.
func TestPartialSuccess(t *testing.T) {
	t.Parallel()
	half := message.Assistant("half a sen")
	half.Partial = true
	b := newBench(t, nodes.Config{}, func(nodes.Request) (nodes.Answer, error) {
		return nodes.Answer{Message: half, Stop: nodes.StopEnd}, nil
	}, tells("whole"))
	if got := b.hears("hi"); got != "whole" {
		t.Errorf("it says %q", got)
	}
}

// A time-out of the node is an error of it: the model is not asked over and over.
func TestTimeoutOfTheNode(t *testing.T) {
	t.Parallel()
	n := 0
	model := nodes.ModelFunc(func(ctx context.Context, _ nodes.Request, _ func(nodes.Delta)) (nodes.Answer, error) {
		n++
		<-ctx.Done()
		return nodes.Answer{Message: message.Assistant(fmt.Sprint("half ", n))}, ctx.Err()
	})
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{model}}}})
	g := nodes.Agent[shop]("shop", b.kit)
	g.Policy(nodes.NodeCallModel, graph.Policy{Timeout: 20 * time.Millisecond})
	app, err := g.Compile(graph.Options{Store: b.store})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	if _, err := app.Run(t.Context(), b.thread, nodes.Input[shop](b.scope, message.User("hi"))); err == nil || n > 1 {
		t.Errorf("the model was asked %d times: %v", n, err)
	}
}
