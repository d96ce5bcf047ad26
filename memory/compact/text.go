package compact

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/working"
)

// lineBytes is where a longer line is broken, so that 50 MB without a line break are lines too.
const lineBytes = 2000

// lines yields the lines of a text without their breaks; a long line comes in pieces that end between runes.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			for len(line) > lineBytes {
				head := clip(line, lineBytes)
				if !yield(head) {
					return
				}
				line = line[len(head):]
			}
			if !yield(line) {
				return
			}
		}
	}
}

// clip returns the longest head of at most n bytes that ends between runes, and at least one byte if there is one.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	cut := n
	for cut > 0 && cut > n-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	if cut <= 0 {
		cut = min(max(n, 1), len(text))
	}
	return text[:cut]
}

// short returns a line for an index or a sample: at most n bytes, with a mark if something is missing.
func short(text string, n int) string {
	text = strings.Join(strings.Fields(clip(text, 4*n)), " ")
	if len(text) <= n {
		return text
	}
	return clip(text, n-len("…")) + "…"
}

// longer reports whether a text has more than n tokens, without counting what is clearly longer.
func longer(c working.Counter, text string, n int) bool {
	return len(text) > 64*n+4096 || c.Count(text) > n
}

// head returns the longest head of a text of at most n tokens, cut between runes. It counts about 15 times as much as it
// returns.
func head(c working.Counter, text string, n int) string {
	text = clip(text, 16*max(n, 1))
	if c.Count(text) <= n {
		return text
	}
	low, high := 0, len(text) // text[:low] fits, text[:high] does not
	for high-low > 1 {
		middle := len(clip(text, (low+high)/2))
		if middle <= low {
			break
		}
		if c.Count(text[:middle]) <= n {
			low = middle
		} else {
			high = middle
		}
	}
	return text[:low]
}

// A budget collects lines up to a number of tokens.
type budget struct {
	counter working.Counter
	left    int
}

// take reports whether a line and its break still fit, and if so counts them.
func (b *budget) take(line string) bool {
	n := b.counter.Count(line) + 1
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}
