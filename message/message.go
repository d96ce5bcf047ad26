package message

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

// A Role says who speaks.
type Role string

// The roles. There are no others.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// A Message is one turn of one speaker. The zero value is no valid message: it has no id and no role.
type Message struct {
	ID    string `json:"id" description:"unique in its history"`
	Role  Role   `json:"role" enum:"system,user,assistant,tool"`
	Parts []Part `json:"parts"`

	// Partial marks an assistant message that was cut off while the model was still writing.
	Partial bool `json:"partial,omitzero" description:"cut off while it was written"`
}

// System returns an instruction to the model, with a new random id.
func System(text string) Message { return create(RoleSystem, []Part{Text(text)}) }

// User returns what a person says, with a new random id. More parts, such as images, follow the text.
func User(text string, more ...Part) Message {
	return create(RoleUser, append([]Part{Text(text)}, more...))
}

// Assistant returns what a model says and the calls it makes, with a new random id. An empty text adds no part.
func Assistant(text string, calls ...Call) Message {
	var parts []Part
	if text != "" {
		parts = append(parts, Text(text))
	}
	for _, c := range calls {
		parts = append(parts, Part{Kind: KindCall, Call: &c})
	}
	return create(RoleAssistant, parts)
}

// Tool returns the message that carries results back to the model, with a new random id.
func Tool(results ...Result) Message {
	var parts []Part
	for _, r := range results {
		parts = append(parts, Part{Kind: KindResult, Result: &r})
	}
	return create(RoleTool, parts)
}

func create(role Role, parts []Part) Message {
	return Message{ID: uuid.NewString(), Role: role, Parts: parts}
}

// Key returns the message's id, under which a state.Keyed keeps it.
func (m Message) Key() string { return m.ID }

// Text returns the text parts, joined by line breaks; those inside results too, reasoning not.
func (m Message) Text() string {
	var texts []string
	collectText(m.Parts, &texts)
	return strings.Join(texts, "\n")
}

func collectText(parts []Part, texts *[]string) {
	for _, p := range parts {
		switch {
		case p.Kind == KindText:
			*texts = append(*texts, p.Text)
		case p.Kind == KindResult && p.Result != nil:
			*texts = append(*texts, p.Result.Text())
		}
	}
}

// Calls returns the tool calls of the message in their order.
func (m Message) Calls() []Call {
	var calls []Call
	for _, p := range m.Parts {
		if p.Kind == KindCall && p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// Results returns the tool results of the message in their order. They share the parts of the message.
func (m Message) Results() []Result {
	var results []Result
	for _, p := range m.Parts {
		if p.Kind == KindResult && p.Result != nil {
			results = append(results, *p.Result)
		}
	}
	return results
}

// Clone returns a copy that shares nothing with m. It costs what the message is long.
func (m Message) Clone() Message {
	m.Parts = cloneParts(m.Parts)
	return m
}

func cloneParts(parts []Part) []Part {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i] = parts[i].clone()
	}
	return parts
}
