package nodes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// stoppedText is what a model reads of a call that a stopped run has left open.
const stoppedText = "The run was stopped before this call had a result. Whether it took effect is not known."

// LoadWorkingState is the body of load_working_state. It makes the history valid, whatever ended the turn before; writes the
// user's message into the conversation, with the denials and rules that it says as pins and the one open candidate that it
// confirms or rejects; and puts the session state into the Turn. It costs one write of the session store, and one read before
// it if the message is a plain yes or no or takes a denial back.
//
// It returns ErrNoInput, ErrForeign, and errors of the session store.
func (k *Kit) LoadWorkingState(ctx context.Context, t *Turn) error {
	m, err := k.input(ctx, t)
	if err != nil {
		return err
	}
	before, err := k.mend(t, m)
	if err != nil {
		return err
	}
	w, notices, err := k.listen(ctx, t, m)
	if err != nil {
		return err
	}
	w.Messages = append(before, m)
	state, err := k.say(ctx, t, w, &notices)
	if err != nil {
		return err
	}
	t.Session.Set(state)
	t.Notices.Set(notices)
	t.Status.Set(Working)
	t.Steps.Set(0)
	t.Notes.Replace()
	t.Decisions.Clear()
	t.Passed.Clear()
	t.Jumps.Clear()
	t.Overflow.Set(Overflow{Limit: t.Overflow.Get().Limit})
	return nil
}

// input returns the message that the run was begun with, once it is sure whose thread it is.
func (k *Kit) input(ctx context.Context, t *Turn) (message.Message, error) {
	info, ok := graph.Info(ctx)
	if !ok {
		return message.Message{}, graph.ErrNoRun
	}
	asked, ok := t.Asked.Get()
	if !ok {
		return message.Message{}, ErrNoInput
	}
	if asked.Scope != t.Scope.Get() || info.Thread.Tenant != graph.SingleTenant && info.Thread.Tenant != asked.Scope.Tenant() {
		return message.Message{}, ErrForeign
	}
	if !t.Conversation.Has() {
		t.Conversation.Set(info.Thread.ID)
	}
	m, ok := t.Messages.Get(asked.Message)
	if !ok || m.Role != message.RoleUser {
		return message.Message{}, fmt.Errorf("%w: it takes a message of the user", ErrNoInput)
	}
	return m, nil
}

// mend makes the history valid, and returns what a turn that did not end has left out of the conversation.
func (k *Kit) mend(t *Turn, m message.Message) ([]message.Message, error) {
	history, fixes := message.Repair(t.Messages.Slice(), message.RepairOptions{
		Outcome: func(c message.Call) message.Result { return c.Ended(message.StatusCancelled, stoppedText) },
	})
	if len(fixes) > 0 {
		t.Messages.Replace(history...)
		for _, f := range fixes {
			k.c.Logger.Info("nodes: history repaired", "rule", f.Rule, "message", f.ID, "detail", f.Detail)
		}
	}
	if !t.Status.Has() || t.Status.Get() != Working {
		return nil, nil
	}
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].ID == m.ID {
			return append([]message.Message(nil), turnOf(history[:i])...), nil
		}
	}
	return nil, fmt.Errorf("%w: the message of the user is not in the history", ErrNoInput)
}

// turnOf is the last turn of a history: from the latest message of the user on.
func turnOf(history []message.Message) []message.Message {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Role == message.RoleUser {
			return history[i:]
		}
	}
	return history
}

// listen reads what a message of the user forbids, permits, confirms. The task of a sub-agent is the words of a model, which
// does none of that.
func (k *Kit) listen(ctx context.Context, t *Turn, m message.Message) (session.Write, []string, error) {
	var w session.Write
	var notices []string
	if t.Inherited.Has() {
		return w, nil, nil
	}
	found := k.detect(ctx, m)
	permits, verdict := false, session.Reply(m.Text())
	for i, f := range found {
		if f.Effect == pin.Permit {
			permits = true
			continue
		}
		p := f.Pin(m.ID+"/"+strconv.Itoa(i), m.ID, time.Now())
		w.Pins = append(w.Pins, p)
		notices = append(notices, p.Understood())
	}
	if !permits && verdict == session.Unclear {
		return w, notices, nil
	}
	state, err := k.c.Session.State(ctx, t.Scope.Get(), t.Conversation.Get())
	if errors.Is(err, session.ErrNotFound) {
		return w, notices, nil
	}
	if err != nil {
		return w, nil, err
	}
	if permits {
		for _, p := range pin.Lift(state.Pins, found) {
			w.Lift = append(w.Lift, session.Lift{Pin: p.ID, Message: m.ID})
			notices = append(notices, lifted(p))
		}
	}
	if len(state.Candidates) == 1 {
		answer := []session.Answer{{Candidate: state.Candidates[0].ID, Message: m.ID}}
		switch verdict {
		case session.Yes:
			w.Confirm = answer
		case session.No:
			w.Reject = answer
		}
	}
	return w, notices, nil
}

func (k *Kit) detect(ctx context.Context, m message.Message) []pin.Found {
	if k.c.Pins == nil {
		return pin.Detect(m)
	}
	found, err := pin.DetectWith(ctx, m, k.c.Pins)
	if err != nil {
		k.c.Logger.Warn("nodes: the model that reads denials failed; rules alone were used", "err", err)
	}
	return found
}

// lifted tells the user that a pin is no longer in force, in the language of its words.
func lifted(p pin.Pin) string {
	for _, r := range p.Text {
		if unicode.Is(unicode.Han, r) {
			return "不再生效：" + p.Text
		}
	}
	return "No longer in force: " + p.Text
}

// say writes the user's message. What the store refuses beside it must not lose the message: it is written without, and told.
func (k *Kit) say(ctx context.Context, t *Turn, w session.Write, notices *[]string) (session.State, error) {
	state, err := k.write(ctx, t, w)
	switch {
	case errors.Is(err, session.ErrExpired), errors.Is(err, session.ErrSettled), errors.Is(err, session.ErrNoCandidate):
		w.Confirm, w.Reject = nil, nil
		return k.write(ctx, t, w)
	case errors.Is(err, session.ErrTooLarge) && len(w.Pins) > 0:
		texts := ""
		for _, p := range w.Pins {
			texts += " " + strconv.Quote(p.Text)
		}
		*notices = []string{"This could not be kept, there are too many rules already / 规则太多，未能记住：" + texts}
		w.Pins = nil
		return k.write(ctx, t, w)
	}
	return state, err
}

// write writes to the conversation of the Turn. Messages that are there in another form already are left alone.
func (k *Kit) write(ctx context.Context, t *Turn, w session.Write) (session.State, error) {
	scope, conversation := t.Scope.Get(), t.Conversation.Get()
	state, err := k.c.Session.Write(ctx, scope, conversation, w)
	if !errors.Is(err, session.ErrConflict) || len(w.Messages) == 0 {
		return state, err
	}
	for _, m := range w.Messages {
		if state, err = k.c.Session.Write(ctx, scope, conversation, session.Write{Messages: []message.Message{m}}); errors.Is(err, session.ErrConflict) {
			k.c.Logger.Warn("nodes: the conversation has another message under this id", "message", m.ID)
		} else if err != nil {
			return state, err
		}
	}
	w.Messages = nil
	return k.c.Session.Write(ctx, scope, conversation, w)
}

// text chooses by the language of the profile.
func (k *Kit) text(en, zh string) string {
	if k.c.Profile.Language == working.Chinese {
		return zh
	}
	return en
}
