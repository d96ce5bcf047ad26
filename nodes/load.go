package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
// confirms or rejects; and puts the session state into the Turn. It costs one write of the session store, one more if the turn
// before was not written to its end, and one read if the message is a plain yes or no or takes a denial back.
//
// It returns ErrNoInput, ErrForeign, and errors of the session store.
func (k *Kit) LoadWorkingState(ctx context.Context, t *Turn) error {
	id, err := k.input(ctx, t)
	if err != nil {
		return err
	}
	rest, m, err := k.mend(t, id)
	if err != nil {
		return err
	}
	if rest, err = k.catchUp(ctx, t, rest); err != nil {
		return err
	}
	w, notices, err := k.listen(ctx, t, rest, m)
	if err != nil {
		return err
	}
	state, err := k.say(ctx, t, w, &notices)
	if err != nil {
		return err
	}
	t.Session.Set(state)
	t.Notices.Set(notices)
	t.Kept.Set(m.ID)
	t.start(k.c.Profile.MaxInput)
	return nil
}

// start forgets what was of the turn before.
func (t *Turn) start(maxInput int) {
	t.Status.Set(Working)
	t.Steps.Set(0)
	t.Notes.Replace()
	t.Decisions.Clear()
	t.Passed.Clear()
	t.Jumps.Clear()
	t.Overflow.Set(t.Overflow.Get().nextTurn(maxInput))
}

// input returns the id of the message that the run was begun with, once it is sure whose thread it is.
func (k *Kit) input(ctx context.Context, t *Turn) (string, error) {
	info, ok := graph.Info(ctx)
	if !ok {
		return "", graph.ErrNoRun
	}
	asked, ok := t.Asked.Get()
	if !ok {
		return "", ErrNoInput
	}
	if asked.Scope != t.Scope.Get() || info.Thread.Tenant != graph.SingleTenant && info.Thread.Tenant != asked.Scope.Tenant() {
		return "", ErrForeign
	}
	if !t.Conversation.Has() {
		t.Conversation.Set(info.Thread.ID)
	}
	return asked.Message, nil
}

// mend makes the history valid, and returns the message of the user and what the conversation lacks before it, since a turn was
// stopped or the store was away.
func (k *Kit) mend(t *Turn, id string) (rest []message.Message, m message.Message, err error) {
	history, fixes := message.Repair(t.Messages.Slice(), message.RepairOptions{
		Outcome: func(c message.Call) message.Result { return c.Ended(message.StatusCancelled, stoppedText) },
	})
	if len(fixes) > 0 {
		t.Messages.Replace(history...)
		for _, f := range fixes {
			k.c.Logger.Info("nodes: history repaired", "rule", f.Rule, "message", f.ID, "detail", f.Detail)
		}
	}
	at := indexOf(history, id)
	if at < 0 || history[at].Role != message.RoleUser {
		return nil, m, fmt.Errorf("%w: it takes a message of the user that says something", ErrNoInput)
	}
	return unkept(history[:at], t.Kept.Get()), history[at], nil
}

func indexOf(history []message.Message, id string) int {
	return slices.IndexFunc(history, func(m message.Message) bool { return m.ID == id })
}

// unkept is what follows the latest message that the conversation has; of a history without it, the last turn.
func unkept(history []message.Message, kept string) []message.Message {
	at := indexOf(history, kept)
	if at < 0 && kept != "" {
		return turnOf(history)
	}
	return history[at+1:]
}

// catchUp writes what the conversation lacks, and returns what of it is there now. What can never be written is left out: one
// message must not lock the thread.
func (k *Kit) catchUp(ctx context.Context, t *Turn, rest []message.Message) (kept []message.Message, err error) {
	if len(rest) == 0 {
		return nil, nil
	}
	if _, err = k.put(ctx, t, session.Write{Messages: rest}); !unfit(err) {
		return rest, err
	}
	for _, m := range rest {
		_, err := k.put(ctx, t, session.Write{Messages: []message.Message{m}})
		switch {
		case unfit(err):
			k.c.Logger.Warn("nodes: the conversation does not take a message of an earlier turn", "message", m.ID)
		case err != nil:
			return nil, err
		default:
			kept = append(kept, m)
		}
	}
	return kept, nil
}

// unfit reports whether the session store will never take a write.
func unfit(err error) bool {
	return slices.ContainsFunc([]error{session.ErrConflict, session.ErrTooLarge, session.ErrBadID, session.ErrMessage},
		func(of error) bool { return errors.Is(err, of) })
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

// listen reads what the user forbids, permits, confirms, with the last message and with those before it that nobody has read. Of
// these a yes means nothing: what it answered may be another question by now. The task of a sub-agent is the words of a model, which
// does none of that.
func (k *Kit) listen(ctx context.Context, t *Turn, rest []message.Message, m message.Message) (session.Write, []string, error) {
	h := hearing{w: session.Write{Messages: []message.Message{m}}}
	if t.Inherited.Has() {
		return h.w, nil, nil
	}
	verdict := session.Reply(m.Text())
	found := map[string][]pin.Found{}
	reads := verdict != session.Unclear
	said := append(slices.Clip(rest), m)
	for _, u := range said {
		found[u.ID] = k.detect(ctx, u)
		reads = reads || slices.ContainsFunc(found[u.ID], func(f pin.Found) bool { return f.Effect == pin.Permit })
	}
	var state session.State
	var err error
	if reads {
		state, err = k.c.Session.State(k.as(ctx, t), t.Scope.Get(), t.Conversation.Get())
		if err != nil && !errors.Is(err, session.ErrNotFound) {
			return h.w, nil, err
		}
	}
	h.pins = state.Pins
	for _, u := range said {
		h.hear(u.ID, found[u.ID])
	}
	if len(state.Candidates) == 1 {
		h.answer(verdict, session.Answer{Candidate: state.Candidates[0].ID, Message: m.ID})
	}
	return h.w, h.notices, nil
}

// A hearing is what comes of messages of the user.
type hearing struct {
	pins    []pin.Pin // in force
	w       session.Write
	notices []string
}

// hear reads one message. What it permits is about what was forbidden before it.
func (h *hearing) hear(id string, found []pin.Found) {
	for _, p := range pin.Lift(h.pins, found) {
		h.w.Lift = append(h.w.Lift, session.Lift{Pin: p.ID, Message: id})
		h.notices = append(h.notices, lifted(p))
		h.pins = slices.DeleteFunc(slices.Clone(h.pins), func(o pin.Pin) bool { return o.ID == p.ID })
	}
	for i, f := range found {
		if f.Effect == pin.Permit {
			continue
		}
		p := f.Pin(id+"/"+strconv.Itoa(i), id, time.Now())
		h.w.Pins, h.pins = append(h.w.Pins, p), append(slices.Clip(h.pins), p)
		h.notices = append(h.notices, p.Understood())
	}
}

func (h *hearing) answer(v session.Verdict, a session.Answer) {
	switch v {
	case session.Yes:
		h.w.Confirm = []session.Answer{a}
	case session.No:
		h.w.Reject = []session.Answer{a}
	}
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
	if unsettled(err) && len(w.Confirm)+len(w.Reject) > 0 {
		w.Confirm, w.Reject = nil, nil
		state, err = k.write(ctx, t, w)
	}
	if errors.Is(err, session.ErrTooLarge) && len(w.Pins) > 0 {
		texts := ""
		for _, p := range w.Pins {
			texts += " " + strconv.Quote(p.Text)
			w.Lift = slices.DeleteFunc(w.Lift, func(l session.Lift) bool { return l.Pin == p.ID })
		}
		*notices = []string{"This could not be kept, there are too many rules already / 规则太多，未能记住：" + texts}
		w.Pins = nil
		return k.write(ctx, t, w)
	}
	return state, err
}

// unsettled reports whether a write may have been refused because of a candidate that it settles.
func unsettled(err error) bool {
	return slices.ContainsFunc([]error{session.ErrExpired, session.ErrSettled, session.ErrNoCandidate, session.ErrUnknownField,
		session.ErrInvalidValue, session.ErrTooLarge}, func(of error) bool { return errors.Is(err, of) })
}

// write writes to the conversation of the Turn. Messages that are there in another form already are left alone.
func (k *Kit) write(ctx context.Context, t *Turn, w session.Write) (session.State, error) {
	state, err := k.put(ctx, t, w)
	if !errors.Is(err, session.ErrConflict) || len(w.Messages) == 0 {
		return state, err
	}
	for _, m := range w.Messages {
		if state, err = k.put(ctx, t, session.Write{Messages: []message.Message{m}}); errors.Is(err, session.ErrConflict) {
			k.c.Logger.Warn("nodes: the conversation has another message under this id", "message", m.ID)
		} else if err != nil {
			return state, err
		}
	}
	w.Messages = nil
	return k.put(ctx, t, w)
}

func (k *Kit) put(ctx context.Context, t *Turn, w session.Write) (session.State, error) {
	return k.c.Session.Write(k.as(ctx, t), t.Scope.Get(), t.Conversation.Get(), w)
}

// text chooses by the language of the profile.
func (k *Kit) text(en, zh string) string {
	if k.c.Profile.Language == working.Chinese {
		return zh
	}
	return en
}
