package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/examples/aftersales/script"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

// Each dialogue with a model behind HTTP: a provider that refuses what any provider refuses is content with every request, and the
// script at the other end of the wire says what it says in the process itself. // R31
func TestDialoguesWithAProvider(t *testing.T) {
	t.Parallel()
	for _, d := range dialogues {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p := openaitest.New(openaitest.Config{Answer: func(r openaitest.Request) openaitest.Reply { return answer(t, r) }})
			t.Cleanup(p.Close)
			s := newStage(t, d)
			s.Model = p.URL
			if _, err := s.perform(); err != nil {
				t.Fatal(err)
			}
			got, err := s.look(t)
			if err != nil {
				t.Fatal(err)
			}
			d.check(t, got)
			if refused := p.Refused(); len(refused) > 0 || len(p.Requests()) == 0 {
				t.Errorf("%d requests; refused: %q", len(p.Requests()), refused)
			}
		})
	}
}

// The program talks to the model that the environment names, and says what is missing there.
func TestTheEnvironmentNamesTheModel(t *testing.T) {
	t.Parallel()
	p := openaitest.New(openaitest.Config{Answer: func(r openaitest.Request) openaitest.Reply { return answer(t, r) }, APIKey: "key"})
	t.Cleanup(p.Close)
	db := filepath.Join(t.TempDir(), "a.db")
	r := execute(t, []string{"OPENAI_BASE_URL=" + p.URL, "OPENAI_API_KEY=key", "OPENAI_MODEL=m"}, "Where is my latest order?\n", "-db", db, "-lang", "en")
	r.wantLines(t, "-> latest_order", "agent: Order 1005")
	asked := slices.DeleteFunc(p.Requests(), func(r openaitest.Request) bool { return len(r.Tools) == 0 }) // what is worth keeping is asked in the background
	if len(asked) != 2 || asked[0].Model != "m" {
		t.Errorf("the provider was asked %d times", len(asked))
	}
	r = execute(t, []string{"OPENAI_API_KEY=key"}, "", "-db", db, "-lang", "en")
	if r.code != exitFailed || !strings.Contains(r.stderr, "OPENAI_MODEL is not set") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// answer has the script answer a request that came over the wire. One without tools asks what is worth keeping, and the script finds nothing.
func answer(t *testing.T, r openaitest.Request) openaitest.Reply {
	if len(r.Tools) == 0 {
		return openaitest.Reply{Text: "[]"}
	}
	var request nodes.Request
	for _, m := range r.Messages {
		request.Messages = append(request.Messages, received(m))
	}
	for _, tool := range r.Tools {
		request.Tools = append(request.Tools, working.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
	}
	a, err := script.Model{}.Generate(context.Background(), request, nil)
	if err != nil {
		t.Error(err)
	}
	reply := openaitest.Reply{Text: a.Message.Text()}
	for _, c := range a.Message.Calls() {
		reply.Calls = append(reply.Calls, openaitest.Call{ID: c.ID, Name: c.Name, Args: c.Args})
	}
	return reply
}

// received is a message as it was before it was sent. A result that is no success begins with its status in brackets.
func received(m openaitest.Message) message.Message {
	out := message.Message{Role: message.Role(m.Role)}
	if m.CallID == "" {
		if m.Text() != "" {
			out.Parts = append(out.Parts, message.Text(m.Text()))
		}
		for _, c := range m.Calls {
			out.Parts = append(out.Parts, message.Part{Kind: message.KindCall, Call: &message.Call{ID: c.ID, Name: c.Name, Args: c.Args}})
		}
		return out
	}
	r := message.Result{CallID: m.CallID, Status: message.StatusOK}
	text := m.Text()
	if status, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), "] "); ok && strings.HasPrefix(text, "[") && !strings.ContainsAny(status, "{,") {
		r.Status, text = message.Status(status), rest
	}
	r.Parts = []message.Part{message.Text(text)}
	return message.Message{Role: message.RoleTool, Parts: []message.Part{{Kind: message.KindResult, Result: &r}}}
}
