package working

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/message"
)

// ErrBudget is returned when what may not be left out has no room. The error is a *BudgetError.
var ErrBudget = errors.New("working: the hard zone does not fit")

// A BudgetError names what the hard zone is made of. Nothing may be sent: shorten a part, take tools away, or give the
// profile a greater MaxInput. It matches ErrBudget.
type BudgetError struct {
	Limit  int     // tokens that a request may have
	Tokens int     // that this one would have with the hard zone alone
	Parts  []Entry // of the hard zone; Tokens is its size, Sent the size to which it could be shortened
}

// Error has one line for each part.
func (e *BudgetError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %d tokens, the limit is %d", ErrBudget, e.Tokens, e.Limit)
	for _, p := range e.Parts {
		fmt.Fprintf(&b, "\n\t%s %q: %d", p.Section, p.ID, p.Sent)
	}
	return b.String()
}

// Is reports whether target is ErrBudget.
func (e *BudgetError) Is(target error) bool { return target == ErrBudget }

// systemID is the id of the message that is made of rules, state and pins: always the same, unless the history has it.
func systemID(history []message.Message) string {
	id := "working:system"
	for slices.ContainsFunc(history, func(m message.Message) bool { return m.ID == id }) {
		id += "+"
	}
	return id
}

// A hard zone is what every request has, whatever else there is.
type hardZone struct {
	head     []message.Message // the system message, if there is anything in it
	question message.Message   // perhaps shortened
	least    int               // tokens of the latest step at its shortest
	tokens   int               // of the request without the latest step
	entries  []Entry
}

// hardZone measures the zone. It returns a *BudgetError if it is over the limit. The question is shortened only if it has no room beside the
// rest of the zone, and then to what a section may have, so that the others get their parts.
func (w *assembly) hardZone() (hardZone, error) {
	var z hardZone
	w.systemZone(&z)
	if err := message.Valid(z.head); err != nil {
		return z, fmt.Errorf("working: rules, state or pins: %w", err)
	}
	fixed := CountRequest(w.counter, z.head, w.in.Tools)
	least := w.shortenAll(w.step, shortest, anyPiece)
	z.least = CountMessages(w.counter, least)
	z.question = w.fitQuestion(w.a.limit - fixed - z.least)
	z.tokens = fixed + CountMessage(w.counter, z.question)
	z.entries = append(z.entries, w.entry(SectionQuestion, w.question, z.question, TooLong))
	if z.tokens+z.least <= w.a.limit {
		return z, nil
	}
	for i, m := range w.step {
		z.entries = append(z.entries, w.entry(SectionStep, m, least[i], TooLong))
	}
	return z, &BudgetError{Limit: w.a.limit, Tokens: z.tokens + z.least, Parts: z.entries}
}

// systemZone makes the system message. Its first parts are the rules, the same bytes in every call; what changes comes behind
// them. There is only one, at the start, because some providers take no other.
func (w *assembly) systemZone(z *hardZone) {
	var parts []message.Part
	add := func(s Section, id, text, counted string) {
		if strings.TrimSpace(text) != "" {
			parts = append(parts, message.Text(text))
			n := countText(w.counter, counted)
			z.entries = append(z.entries, Entry{Section: s, ID: id, Tokens: n, Sent: n, Outcome: Kept})
		}
	}
	for i, rule := range w.in.System {
		add(SectionSystem, strconv.Itoa(i+1), rule, rule)
	}
	for _, t := range w.in.Tools {
		n := CountTools(w.counter, []Tool{t}) - perTools
		z.entries = append(z.entries, Entry{Section: SectionSystem, ID: t.Name, Tokens: n, Sent: n, Outcome: Kept})
	}
	for _, m := range w.system {
		add(SectionSystem, m.ID, m.Text(), m.Text())
	}
	if w.in.State != "" {
		text := w.words.state + "\n" + w.in.State
		add(SectionState, "state", text, text)
	}
	if len(w.in.Pins) > 0 {
		text := w.words.pins + "\n- " + strings.Join(w.in.Pins, "\n- ")
		add(SectionState, "pins", text, text)
	}
	if parts != nil {
		z.head = []message.Message{{ID: systemID(w.in.History), Role: message.RoleSystem, Parts: parts}}
	}
}

func (w *assembly) fitQuestion(room int) message.Message {
	whole := []message.Message{w.question}
	if CountMessage(w.counter, w.question) <= room {
		return w.question
	}
	short, _ := w.fit(whole, min(room, w.a.profile.Caps.Recent))
	return short[0]
}
