package govern

import (
	"math"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/guard"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/search"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

// Spoken is a message that can be a source, and how much of the words it has.
type spoken struct {
	session.Message
	text  string // as it was said
	terms map[string]bool
	cover float64

	outcomes []longterm.Outcome // of its drafts, once it is one of the sayings
}

func newSpoken(m session.Message) (spoken, bool) {
	var texts []string
	switch m.Role {
	case message.RoleUser:
		texts = append(texts, m.Text())
	case message.RoleTool:
		for _, r := range m.Results() {
			texts = append(texts, r.Text())
		}
	}
	text := strings.Join(texts, "\n")
	return spoken{Message: m, text: text, terms: set(search.Terms(text))}, len(texts) > 0
}

// read is the text as an extractor has read it, in which spans count.
func (s spoken) read(call string) string {
	text := s.text
	for _, r := range s.Results() {
		if r.CallID == call {
			text = r.Text()
		}
	}
	text, _ = guard.Redact(text)
	return text
}

// asks reports whether a message is a question, which is no source if there is another.
func (s spoken) asks() bool {
	text := strings.TrimSpace(s.text)
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

func set(terms []string) map[string]bool {
	out := map[string]bool{}
	for _, t := range terms {
		out[t] = true
	}
	return out
}

// weigh says what each term of the words tells: the more, the fewer messages have it.
func (w *inquiry) weigh() {
	w.terms = slices.Compact(slices.Sorted(slices.Values(w.terms)))
	n, have := len(w.messages), map[string]int{}
	for _, m := range w.messages {
		for _, t := range w.terms {
			if m.terms[t] {
				have[t]++
			}
		}
	}
	w.weight = map[string]float64{}
	for _, t := range w.terms {
		w.weight[t] = math.Log(1 + (float64(n)+0.5)/(float64(have[t])+0.5))
		w.total += w.weight[t]
	}
	for i := range w.messages {
		w.messages[i].cover = w.covered(w.messages[i].terms)
	}
}

func termsOf(i longterm.Item) map[string]bool { return set(search.Terms(i.Text + "\n" + i.Words)) }

// covered is how much of the words some terms have, 0 to 1.
func (w *inquiry) covered(terms map[string]bool) float64 {
	sum := 0.0
	for _, t := range w.terms {
		if terms[t] {
			sum += w.weight[t]
		}
	}
	return sum / w.total
}

func (w *inquiry) cover(text string) float64 { return w.covered(set(search.Terms(text))) }

const (
	enough = 0.5 // of the words, to be about them
	near   = 0.8 // of what the best has, to be looked at beside it
)

// sayings are the messages that say the words, the best first. The question of the turn is one only if there is no other, and so are
// other questions.
func (w *inquiry) sayings() []spoken {
	var out []spoken
	for _, m := range w.messages {
		if m.cover >= enough {
			out = append(out, m)
		}
	}
	for _, doubtful := range []func(spoken) bool{
		func(m spoken) bool { return w.turn != nil && m.ID == w.turn.message },
		spoken.asks,
	} {
		if rest := slices.DeleteFunc(slices.Clone(out), doubtful); len(rest) > 0 {
			out = rest
		}
	}
	slices.SortStableFunc(out, func(a, b spoken) int {
		switch {
		case a.cover > b.cover+1e-9:
			return -1
		case b.cover > a.cover+1e-9:
			return 1
		}
		return b.At.Compare(a.At)
	})
	if len(out) > 0 {
		best := out[0].cover
		out = slices.DeleteFunc(out, func(m spoken) bool { return m.cover < near*best })
	}
	out = out[:min(len(out), 20)]
	for i := range out {
		out[i].outcomes = w.outcomes(out[i])
	}
	return out
}
