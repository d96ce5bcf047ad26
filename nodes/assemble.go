package nodes

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// Assemble is the body of assemble: the prompt of the next call of a model, for call_model, and its manifest, for the state. The
// prompt itself is never stored.
//
// Its errors are those of working.Assembler.Assemble: a *working.BudgetError if instructions, tools, state, pins and the question
// have no room.
func (k *Kit) Assemble(ctx context.Context, t *Turn) error {
	_, err := k.assemble(ctx, t)
	return err
}

func (k *Kit) assemble(ctx context.Context, t *Turn) (*Prompt, error) {
	role, err := k.role(ctx, t)
	if err != nil {
		return nil, err
	}
	limit, in := t.Overflow.Get().Limit, working.Input{
		System:   role.System,
		Tools:    role.specs(),
		State:    t.Session.Get().Summary(),
		Pins:     pin.Render(pins(t)),
		Summary:  t.Summary.Get(),
		History:  sendable(t.Messages.Slice()),
		Notes:    t.Notes.Slice(),
		Recalled: slices.Concat(t.Memories.Get(), t.Documents.Get()),
		Stored:   maps.Collect(t.Stored.All()),
	}
	p, err := k.fit(limit, in)
	if errors.Is(err, message.ErrInvalid) { // most are valid, and the assembler looks anyway
		in.History, _ = message.Repair(in.History, message.RepairOptions{})
		p, err = k.fit(limit, in)
	}
	if err != nil {
		return nil, err
	}
	out := &Prompt{Prompt: p, Role: role, last: lastID(t)}
	t.Prompt.Set(out)
	t.Report.Set(brief(p.Manifest))
	return out, nil
}

// brief is a manifest as the state keeps it: messages of the conversation that were kept whole are told by their section alone,
// since there are hundreds of them and the log would hold each list for ever.
func brief(m working.Manifest) working.Manifest {
	m.Entries = slices.DeleteFunc(slices.Clone(m.Entries), func(e working.Entry) bool {
		return e.Outcome == working.Kept && (e.Section == working.SectionRecent || e.Section == working.SectionObservations)
	})
	return m
}

// fit assembles within a limit that was learned from a refusal, or the least above it in which the hard zone has room: a guess
// must not end what the profile allows.
func (k *Kit) fit(limit int, in working.Input) (working.Prompt, error) {
	for {
		a, err := working.New(narrow(k.c.Profile, limit), k.c.Counter)
		if err != nil {
			return working.Prompt{}, err
		}
		p, err := a.Assemble(in)
		if limit <= 0 || limit >= k.c.Profile.MaxInput || !errors.Is(err, working.ErrBudget) {
			return p, err
		}
		limit += limit/4 + 1
	}
}

// pins are those in force: of the conversation, of the user, and of the agent that this one works for.
func pins(t *Turn) []pin.Pin { return slices.Concat(t.Inherited.Get(), t.Session.Get().Pins) }

func (r Role) specs() []working.Tool {
	out := make([]working.Tool, len(r.Tools))
	for i, t := range r.Tools {
		out[i] = t.spec
	}
	return out
}

// sendable is a history without what the model was cut off in saying this turn, since it is about to say it again.
func sendable(history []message.Message) []message.Message {
	for n := len(history); n > 0 && history[n-1].Partial; n-- {
		history = history[:n-1]
	}
	return history
}

func lastID(t *Turn) string {
	m, _ := t.Messages.Last()
	return m.ID
}

// narrow scales a profile down to a number of tokens, the answer included.
func narrow(p working.Profile, limit int) working.Profile {
	if limit <= 0 || limit >= p.MaxInput {
		return p
	}
	by := func(n int) int { return int(math.Floor(float64(n) * float64(limit) / float64(p.MaxInput))) }
	c := p.Caps
	p.Caps = working.Caps{System: by(c.System), State: by(c.State), Recent: by(c.Recent), Summary: by(c.Summary), Memories: by(c.Memories),
		Knowledge: by(c.Knowledge), Observations: by(c.Observations), Notes: by(c.Notes)}
	p.Excerpt, p.Reserve, p.MaxInput = max(by(p.Excerpt), 1), by(p.Reserve), limit
	return p
}
