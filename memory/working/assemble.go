package working

import (
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/message"
)

// A Prompt is what one model call is told.
type Prompt struct {
	// Messages are valid for every provider: one system message, then the conversation. Messages of the history keep
	// their ids and order and share their parts with it; data stands in front of the text of user messages. Send them,
	// and do not write them back into the history.
	Messages []message.Message
	Tools    []Tool // as they were given
	Manifest Manifest
}

// An Assembler makes prompts by a profile. It is safe for concurrent use.
type Assembler struct {
	profile Profile
	counter Counter
	limit   int
}

// New returns an assembler, or a *ConfigError that lists what is wrong with the profile. A nil counter is [Estimate]; wrap
// a counter with [Cached], so that each call counts only what is new.
//
// A prompt has at most (MaxInput - Reserve) * (1 - margin) tokens by the counter: a count that is too low by no more than
// its margin is within MaxInput - Reserve.
func New(p Profile, c Counter) (*Assembler, error) {
	if c == nil {
		c = Estimate
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	margin := c.Margin()
	if !(margin >= 0 && margin < 1) {
		return nil, &ConfigError{p.Name, []string{fmt.Sprintf("the margin of counter %q is %v, not a share", c.Name(), margin)}}
	}
	p.Order, p.Sources = slices.Clone(p.Order), slices.Clone(p.Sources)
	return &Assembler{profile: p, counter: c, limit: int(float64(p.MaxInput-p.Reserve) * (1 - margin))}, nil
}

// Assemble makes the prompt of one call from all that it may be told. What does not fit is shortened or left out by the
// rules of the package, and the manifest names it. It changes nothing, and the same input gives the same prompt.
//
// Its errors: one that matches message.ErrInvalid for a history that is not valid, or rules, state or pins that are not
// UTF-8; [ErrNoQuestion] for a history without a user message; a *BudgetError if the hard zone has no room. It takes time
// in proportion to the input, most of it for the counter.
func (a *Assembler) Assemble(in Input) (Prompt, error) {
	t, err := split(in.History, a.covered(in.Summary))
	if err != nil {
		return Prompt{}, err
	}
	c := cutter{memo{a.counter, map[string]int{}}, languages[a.profile.Language], in.Stored}
	w := &assembly{a: a, cutter: c, in: in, turns: t, recalled: a.rank(in.Recalled)}
	w.past = w.pastRounds()
	for i, r := range w.recalled {
		w.recalled[i].tokens = w.counter.Count(w.itemWrap(r)(r.Text))
	}
	zone, err := w.hardZone()
	if err != nil {
		return Prompt{}, err
	}
	// A sum of counts can be below the count of the sum by a few tokens. Then the soft zone gets fewer. With nothing left to
	// give, the prompt is the hard zone, which fits, unless the counter contradicts itself.
	for budget, less := a.limit, 0; budget >= 0; budget -= less {
		p := w.fill(zone, budget)
		over := p.Manifest.After - a.limit
		if over <= 0 {
			return p, nil
		}
		less = max(over, 2*less)
	}
	return Prompt{}, &BudgetError{Limit: a.limit, Tokens: zone.tokens + zone.least, Parts: zone.entries}
}

// covered is what a summary stands for, if it is told at all. // report 97: nothing goes without one
func (a *Assembler) covered(s Summary) map[string]bool {
	covers := map[string]bool{}
	if s.Text != "" && a.profile.Caps.Summary >= leastSummary {
		for _, id := range s.Covers {
			covers[id] = true
		}
	}
	return covers
}

// leastSummary is a cap below which a summary may not be told at all: then what it covers is told as long as it fits.
const leastSummary = 64

// An assembly is one call of Assemble.
type assembly struct {
	a *Assembler
	cutter
	turns
	in       Input
	past     []pastRound
	recalled []ranked
}

// entry records a message, and what of it is sent; the reason counts if it is not all.
func (w *assembly) entry(s Section, whole, sent message.Message, why Reason) Entry {
	e := Entry{Section: s, ID: whole.ID, Tokens: CountMessage(w.counter, whole), Outcome: Kept}
	if e.Sent = CountMessage(w.counter, sent); !sameParts(whole, sent) {
		e.Outcome, e.Reason = Shortened, why
	}
	return e
}

func sameParts(x, y message.Message) bool {
	return len(x.Parts) == 0 || &x.Parts[0] == &y.Parts[0] // shorten returns the message itself if nothing changed
}

// dropped records messages that are left out.
func (w *assembly) dropped(s Section, messages []message.Message, why Reason) (entries []Entry) {
	for _, m := range messages {
		entries = append(entries, Entry{Section: s, ID: m.ID, Tokens: CountMessage(w.counter, m), Outcome: Dropped, Reason: why})
	}
	return entries
}
