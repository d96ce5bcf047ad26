package working

import (
	"slices"

	"github.com/holdfast-go/holdfast/message"
)

func (w *assembly) needRecent() int {
	n := w.needSummary()
	for _, r := range w.past {
		n += r.tokens
	}
	return n
}

// A pastRound is a round before the question.
type pastRound struct {
	whole  round
	aged   []message.Message
	tokens int // of aged
}

func (w *assembly) pastRounds() []pastRound {
	past := make([]pastRound, len(w.rounds))
	for i, r := range w.rounds {
		aged := w.aged(r)
		past[i] = pastRound{r, aged, CountMessages(w.counter, aged)}
	}
	return past
}

// fillRecent tells the summary and the latest rounds, and returns the tokens that are left of its budget.
func (w *assembly) fillRecent(s *softZone, budget int) int {
	share := budget
	budget -= w.tellSummary(s, min(budget, w.a.profile.Caps.Summary))
	sent, from := w.keepRounds(budget)
	for _, r := range w.covered {
		s.entries = append(s.entries, w.dropped(SectionRecent, r, Covered)...)
	}
	why := w.why(SectionRecent, share)
	for _, r := range w.past[:from] {
		s.entries = append(s.entries, w.dropped(SectionRecent, r.whole, why)...)
	}
	i := 0
	for _, r := range w.past[from:] {
		for j, m := range r.whole {
			s.entries = append(s.entries, w.entry(SectionRecent, m, sent[i], reasonFor(r.aged[j], sent[i])))
			i++
		}
	}
	s.recent = sent
	return budget - CountMessages(w.counter, sent)
}

// reasonFor tells a message with excerpts of results from one that was shortened further.
func reasonFor(aged, sent message.Message) Reason {
	if sameParts(aged, sent) {
		return OldResult
	}
	return TooLong
}

// keepRounds returns the messages of the rounds from an index on. The latest rounds of the profile stay, shortened if they
// must be; if not even so all of them fit, the oldest go. Rounds before them are kept whole, up to the first that does not
// fit: a conversation with holes would be another one.
func (w *assembly) keepRounds(budget int) (sent []message.Message, from int) {
	if w.a.profile.Caps.Recent == 0 {
		return nil, len(w.past)
	}
	first := max(len(w.past)-w.a.profile.Rounds, 0)
	for from = first; from < len(w.past); from++ {
		if short, ok := w.fit(agedOf(w.past[from:]), budget); ok {
			sent = short
			break
		}
	}
	n := CountMessages(w.counter, sent)
	if from == first {
		for from > 0 && n+w.past[from-1].tokens <= budget {
			from--
			n += w.past[from].tokens
		}
	}
	return slices.Concat(agedOf(w.past[from:max(from, first)]), sent), from
}

func agedOf(past []pastRound) (messages []message.Message) {
	for _, r := range past {
		messages = append(messages, r.aged...)
	}
	return messages
}

func (w *assembly) needSummary() int { return countText(w.counter, quotedOrNone(w.in.Summary.Text)) }

func quotedOrNone(text string) string {
	if text == "" {
		return ""
	}
	return quote(text)
}

func (w *assembly) tellSummary(s *softZone, limit int) int {
	if w.in.Summary.Text == "" {
		return 0
	}
	e := Entry{Section: SectionSummary, ID: "summary", Tokens: w.needSummary()}
	return w.add(s, e, w.in.Summary.Text, limit, w.why(SectionSummary, limit), quote)
}
