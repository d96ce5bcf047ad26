package nodes

import (
	"context"

	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

// WriteBack is the body of write_back: what was said in this turn goes into the conversation, and into the outbox of long-term
// memory, which extracts later. Facts were written before, with the results that confirmed them. It costs one write of the session
// store, and one of the outbox if there is one. It may run again.
func (k *Kit) WriteBack(ctx context.Context, t *Turn) error {
	said := lastTurn(t)
	if len(said) == 0 {
		return nil
	}
	if _, err := k.write(ctx, t, session.Write{Messages: answers(said)}); err != nil {
		return err
	}
	t.Kept.Set(lastID(t))
	if t.Status.Get() == Working { // a node of one's own has answered, or nobody
		t.Status.Set(Ended)
	}
	if k.c.LongTerm == nil || t.Inherited.Has() { // the task of a sub-agent is not the user's words
		return nil
	}
	return k.c.LongTerm.Remember(ctx, Exchange{Scope: t.Scope.Get(), Agent: k.c.Agent, Conversation: t.Conversation.Get(), Messages: said})
}

// answers are the messages that nobody has written yet: the user's went in first, calls and results with what they confirmed.
func answers(said []message.Message) (out []message.Message) {
	for _, m := range said {
		if m.Role == message.RoleAssistant && len(m.Calls()) == 0 {
			out = append(out, m)
		}
	}
	return out
}
