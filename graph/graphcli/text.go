package graphcli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// columnsWide is how many columns text may take.
const columnsWide = 80

// safe shows what a terminal would act on as an escape: stored text is other people's.
func safe(s string) string {
	if !strings.ContainsFunc(s, acts) && strings.ToValidUTF8(s, "") == s {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if acts(r) {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// acts reports whether a rune moves the cursor, or changes how its neighbours are shown.
func acts(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// lines is safe line by line.
func lines(s string) string {
	out := strings.Split(s, "\n")
	for i := range out {
		out[i] = safe(out[i])
	}
	return strings.Join(out, "\n")
}

// A table has columns as wide as their cells, and notes below rows. What does not fit into a line is cut where it is widest, but in
// columns that are needed whole only when nothing else is left.
type table struct {
	head  []string
	rows  [][]string
	notes map[int][]string // by row
	wide  bool             // cut nothing
}

// whole are the columns that are of no use when they are cut.
var whole = []string{"STATUS", "STARTED", "UPDATED", "ASKED", "AT", "QUESTION", "HASH", "ENTRY", "STEP", "KIND"}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = safe(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// note puts a line below the last row.
func (t *table) note(text string) {
	if t.notes == nil {
		t.notes = map[int][]string{}
	}
	text = safe(text)
	if !t.wide {
		text = textwidth.Clip(text, columnsWide-len(noteIndent))
	}
	t.notes[len(t.rows)] = append(t.notes[len(t.rows)], noteIndent+text)
}

const (
	gap        = "  " // between two columns
	noteIndent = "    "
	narrow     = 8 // nothing is cut below this as long as there is a choice
)

// widths works out how wide the columns are.
func (t *table) widths() []int {
	out := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			out[i] = max(out[i], textwidth.Of(cell))
		}
	}
	for sum := total(out); !t.wide && sum > columnsWide; sum-- {
		out[t.widest(out)]--
	}
	return out
}

func total(widths []int) int {
	sum := len(gap) * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// widest is the column to cut.
func (t *table) widest(widths []int) int {
	most, soft := 0, -1
	for i, w := range widths {
		if w > widths[most] {
			most = i
		}
		if !slices.Contains(whole, t.head[i]) && w > narrow && (soft < 0 || w > widths[soft]) {
			soft = i
		}
	}
	if soft >= 0 {
		return soft
	}
	return most
}

func (t *table) String() string {
	var b strings.Builder
	widths := t.widths()
	for n, row := range append([][]string{t.head}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString(gap)
			}
			line.WriteString(textwidth.Pad(textwidth.Clip(cell, widths[i]), widths[i]))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		for _, note := range t.notes[n] {
			b.WriteString(note + "\n")
		}
	}
	return b.String()
}

// facts are lines of a name and a value, which is broken where it does not fit.
type facts struct{ strings.Builder }

const factsHang = 12

func (f *facts) add(name, format string, args ...any) {
	f.say(name, fmt.Sprintf(format, args...))
}

func (f *facts) say(name, value string) {
	for _, line := range textwidth.Wrap(safe(value), columnsWide-factsHang, "") {
		f.WriteString(strings.TrimRight(textwidth.Pad(name, factsHang)+line, " ") + "\n")
		name = ""
	}
}
