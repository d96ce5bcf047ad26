package nodes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

// settle writes the result of the call, into the session store first: what follows from it may be lost, but not it.
func (w *job) settle(ctx context.Context, e *effect) error {
	if err := graph.Heartbeat(ctx); err != nil { // a task that was left behind writes nothing any more
		return err
	}
	m, full := w.shortened(ctx, e.result(w.call))
	kept, err := w.keep(ctx, session.Write{Messages: w.asked(m), Results: full, Set: w.facts(ctx, e)})
	if err != nil {
		return err
	}
	t := w.turn
	if len(kept.Set) > 0 {
		t.Changed.Add(len(kept.Set))
	}
	t.Messages.Append(kept.Messages[len(kept.Messages)-1])
	for _, f := range kept.Results {
		t.Stored.Put(w.call.ID, f.ID)
	}
	return w.then(ctx, e)
}

// resultID is the id of the message with the result of a call: the same whenever the call is settled.
func resultID(call string) string { return plainID("tool-" + call) }

// plainID is an id that every store takes: a model may make up any.
func plainID(id string) string {
	if id != "" && len(id) <= session.MaxID && strings.IndexFunc(id, unicode.IsControl) < 0 && strings.ToValidUTF8(id, "") == id {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "h_" + hex.EncodeToString(sum[:16])
}

// shortened is the message with the result, cut to an excerpt if its text is over the limit, and the full text then.
func (w *job) shortened(ctx context.Context, r message.Result) (message.Message, []memory.Result) {
	m := message.Message{ID: resultID(w.call.ID), Role: message.RoleTool}
	text, limit := r.Text(), w.kit.resultCap()
	var full []memory.Result
	if w.kit.c.Counter.Count(text) > limit {
		scope, conversation, call := w.turn.Scope.Get(), conversationOf(ctx, w.turn), plainID(w.call.ID)
		id := memory.ResultID(scope, conversation, call, []byte(text))
		full = []memory.Result{{ID: id, Conversation: conversation, Call: call, Name: plainID(w.call.Name), Body: []byte(text)}}
		excerpt := compact.Excerpt(w.kit.c.Counter, text, compact.ExcerptOptions{MaxTokens: limit, Result: id, Question: w.question()})
		r.Parts = append([]message.Part{message.Text(excerpt)}, slices.DeleteFunc(slices.Clone(r.Parts), isText)...)
	}
	if w.note != "" {
		r.Parts = append([]message.Part{message.Text(w.note)}, r.Parts...)
	}
	m.Parts = []message.Part{{Kind: message.KindResult, Result: &r}}
	return m, full
}

func isText(p message.Part) bool { return p.Kind == message.KindText }

// resultCap is how many tokens of a result the model reads. It is the limit of the compactor, which would cut what is
// longer.
func (k *Kit) resultCap() int {
	o := k.c.Compact
	return cmp.Or(o.ResultCap, min(2000, o.Budget/4))
}

// question is the latest message of the user: what results are read for.
func (w *job) question() string {
	m, _ := lastOfUser(w.turn)
	return m.Text()
}

// asked are the message with the call, and the one with its result.
func (w *job) asked(result message.Message) []message.Message {
	if m, ok := callerOf(w.turn, w.call.ID); ok {
		return []message.Message{m, result}
	}
	return []message.Message{result}
}

// args are those that the function got.
func (w *job) args(e *effect) json.RawMessage {
	if e.Args != nil {
		return e.Args
	}
	return json.RawMessage(w.call.Args)
}

// facts are what the result confirms. A mistake in them does not cost the result.
func (w *job) facts(ctx context.Context, e *effect) []session.Change {
	if w.tool.facts == nil || !e.ok() || len(e.Value) == 0 {
		return nil
	}
	facts, err := guarded(func() ([]session.Change, error) {
		return w.tool.facts(w.context(ctx, w.call, ""), session.FromTool(w.call.ID), w.args(e), e.Value)
	})
	if err != nil {
		w.log("the facts of a tool cannot be made", err)
		return nil
	}
	return facts
}

// keep stores the result, and returns what was stored. It is one write, unless something of it is refused.
func (w *job) keep(ctx context.Context, o session.Write) (session.Write, error) {
	err := w.write(ctx, o)
	if len(o.Set) > 0 && refusal(err) != nil {
		w.log("the facts of a tool are not kept", err)
		o.Set = nil
		err = w.write(ctx, o)
	}
	last := &o.Messages[len(o.Messages)-1]
	if errors.Is(err, session.ErrConflict) {
		*last, err = w.stored(ctx, o)
		o.Results = nil
	}
	if errors.Is(err, session.ErrTooLarge) {
		r := failed(message.StatusError, "It ran, but its result is too large to be kept: %v.", err).result(w.call)
		last.Parts, o.Results = []message.Part{{Kind: message.KindResult, Result: &r}}, nil
		err = w.write(ctx, o)
	}
	return o, err
}

// refusal is why facts were refused, or nil if a write failed for another reason.
func refusal(err error) error {
	for _, of := range []error{session.ErrInvalidValue, session.ErrUnknownField, session.ErrUnconfirmed, session.ErrTooLarge} {
		if errors.Is(err, of) {
			return of
		}
	}
	return nil
}

func (w *job) write(ctx context.Context, o session.Write) error {
	_, err := w.kit.c.Session.Write(w.kit.as(ctx, w.turn), w.turn.Scope.Get(), conversationOf(ctx, w.turn), o)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("nodes: keep the result of %s: %w", w.call.Name, err)
	}
	return nil
}

// stored is for a call that was settled before and then not committed, and that came to something else this time because it is
// not recorded. What the user may have seen stays. A result of another call with the same id is a conflict.
func (w *job) stored(ctx context.Context, o session.Write) (message.Message, error) {
	caller, mine := o.Messages[0], o.Messages[len(o.Messages)-1]
	page := session.Page{Newest: true, Limit: 1000}
	rows, err := w.kit.c.Session.Messages(w.kit.as(ctx, w.turn), w.turn.Scope.Get(), conversationOf(ctx, w.turn), page)
	if err != nil {
		return mine, err
	}
	at := func(id string) int {
		return slices.IndexFunc(rows, func(m session.Message) bool { return m.ID == id })
	}
	if i := at(mine.ID); i >= 0 && at(caller.ID) >= i {
		return rows[i].Message, nil
	}
	return mine, fmt.Errorf("nodes: the result of %s: %w", w.call.Name, session.ErrConflict)
}

// then does what follows from a call that went well.
func (w *job) then(ctx context.Context, e *effect) error {
	if w.tool.then == nil || !e.ok() || len(e.Value) == 0 {
		return nil
	}
	next, err := w.tool.then(w.context(ctx, w.call, ""), w.turn, w.args(e), e.Value)
	if err != nil {
		return fmt.Errorf("nodes: what follows from %s: %w", w.call.Name, err)
	}
	if next != "" {
		w.turn.Jumps.Put(w.call.ID, next)
	}
	return nil
}

// log says nothing of what a fact holds.
func (w *job) log(what string, err error) {
	w.kit.c.Logger.Warn(what, "tool", w.tool.Name(), "err", refusal(err))
}
