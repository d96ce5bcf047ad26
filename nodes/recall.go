package nodes

import (
	"context"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A Query asks what is known about a message of the user.
type Query struct {
	Scope        memory.Scope
	Agent        memory.Agent
	Conversation string
	Text         string   // what the user said
	Entities     []string // values of confirmed facts: what "it" may stand for
}

// LongTerm is what one user told us, across conversations. memory/longterm has it.
type LongTerm interface {
	// Recall returns items for a prompt, none if nothing fits. A failure is logged and the turn goes on without.
	Recall(ctx context.Context, q Query) ([]working.Item, error)

	// Remember takes an exchange into a durable outbox and returns; extraction comes later. It may be called again with the
	// same exchange.
	Remember(ctx context.Context, e Exchange) error
}

// An Exchange is what was said in one turn, and to whom.
type Exchange struct {
	Scope        memory.Scope
	Agent        memory.Agent
	Conversation string
	Messages     []message.Message // the user's message and all that followed, with the results of tools
}

// Knowledge is what documents say. memory/knowledge has it.
type Knowledge interface {
	// Retrieve returns items for a prompt, none if no document fits. After a failure the model is told that documents could
	// not be read, so that it does not answer as if they said nothing.
	Retrieve(ctx context.Context, q Query) ([]working.Item, error)
}
