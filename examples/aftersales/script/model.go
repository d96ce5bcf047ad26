package script

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// Name is what the model calls itself.
const Name = "script-1"

// A Model is the scripted model. The zero value answers at once.
type Model struct {
	Pace time.Duration // between two parts of an answer, so that people see it written
}

// Generate answers a request by rule. It fails only when ctx ends, and then returns what it had written.
func (m Model) Generate(ctx context.Context, r nodes.Request, stream func(nodes.Delta)) (nodes.Answer, error) {
	if stream == nil {
		stream = func(nodes.Delta) {}
	}
	text, wanted := read(r.Messages).next()
	calls, missing := allowed(r, wanted)
	if missing {
		text = choose(chinese(question(r.Messages)), "I cannot do that here.", "这件事我在这里办不了。")
	}
	written, err := m.write(ctx, text, stream)
	if err != nil {
		said := message.Assistant(written)
		said.Partial = true
		return nodes.Answer{Message: said, Model: Name}, err
	}
	for i, c := range calls {
		stream(nodes.Delta{Call: &nodes.CallDelta{Index: i, ID: c.ID, Name: c.Name}})
		stream(nodes.Delta{Call: &nodes.CallDelta{Index: i, Args: c.Args}})
	}
	said := message.Assistant(text, calls...)
	return nodes.Answer{Message: said, Stop: nodes.StopEnd, Model: Name, Usage: nodes.Usage{
		Input:  working.CountRequest(working.Estimate, r.Messages, r.Tools),
		Output: working.CountMessage(working.Estimate, said),
	}}, ctx.Err()
}

// allowed makes calls of what is wanted. Missing says that there is no tool for it, or that no tool may be called.
func allowed(r nodes.Request, wanted []want) (calls []message.Call, missing bool) {
	for _, w := range wanted {
		known := slices.ContainsFunc(r.Tools, func(t working.Tool) bool { return t.Name == w.tool })
		if !known || r.NoCalls {
			return nil, true
		}
		args, err := json.Marshal(w.args)
		if err != nil {
			return nil, true
		}
		calls = append(calls, message.Call{ID: "call_" + strings.ToLower(rand.Text()), Name: w.tool, Args: string(args)})
	}
	return calls, false
}

// write streams a text, a few characters at a time, and returns what was streamed when ctx ended.
func (m Model) write(ctx context.Context, text string, stream func(nodes.Delta)) (string, error) {
	written := 0
	for part := range slices.Chunk([]rune(text), 4) {
		select {
		case <-ctx.Done():
			return text[:written], ctx.Err()
		case <-time.After(m.Pace):
		}
		stream(nodes.Delta{Text: string(part)})
		written += len(string(part))
	}
	return text, ctx.Err()
}
