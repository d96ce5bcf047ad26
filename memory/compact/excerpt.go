package compact

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/holdfast-go/holdfast/memory/working"
)

// ExcerptOptions say how long an excerpt is and what it is for.
type ExcerptOptions struct {
	MaxTokens int    // its limit; below 64 it is 64
	Result    string // id under which the full text is kept; it is named in the last line
	Question  string // lines that share words with it go first; "" for none
}

// Excerpt returns what matters of a text that is too long for a prompt, or the text itself if it is short enough:
//
//   - of a log: counts by level, the span of time, error codes, the first and the last error, the patterns of its lines
//     with counts;
//   - of JSON: how many items, which fields, their ranges and frequent values, the first and the last item;
//   - of any other text: its beginning and its end.
//
// Lines that share words with the question are in all of them. The last line says how much there was and where it is. The
// excerpt of the same text is the same, never has more than MaxTokens, and takes linear time.
func Excerpt(c working.Counter, text string, o ExcerptOptions) string {
	o.MaxTokens = max(o.MaxTokens, least)
	if !longer(c, text, o.MaxTokens) {
		return text
	}
	text = valid(text)
	kind, points := recognise(text, newQuestion(o.Question))
	foot := footer(text, kind, o.Result)
	space := budget{counter: c, left: o.MaxTokens - c.Count(foot) - 2}
	out := append(space.fill(points), foot)
	for len(out) > 1 && c.Count(strings.Join(out, "\n")) > o.MaxTokens { // a counter may count a whole higher than its parts
		out = out[1:]
	}
	return strings.Join(out, "\n")
}

// A point is a line of an excerpt. Points are tried in order of rank; those that fit are shown in their order.
type point struct {
	rank int // lower is more important
	text string
}

// recognise finds out what a text is.
func recognise(text string, q question) (kind string, points []point) {
	if points, ok := digestJSON(text, q); ok {
		return "JSON", points
	}
	if points, ok := digestLog(text, q); ok {
		return "log", points
	}
	return "text", digestPlain(text, q)
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// footLine is the last line of an excerpt, with the id of its full text.
var footLine = regexp.MustCompile(`\[excerpt of a (JSON|log|text) of \d+ lines, \d+ bytes(?:; full text: result (r_[0-9a-f]{20}))?\]$`)

func footer(text, kind, id string) string {
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	foot := fmt.Sprintf("[excerpt of a %s of %d lines, %d bytes", kind, n, len(text))
	if id != "" {
		foot += "; full text: result " + id
	}
	return foot + "]"
}

// fill takes points by rank and returns their texts in the order of the points. A point that is too long for what is left
// is shortened if nothing was taken yet, else left out.
func (b *budget) fill(points []point) []string {
	taken := make([]string, len(points))
	for _, i := range byRank(points) {
		if b.take(points[i].text) {
			taken[i] = points[i].text
			continue
		}
		if cut := head(b.counter, points[i].text, b.left/2); len(cut) >= 40 && b.take(cut+"…") {
			taken[i] = cut + "…"
		}
	}
	var out []string
	for _, text := range taken {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}
