package nodes

import (
	"context"
	"errors"
	"slices"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

// WriteBack is the body of write_back: what was said in this turn goes into the conversation, and into the outbox of long-term
// memory, which extracts later. Facts were written before, with the results that confirmed them. It costs one write of the session
// store, and one of the outbox if there is one, for each turn that it was not told yet. It may run again. Long-term memory of a user who
// was erased is told nothing, which is logged; where the conversation was erased too the write of the session store is memory.ErrErased.
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
	return k.tell(ctx, t)
}

// tell puts each turn since the latest one that long-term memory was told into its outbox: the turn before may have been stopped, or
// the outbox was away. A turn that was compacted away meanwhile is not told any more.
func (k *Kit) tell(ctx context.Context, t *Turn) error {
	for _, said := range untold(t) {
		e := Exchange{Scope: t.Scope.Get(), Agent: k.c.Agent, Conversation: t.Conversation.Get(), Messages: said}
		err := k.c.LongTerm.Remember(ctx, e)
		if errors.Is(err, memory.ErrErased) { // what erases memory leaves a conversation that can be gone on with
			k.c.Logger.Warn("nodes: nothing is remembered of a user who was erased")
			err = nil
		}
		if err != nil {
			return err
		}
		t.Told.Set(said[0].ID)
	}
	return nil
}

// untold are the turns behind the latest one that was told, oldest first; the last turn alone where none was told, or that one is gone.
// A turn is told again if more was said in it.
func untold(t *Turn) (turns [][]message.Message) {
	told := t.Told.Get()
	var turn []message.Message
	for _, m := range t.Messages.Backward() {
		turn = append(turn, m)
		if m.Role != message.RoleUser {
			continue
		}
		if m.ID == told && len(turns) > 0 {
			return turns
		}
		slices.Reverse(turn)
		turns, turn = slices.Insert(turns, 0, turn), nil
		if m.ID == told || told == "" {
			return turns
		}
	}
	return turns[max(len(turns)-1, 0):]
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
