package nodes

import (
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/message"
)

// Input begins a turn: it is the input of App.Run for a state that embeds Turn. The scope is that of whoever sent the message, from
// the authenticated request.
//
//	app.With(nodes.RunOptions(scope, "chat-1", m)).Run(ctx, thread, nodes.Input[Shop](scope, m))
//
// With RunOptions a message of somebody else than the thread's user is graph.ErrOwner, before anything is written. Without them, or
// for another tenant's user of the same name, it is ErrForeign: nothing of the message is kept, but the run has begun, and the state
// that App.Run returns beside the error is the owner's. Do not show it.
//
// It replaces the scope of a Turn that has none, and adds nothing to one of another scope.
func Input[S any, P Embeds[S]](scope memory.Scope, m message.Message) func(*S) {
	return InputTo[S, P](scope, "", m)
}

// InputTo is Input into a conversation with an id of its own. It counts when the thread begins.
func InputTo[S any, P Embeds[S]](scope memory.Scope, conversation string, m message.Message) func(*S) {
	return func(s *S) { begin(P(s).embedsTurn(), scope, conversation, m) }
}

// RunOptions are those of the run that answers a message: whose thread it is (of another user's it is graph.ErrOwner) and who began it, the message's id as the request, so
// that one that is sent twice is answered once (graph.ErrDuplicate), and both ids as metadata, by which the directory of runs
// finds it.
//
//	app.With(nodes.RunOptions(scope, "chat-1", m)).Run(ctx, thread, nodes.Input[Shop](scope, m))
func RunOptions(scope memory.Scope, conversation string, m message.Message) graph.RunOptions {
	return graph.RunOptions{
		By: scope.User(), Owner: scope.User(), Request: m.ID,
		Meta: map[string]string{"conversation": conversation, "message": m.ID},
	}
}

// begin writes the input. A foreign message gets no further than its id: load_working_state refuses the run.
func begin(t *Turn, scope memory.Scope, conversation string, m message.Message) {
	if scope.Valid() != nil {
		return
	}
	t.Asked.Set(Asked{Scope: scope, Message: m.ID})
	if t.Scope.Has() && t.Scope.Get() != scope {
		return
	}
	if !t.Scope.Has() {
		t.Scope.Set(scope)
		if conversation != "" {
			t.Conversation.Set(conversation)
		}
	}
	t.Messages.Remove(m.ID) // one that is sent again is asked now, and not where it stood
	t.Messages.Append(m)
}

// Reply returns the answer of the last turn: the last message of the assistant that calls nothing, or an empty message.
func Reply(t *Turn) message.Message {
	for _, m := range t.Messages.Backward() {
		switch {
		case m.Role == message.RoleUser:
			return message.Message{}
		case m.Role == message.RoleAssistant && len(m.Calls()) == 0:
			return m
		}
	}
	return message.Message{}
}
