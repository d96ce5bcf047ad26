package openai

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// An assembly puts an answer together from the events of its stream.
type assembly struct {
	stream func(nodes.Delta)

	text, reasoning joined
	calls           []*call
	byIndex         map[int]*call // the latest call at each index

	started bool // the endpoint has taken the request
	refused bool // the text is a refusal
	done    bool // [DONE] has arrived
	finish  string
	usage   nodes.Usage
	model   string
}

// A call is one that is still being written.
type call struct {
	at   int // in the answer
	sent string
	id   string // as sent, or made if that was missing or taken
	name string
	args joined
}

func newAssembly(stream func(nodes.Delta)) *assembly {
	if stream == nil {
		stream = func(nodes.Delta) {}
	}
	return &assembly{stream: stream, byIndex: map[int]*call{}}
}

func (a *assembly) add(c chunk) {
	if c.Model != "" {
		a.model = c.Model
	}
	a.count(c.Usage)
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // one was asked for
		}
		a.count(choice.Usage)
		a.delta(choice.Delta)
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
}

// count keeps the latest usage: some endpoints tell it in every event.
func (a *assembly) count(u *usage) {
	if u != nil {
		a.usage = u.told()
	}
}

func (a *assembly) delta(d delta) {
	a.say(nodes.Delta{Reasoning: a.reasoning.add(d.reasoning())})
	a.say(nodes.Delta{Text: a.text.add(d.Content.bytes())})
	if refusal := d.Refusal.bytes(); len(refusal) > 0 {
		a.refused = true
		a.say(nodes.Delta{Text: a.text.add(refusal)})
	}
	for _, t := range d.ToolCalls {
		a.call(t)
	}
}

// say tells the caller what has arrived, if that is anything.
func (a *assembly) say(d nodes.Delta) {
	if d.Text != "" || d.Reasoning != "" || d.Call != nil {
		a.stream(d)
	}
}

func (a *assembly) call(t callDelta) {
	c := a.find(t)
	if c == nil {
		c = &call{at: len(a.calls)}
		a.calls = append(a.calls, c)
	}
	if t.Index != nil {
		a.byIndex[*t.Index] = c
	}
	d := nodes.CallDelta{Index: c.at}
	if c.sent == "" && t.ID != "" {
		c.sent = t.ID
		c.id = a.free(t.ID)
		d.ID = c.id
	}
	if name := t.Function.Name; c.name == "" || name != c.name && c.args.String() == "" {
		c.name += name // some write it in pieces, some repeat it
		d.Name = name
	}
	d.Args = c.args.add(t.args())
	if d.ID != "" || d.Name != "" || d.Args != "" {
		a.say(nodes.Delta{Call: &d})
	}
}

// find returns the call that a delta belongs to, nil for a new one.
func (a *assembly) find(t callDelta) *call {
	var c *call
	switch {
	case t.Index != nil:
		c = a.byIndex[*t.Index]
	case t.ID != "":
		c = a.sent(t.ID)
	case len(a.calls) > 0:
		c = a.calls[len(a.calls)-1]
	}
	if c == nil || t.ID != "" && c.sent != "" && t.ID != c.sent {
		return nil
	}
	if t.ID == "" && t.Function.Name != "" && len(t.args()) > 0 && isObject(c.args.String()) {
		return nil // nothing can follow what is whole
	}
	return c
}

// sent returns the latest call with the id.
func (a *assembly) sent(id string) *call {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if a.calls[i].sent == id {
			return a.calls[i]
		}
	}
	return nil
}

// free returns the id, or a made one if an earlier call of the answer has it.
func (a *assembly) free(id string) string {
	for _, c := range a.calls {
		if c.id == id {
			return madeID()
		}
	}
	return id
}

func madeID() string { return "call_" + rand.Text() }

// errBroken is behind the error of a stream that has an event without JSON, as it has when it ends in the middle of one.
var errBroken = errors.New("an event of the stream is no JSON")

// end completes the answer, or says why it is none.
func (a *assembly) end(output bool) error {
	if !a.done || a.finish == "" {
		return &nodes.ModelError{Kind: nodes.KindCut, Text: "the stream ended without finish_reason and [DONE]"}
	}
	a.flush()
	if err := a.ending(); err != nil {
		return err
	}
	if a.refused && output {
		return &nodes.ModelError{Kind: nodes.KindFiltered, Code: "refusal", Text: a.text.String()}
	}
	for _, c := range a.calls {
		if c.name == "" {
			return &nodes.ModelError{Kind: nodes.KindInvalid, Text: fmt.Sprintf("the answer calls a tool without a name (id %q)", c.id)}
		}
	}
	if len(a.calls) == 0 && blank(a.text.String()) {
		return a.empty()
	}
	return nil
}

// flush tells the rest: halves of characters, and ids of calls that came without.
func (a *assembly) flush() {
	a.say(nodes.Delta{Reasoning: a.reasoning.end()})
	a.say(nodes.Delta{Text: a.text.end()})
	for _, c := range a.calls {
		d := nodes.CallDelta{Index: c.at, Args: c.args.end()}
		if c.id == "" {
			c.id = madeID()
			d.ID = c.id
		}
		if d.ID != "" || d.Args != "" {
			a.say(nodes.Delta{Call: &d})
		}
	}
}

// ending judges the finish_reason. One that is not known may be that of a failure.
func (a *assembly) ending() error {
	switch a.finish {
	case "tool_calls", "function_call":
		if len(a.calls) == 0 {
			return &nodes.ModelError{Kind: nodes.KindCut, Code: a.finish, Text: "the model stopped to call tools, and no call has arrived"}
		}
		return nil
	case "stop", "eos", "eos_token", "stop_sequence", "end_turn":
		return nil
	case "length", "max_tokens":
		for _, c := range a.calls {
			if !isObject(c.args.String()) {
				return &nodes.ModelError{Kind: nodes.KindCut, Code: "length",
					Text: fmt.Sprintf("the limit of output tokens was reached inside the call of %s: raise MaxTokens", c.name)}
			}
		}
		return nil
	case "content_filter", "sensitive":
		return &nodes.ModelError{Kind: nodes.KindFiltered, Code: a.finish, Text: "the provider's filter ended the answer"}
	case "insufficient_system_resource":
		return &nodes.ModelError{Kind: nodes.KindUnavailable, Code: a.finish, Text: "the provider gave the answer up"}
	}
	return &nodes.ModelError{Kind: nodes.KindCut, Code: a.finish, Text: "the answer ended for no known reason"}
}

func (a *assembly) empty() error {
	e := &nodes.ModelError{Kind: nodes.KindEmpty}
	if a.stop() == nodes.StopLength {
		e.Text = "the limit of output tokens was reached before it said anything: raise MaxTokens"
	}
	return e
}

func (a *assembly) stop() nodes.Stop {
	if a.finish == "length" || a.finish == "max_tokens" {
		return nodes.StopLength
	}
	return nodes.StopEnd
}

// whole is the answer. A blank text beside calls is left out, since no provider takes it back.
func (a *assembly) whole() nodes.Answer {
	var calls []message.Call
	for _, c := range a.calls {
		calls = append(calls, message.Call{ID: c.id, Name: c.name, Args: c.args.String()})
	}
	return nodes.Answer{Message: a.message(calls...), Stop: a.stop(), Usage: a.usage, Model: a.model}
}

// partial is what there is of an answer that failed.
func (a *assembly) partial() nodes.Answer {
	m := a.message()
	m.Partial = true
	return nodes.Answer{Message: m, Usage: a.usage, Model: a.model}
}

func (a *assembly) message(calls ...message.Call) message.Message {
	text := a.text.String()
	if blank(text) {
		text = ""
	}
	m := message.Assistant(text, calls...)
	if r := a.reasoning.String(); r != "" {
		m.Parts = append([]message.Part{message.Reasoning(r, "")}, m.Parts...)
	}
	return m
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// isObject reports whether a text is one JSON object.
func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}
