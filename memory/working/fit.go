package working

import (
	"slices"

	"github.com/holdfast-go/holdfast/message"
)

// shortest is the fewest tokens that a text is cut to. Below it, the line that says so would be most of what is left.
const shortest = 48

// A piece is a text in a message that may be shortened: what was said, what a tool returned, the arguments of a call.
// Reasoning is signed and an image has no shorter form.
type piece struct {
	id     string // under which the whole may be stored
	text   string
	result bool
	args   bool
}

// pieces calls edit for each piece of a message, and returns the message with what edit returned. The message given is
// not changed, and shares what stays the same.
func pieces(m message.Message, edit func(piece) string) message.Message {
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case message.KindText:
			p.Text = edit(piece{id: m.ID, text: p.Text})
		case message.KindCall:
			call := *p.Call
			call.Args = edit(piece{id: call.ID, text: call.Args, args: true})
			p.Call = &call
		case message.KindResult:
			result := *p.Result
			result.Parts = slices.Clone(result.Parts)
			for j, inner := range result.Parts {
				if inner.Kind == message.KindText {
					result.Parts[j].Text = edit(piece{id: result.CallID, text: inner.Text, result: true})
				}
			}
			p.Result = &result
		}
	}
	return m
}

// shorten returns a message whose pieces have at most limit tokens, or only those that choose picks. The message itself
// comes back if nothing is longer.
func (c cutter) shorten(m message.Message, limit int, choose func(piece) bool) message.Message {
	changed := false
	short := pieces(m, func(p piece) string {
		if !choose(p) || c.counter.Count(p.text) <= limit {
			return p.text
		}
		changed = true
		if p.args {
			return c.cut(p.text, p.id, limit, cutArgs)
		}
		return c.cut(p.text, p.id, limit, same)
	})
	if !changed {
		return m
	}
	return short
}

func (c cutter) shortenAll(messages []message.Message, limit int, choose func(piece) bool) []message.Message {
	short := make([]message.Message, len(messages))
	for i, m := range messages {
		short[i] = c.shorten(m, limit, choose)
	}
	return short
}

func anyPiece(piece) bool      { return true }
func resultPiece(p piece) bool { return p.result }

// fit returns messages that have at most budget tokens together: the longest pieces are shortened to one length, the
// others stay. It reports whether they fit; if not, what it returns is as short as it gets.
func (c cutter) fit(messages []message.Message, budget int) ([]message.Message, bool) {
	total := CountMessages(c.counter, messages)
	if total <= budget {
		return messages, true
	}
	var costs []int
	for _, m := range messages {
		pieces(m, func(p piece) string { costs = append(costs, c.counter.Count(p.text)); return p.text })
	}
	rest := total
	for _, n := range costs {
		rest -= n
	}
	for limit := level(costs, budget-rest); limit > shortest; limit = limit * 9 / 10 {
		if short := c.shortenAll(messages, limit, anyPiece); CountMessages(c.counter, short) <= budget {
			return short, true
		}
	}
	short := c.shortenAll(messages, shortest, anyPiece)
	return short, CountMessages(c.counter, short) <= budget
}

// level returns the greatest limit at which costs, each cut to the limit, add up to no more than the budget.
func level(costs []int, budget int) int {
	sorted := slices.Sorted(slices.Values(costs))
	for i, n := range sorted {
		if left := len(sorted) - i; n*left > budget {
			return max(budget, 0) / left
		}
		budget -= n
	}
	return max(budget, 0)
}
