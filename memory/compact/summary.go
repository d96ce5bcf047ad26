package compact

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/memory/working"
)

// A digest is the text of a summary in its parts: facts found by rule, what a Summarizer wrote, and where the full text is.
type digest struct {
	facts   []fact
	prose   string
	index   string // id of the newest index; "" if nothing was archived
	covered int    // messages that the index leads to
}

var indexLine = regexp.MustCompile(`^Full text of (\d+) earlier messages: result (r_[0-9a-f]+)$`)

// readDigest takes a summary's text apart. A text of another origin is prose.
func readDigest(text string) digest {
	var d digest
	var prose []string
	for line := range strings.SplitSeq(text, "\n") {
		if m := factLine.FindStringSubmatch(line); m != nil {
			d.facts = append(d.facts, fact{m[1], m[2]})
		} else if m := indexLine.FindStringSubmatch(line); m != nil {
			d.covered, _ = strconv.Atoi(m[1])
			d.index = m[2]
		} else if strings.TrimSpace(line) != "" {
			prose = append(prose, line)
		}
	}
	d.prose = strings.Join(prose, "\n")
	return d
}

func (d digest) reference() string {
	if d.index == "" {
		return ""
	}
	return fmt.Sprintf("Full text of %d earlier messages: result %s", d.covered, d.index)
}

// fit cuts the summary to a number of tokens. The reference stays; prose has up to half of the rest, facts what is left.
func (d digest) fit(c working.Counter, n int) digest {
	for room := n; ; room = room*9/10 - 1 { // a counter may count a whole higher than its parts
		fits := d.fitParts(c, room)
		if c.Count(fits.String()) <= n || room <= 0 {
			return fits
		}
	}
}

func (d digest) fitParts(c working.Counter, n int) digest {
	d.prose = cutLines(c, d.prose, d.proseCap(c, n))
	d.facts = fitFacts(c, d.facts, n-c.Count(d.reference())-c.Count(d.prose)-2)
	return d
}

// proseCap is how much prose a summary of n tokens has at most.
func (d digest) proseCap(c working.Counter, n int) int { return (n - c.Count(d.reference()) - 1) / 2 }

// String is the text of the summary: facts, prose, reference.
func (d digest) String() string {
	var all []string
	for _, f := range d.facts {
		all = append(all, f.line())
	}
	for _, part := range []string{d.prose, d.reference()} {
		if part != "" {
			all = append(all, part)
		}
	}
	return strings.Join(all, "\n")
}

// cutLines keeps the first lines that fit, of the next one the sentences that do; a first one that is too long is cut
// between runes.
func cutLines(c working.Counter, text string, n int) string {
	if n <= 0 {
		return ""
	}
	if c.Count(text) <= n {
		return text
	}
	space := budget{counter: c, left: n}
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !space.take(line) {
			if line = space.sentences(line); line != "" {
				kept = append(kept, line)
			}
			break
		}
		kept = append(kept, line)
	}
	if len(kept) == 0 {
		return head(c, text, n-1)
	}
	return strings.Join(kept, "\n")
}

// sentences returns the first sentences of a line that fit.
func (b *budget) sentences(line string) string {
	var kept []string
	for _, sentence := range split(line, sentenceEnd) {
		if !b.take(sentence) {
			break
		}
		kept = append(kept, sentence)
	}
	return strings.Join(kept, " ")
}
