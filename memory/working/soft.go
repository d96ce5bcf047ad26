package working

import (
	"cmp"
	"slices"

	"github.com/holdfast-go/holdfast/message"
)

// A softZone is what is told beside the hard zone, while it is being filled.
type softZone struct {
	share   map[Section]int // tokens that each part was given
	recent  []message.Message
	turn    []message.Message    // what followed the question
	quoted  map[Section][]string // rendered data, in the order in which it stands
	entries []Entry
}

// fill makes a prompt of the hard zone and as much of the soft zone as a budget has room for. Each part has its share. What is
// left over beside the shares serves the latest messages first, and what one part leaves over serves the next: the results of
// this turn, then what was recalled. // T5
func (w *assembly) fill(zone hardZone, budget int) Prompt {
	s := &softZone{share: map[Section]int{}, quoted: map[Section][]string{}}
	spare := w.fillShares(s, zone, budget)
	spare = w.fillRecent(s, s.share[SectionRecent]+spare)
	spare = w.fillTurn(s, zone, s.share[SectionObservations]+spare)
	w.fillRecalled(s, spare)
	messages := slices.Concat(zone.head, w.tell(s, zone.question), s.turn)
	tools := slices.Clone(w.in.Tools)
	after := CountRequest(w.counter, messages, tools)
	return Prompt{messages, tools, w.a.record(w.in, slices.Concat(zone.entries, s.entries), after)}
}

// fillShares says what each part of the soft zone may take, and returns what is left over.
func (w *assembly) fillShares(s *softZone, zone hardZone, budget int) int {
	caps := w.a.profile.Caps
	served := []Section{SectionRecent, SectionObservations}
	wants := []want{
		{need: w.needRecent(), limit: caps.Recent - CountMessage(w.counter, zone.question)},
		{need: w.needTurn(), limit: caps.Observations, least: zone.least},
	}
	for _, section := range w.a.profile.Order {
		if section == SectionMemories || section == SectionKnowledge {
			served = append(served, section)
			wants = append(wants, want{need: w.needRecalled(section), limit: w.a.profile.cap(section)})
		}
	}
	left := max(budget-zone.tokens-w.frame(), 0)
	for i, n := range shares(left, wants) {
		s.share[served[i]] = n
		left -= n
	}
	return left
}

// why is the reason for leaving something out of a section that was given a share.
func (w *assembly) why(section Section, share int) Reason {
	switch limit := w.a.profile.cap(section); {
	case limit == 0:
		return NotUsed
	case share >= limit:
		return OverCap
	}
	return OverBudget
}

// add tells data in a section: text within wrap, shortened if it has more than limit tokens. It returns the tokens that it
// takes, 0 if it was left out because not even a short form has room.
func (w *assembly) add(s *softZone, e Entry, text string, limit int, why Reason, wrap func(string) string) int {
	rendered := w.cut(text, "", limit, wrap)
	e.Sent, e.Outcome = w.counter.Count(rendered), Kept
	if e.Sent > limit {
		e.Sent, e.Outcome, e.Reason = 0, Dropped, why
		s.entries = append(s.entries, e)
		return 0
	}
	if e.Sent < e.Tokens {
		e.Outcome, e.Reason = Shortened, cmp.Or(e.Reason, TooLong)
	}
	s.entries = append(s.entries, e)
	s.quoted[e.Section] = append(s.quoted[e.Section], rendered)
	return e.Sent
}

// aged is messages as they are told once the next step was taken: with excerpts of their results.
func (w *assembly) aged(messages []message.Message) []message.Message {
	return w.shortenAll(messages, w.a.profile.Excerpt, resultPiece)
}
