package nodes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// newKeeper is an agent with the tools of memory.
func newKeeper(t *testing.T, steps ...func(nodes.Request) (nodes.Answer, error)) (*bench, nodes.Memories, memory.Agent) {
	a := agentOf(t, memory.Internal, "shop")
	m := newMemories(t, longterm.Options{Rules: likes})
	return newBench(t, nodes.Config{LongTerm: m, Agent: a, Roles: []nodes.Role{{Name: "care", Tools: m.Tools(a)}}}, steps...), m, a
}

// result is what the last call of a tool came to, as the model reads it.
func (b *bench) result() string {
	for _, r := range b.script.requests {
		takes(b.T, r)
	}
	all := b.script.requests[len(b.script.requests)-1].Messages
	r := all[len(all)-1].Results()
	if len(r) == 0 {
		b.Fatalf("the last message is no result: %+v", all[len(all)-1])
	}
	return r[0].Text()
}

func remember(quote string) func(nodes.Request) (nodes.Answer, error) {
	args, _ := json.Marshal(map[string]string{"quote": quote, "kind": "semantic"})
	return calls(message.Call{Name: "remember", Args: string(args)})
}

// R83, T23: what a user asks to keep is there in the next search, in another conversation; what they ask to forget is shown to them, and after
// their word it is gone in the next search, and from the list.
func TestUsersKeepListAndForget(t *testing.T) {
	t.Parallel()
	var id string
	forget := func(nodes.Request) (nodes.Answer, error) {
		return calls(message.Call{Name: "forget", Args: `{"ids":["` + id + `"]}`})(nodes.Request{})
	}
	b, m, a := newKeeper(t, remember("My flat is on the fifth floor."), tells("Kept."), tells("The fifth."),
		calls(message.Call{Name: "memories", Args: "{}"}), tells("That."), forget, tells("Not forgotten."), forget, tells("Forgotten."), tells("I do not know."),
		calls(message.Call{Name: "memories", Args: `{"about":"flat"}`}), tells("Nothing."))
	b.hears("Please remember: My flat is on the fifth floor.")
	if got := b.result(); !strings.HasPrefix(got, "stored ") {
		t.Errorf("remembering says %q", got)
	}
	two := b.elsewhere("chat-2")
	two.hears("On which floor is my flat?")
	if got := b.last(); !strings.Contains(got, "> My flat is on the fifth floor.") {
		t.Errorf("the next turn is told %s", got)
	}
	two.hears("What do you know about me?")
	var list []struct{ ID, Text string }
	if err := json.Unmarshal([]byte(b.result()), &list); err != nil || len(list) != 1 || list[0].Text != "My flat is on the fifth floor." {
		t.Fatalf("the list is %s, %v", b.result(), err)
	}
	id = list[0].ID
	for _, d := range []nodes.Decision{nodes.Reject("no"), nodes.Approve()} {
		_, err := two.say("Forget that.")
		q := waits(t, err, 1)[0]
		p, err := graph.PromptOf[nodes.Approval](q)
		if err != nil || !strings.Contains(p.Reason, "My flat is on the fifth floor.") || q.NotBy != "" {
			t.Errorf("the user is asked %+v, %v", p, err)
		}
		if got := known(t, m, b.scope, a); got == "" {
			t.Errorf("it is forgotten before the user's word")
		}
		if _, err := two.app.Resume(t.Context(), two.thread, graph.Answer(q, d).By("ann")); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.result(); got != "forgotten: 1" {
		t.Errorf("forgetting says %q", got)
	}
	three := b.elsewhere("chat-3")
	three.hears("On which floor is my flat?")
	if got := b.last(); strings.Contains(got, "fifth") {
		t.Errorf("after it was forgotten the model is told %s", got)
	}
	three.hears("What do you know of my flat?")
	if got := b.result(); got != "[]" {
		t.Errorf("the list is %s", got)
	}
}

// R77, T15: only words of the user's own message are kept as theirs: not a model's, not those of an earlier message, not those of a tool.
func TestToolsKeepNoWordsOfTheModel(t *testing.T) {
	t.Parallel()
	for _, quote := range []string{"She has a dog", "hello there", ""} {
		b, m, a := newKeeper(t, tells("Hi, I am here for you."), remember(quote), tells("No."))
		b.hears("hello there")
		b.hears("Remember what I need.")
		if got := b.result(); !strings.Contains(got, "quote them exactly") {
			t.Errorf("%q: remembering says %q", quote, got)
		}
		if got := known(t, m, b.scope, a); got != "" {
			t.Errorf("%q: known is %q", quote, got)
		}
	}
}

// The task of a sub-agent is no word of the user's.
func TestSubAgentKeepsNothingOfTheUser(t *testing.T) {
	t.Parallel()
	child, m, a := newKeeper(t, remember("I have a dog"), tells("Kept?"))
	helper := nodes.SubAgent("helper", "Helps.", child.app, nodes.SubAgentOptions{})
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "main", Tools: []nodes.Tool{helper}}}},
		calls(message.Call{Name: "helper", Args: `{"task":"Remember: I have a dog"}`}), tells("Done."))
	b.hears("hi")
	if got := child.result(); !strings.Contains(got, "quote them exactly") || known(t, m, b.scope, a) != "" {
		t.Errorf("remembering says %q, known is %q", got, known(t, m, b.scope, a))
	}
}

// R68, R93: a secret is not kept because the model asks for it, and the ids of another user's memories are not there.
func TestToolsRefuse(t *testing.T) {
	t.Parallel()
	b, m, a := newKeeper(t, remember("sk-live-4eC39HqLyjWDarjtT1zdp7dc9Gk2"), tells("No."))
	b.hears("Remember my key: sk-live-4eC39HqLyjWDarjtT1zdp7dc9Gk2")
	if got := b.result(); !strings.Contains(got, "not kept: secret") || known(t, m, b.scope, a) != "" {
		t.Errorf("remembering a key says %q, known is %q", got, known(t, m, b.scope, a))
	}
	id := keep(t, m, scopeOf(t, "bob"), a, fact("Bob has a boat."))[0]
	b.script.steps = append(b.script.steps, calls(message.Call{Name: "forget", Args: `{"ids":["` + id + `"]}`}), tells("No."))
	_, err := b.say("Forget the boat")
	q := waits(t, err, 1)[0]
	if p, err := graph.PromptOf[nodes.Approval](q); err != nil || strings.Contains(p.Reason, "boat") {
		t.Errorf("the user is shown %+v, %v", p, err)
	}
	if _, err := b.app.Resume(t.Context(), b.thread, graph.Answer(q, nodes.Approve()).By("ann")); err != nil {
		t.Fatal(err)
	}
	if got := b.result(); !strings.Contains(got, "no such item") || known(t, m, scopeOf(t, "bob"), a) != "Bob has a boat." {
		t.Errorf("forgetting what is another's says %q", got)
	}
}
