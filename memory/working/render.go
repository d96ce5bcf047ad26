package working

import (
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/message"
)

// tell returns the recent messages and the question, with data in front of them. The data is a part of a user message, not
// a message of its own, because some providers refuse two messages of one role in a row, and not of the system, since
// then whoever wrote it would speak with its authority. // T12
func (w *assembly) tell(s *softZone, question message.Message) []message.Message {
	before, after := w.around()
	if len(s.recent) == 0 {
		return []message.Message{w.inFront(s, slices.Concat(before, after), question)}
	}
	told := slices.Clone(s.recent)
	told[0] = w.inFront(s, before, told[0])
	return append(told, w.inFront(s, after, question))
}

// around are the sections that stand before the recent messages, and after.
func (w *assembly) around() (before, after []Section) {
	order := w.a.profile.Order
	at := slices.Index(order, SectionRecent)
	return order[:at], order[at+1:]
}

func (w *assembly) inFront(s *softZone, sections []Section, m message.Message) message.Message {
	if body := w.body(sections, s.quoted); body != "" {
		m.Parts = append([]message.Part{message.Text(w.fence(body))}, m.Parts...)
	}
	return m
}

func (w *assembly) fence(body string) string {
	return fence(func(closing string) string { return strings.Replace(w.words.intro, "%s", closing, 1) }, body)
}

// body is what is told in some sections, each under its heading.
func (w *assembly) body(sections []Section, quoted map[Section][]string) string {
	var lines []string
	for _, section := range sections {
		if len(quoted[section]) > 0 {
			lines = append(append(lines, w.words.headings[section]), quoted[section]...)
		}
	}
	return strings.Join(lines, "\n")
}

// frame is what the blocks around data cost, beside the data.
func (w *assembly) frame() (n int) {
	some := map[Section][]string{}
	if w.in.Summary.Text != "" {
		some[SectionSummary] = []string{""}
	}
	if len(w.in.Notes) > 0 {
		some[SectionNotes] = []string{""}
	}
	for _, r := range w.recalled {
		some[r.section] = []string{""}
	}
	before, after := w.around()
	for _, sections := range [][]Section{before, after} {
		if body := w.body(sections, some); body != "" {
			n += w.counter.Count(w.fence(body))
		}
	}
	return n
}
