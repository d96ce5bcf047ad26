package working

import (
	"slices"

	"github.com/holdfast-go/holdfast/message"
)

func (w *assembly) needTurn() int {
	n := CountMessages(w.counter, w.step)
	for _, g := range w.earlier {
		n += CountMessages(w.counter, w.aged(g.Messages))
	}
	return n + w.needNotes()
}

// fillTurn tells the latest step, earlier steps of this turn and the notes, and returns the tokens that are left of its
// budget. The notes have their part even if the step is long, but never what the step needs at its shortest.
func (w *assembly) fillTurn(s *softZone, zone hardZone, budget int) int {
	notes := min(w.a.profile.Caps.Notes, w.needNotes(), max(budget-zone.least, 0))
	step, _ := w.fit(w.step, budget-notes)
	used := CountMessages(w.counter, step)
	earlier, n := w.keepEarlier(s, budget-notes-used, w.why(SectionObservations, budget))
	used += n
	for i, m := range w.step {
		s.entries = append(s.entries, w.entry(SectionStep, m, step[i], TooLong))
	}
	s.turn = append(earlier, step...)
	used += w.tellNotes(s, min(w.a.profile.Caps.Notes, budget-used))
	return max(budget-used, 0)
}

// keepEarlier keeps the groups before the step, the newest first, with excerpts of their results, up to the first that
// does not fit.
func (w *assembly) keepEarlier(s *softZone, budget int, why Reason) (kept []message.Message, used int) {
	from := len(w.earlier)
	for ; from > 0 && w.a.profile.Caps.Observations > 0; from-- {
		aged := w.aged(w.earlier[from-1].Messages)
		n := CountMessages(w.counter, aged)
		if used+n > budget {
			break
		}
		used += n
		kept = slices.Concat(aged, kept)
	}
	for _, g := range w.earlier[:from] {
		s.entries = append(s.entries, w.dropped(SectionObservations, g.Messages, why)...)
	}
	i := 0
	for _, g := range w.earlier[from:] {
		for _, m := range g.Messages {
			s.entries = append(s.entries, w.entry(SectionObservations, m, kept[i], OldResult))
			i++
		}
	}
	return kept, used
}

func (w *assembly) noteWrap(n Note) func(string) string {
	return func(text string) string { return "[" + w.words.note + " " + name(n.ID) + "]\n" + quote(text) }
}

func (w *assembly) needNotes() (n int) {
	for _, note := range w.in.Notes {
		n += w.counter.Count(w.noteWrap(note)(note.Text))
	}
	return n
}

// tellNotes keeps the newest notes. One that is longer than half of their budget is shortened to that.
func (w *assembly) tellNotes(s *softZone, budget int) (used int) {
	why := w.why(SectionNotes, budget)
	for _, note := range slices.Backward(w.in.Notes) {
		e := Entry{Section: SectionNotes, ID: note.ID, Tokens: w.counter.Count(w.noteWrap(note)(note.Text))}
		limit := budget - used
		if e.Tokens > limit {
			limit = min(limit, budget/2)
		}
		used += w.add(s, e, note.Text, limit, why, w.noteWrap(note))
	}
	slices.Reverse(s.quoted[SectionNotes])
	return used
}
