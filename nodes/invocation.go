package nodes

import (
	"context"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/message"
)

// An Invocation is what a tool's function may know about the call that it serves.
type Invocation struct {
	Call         message.Call
	Key          string // idempotency key: the same on every attempt, in every process. Pass it to whatever the tool calls
	Scope        memory.Scope
	Conversation string // id in the session store
	Role         string // who called

	// Said is the message of the user that the turn is about. A sub-agent has none: its task is the words of a model.
	Said message.Message
}

type invocationKey struct{}

// Current returns the call whose tool is called with this context, and false outside of one. AskIf, Facts and Then see it
// too, without a key.
func Current(ctx context.Context) (Invocation, bool) {
	in, ok := ctx.Value(invocationKey{}).(Invocation)
	return in, ok
}

func calling(ctx context.Context, in Invocation) context.Context {
	return context.WithValue(ctx, invocationKey{}, in)
}

// A ToolProgress is the value of an event named graph.ToolProgress.
type ToolProgress struct {
	Call string `json:"call"` // id of the call
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// Progress tells whoever watches the run how far a tool is. It costs next to nothing when nobody does, and returns
// ErrNoTurn outside of a tool.
func Progress(ctx context.Context, text string) error {
	in, ok := Current(ctx)
	if !ok {
		return ErrNoTurn
	}
	return graph.Emit(ctx, graph.ToolProgress, ToolProgress{in.Call.ID, in.Call.Name, text})
}

// conversationOf is the id of the Turn's conversation in the session store.
func conversationOf(ctx context.Context, t *Turn) string {
	if id := t.Conversation.Get(); id != "" {
		return id
	}
	info, _ := graph.Info(ctx)
	return info.Thread.ID
}
