package working

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A cutter shortens texts to a number of tokens.
type cutter struct {
	counter Counter
	words   words
	stored  map[string]string // from the id of a message or call to the result that has its full text
}

// cut returns wrap(text) if it has no more than limit tokens, else wrap of its head, a line that says how much is left out,
// and its tail. It cuts at lines where there are any near, else between characters. If not even the line fits, the line is
// all that stays, if it is shorter than the text: the caller counts again. It costs a few counts of about limit tokens, and one of the whole text.
func (c cutter) cut(text, id string, limit int, wrap func(string) string) string {
	whole := wrap(text)
	total := c.counter.Count(whole)
	if total <= limit {
		return whole
	}
	runes := utf8.RuneCountInString(text)
	shortest := wrap(c.mark(runes, id))
	room := limit - c.counter.Count(shortest)
	for size := int(float64(len(text)) * float64(room) / float64(total)); size > 0; {
		head, tail := text[:headEnd(text, size*2/3)], text[tailStart(text, size/3):]
		left := runes - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
		short := wrap(join(head, c.mark(left, id), tail))
		n := c.counter.Count(short)
		if n <= limit {
			return short
		}
		size = min(size*9/10, size*limit/n)
	}
	if c.counter.Count(shortest) >= total { // the line is longer than what it stands for
		return whole
	}
	return shortest
}

func same(text string) string { return text }

// mark is the line that stands for what was left out.
func (c cutter) mark(runes int, id string) string {
	if result, ok := c.stored[id]; ok {
		return fmt.Sprintf(c.words.leftFrom, runes, name(result))
	}
	if id == "" {
		return fmt.Sprintf(c.words.left, runes)
	}
	return fmt.Sprintf(c.words.leftFromSelf, runes, name(id))
}

func join(head, mark, tail string) string {
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	if tail != "" && !strings.HasPrefix(tail, "\n") {
		mark += "\n"
	}
	return head + mark + tail
}

// cutArgs shortens the arguments of a call. They must stay a JSON object, so what is left of their text becomes a string in one.
func cutArgs(text string) string {
	doc, err := json.Marshal(map[string]string{"shortened": text})
	if err != nil {
		return "{}" // a string always has a JSON form
	}
	return string(doc)
}

// headEnd returns where to cut a head of about size bytes, and not more: behind a line break in its last quarter, behind a
// space in its last eighth, else where a character begins.
func headEnd(text string, size int) int {
	if size >= len(text) {
		return len(text)
	}
	if at := strings.LastIndexByte(text[:size], '\n'); at >= size*3/4 {
		return at + 1
	}
	if at := strings.LastIndexByte(text[:size], ' '); at >= size*7/8 {
		return at + 1
	}
	for size > 0 && !boundary(text, size) {
		size--
	}
	return size
}

// tailStart returns where a tail of about size bytes, and not more, begins.
func tailStart(text string, size int) int {
	start := max(len(text)-size, 0)
	if at := strings.IndexByte(text[start:], '\n'); at >= 0 && at <= size/4 {
		return start + at
	}
	if at := strings.IndexByte(text[start:], ' '); at >= 0 && at <= size/8 {
		return start + at
	}
	for start < len(text) && !boundary(text, start) {
		start++
	}
	return start
}

// boundary reports whether a character as a reader sees it may begin at a byte: no joined emoji, no accent and no flag is
// cut there. It looks at the runes on both sides, and for flags a little further; it is a part of Unicode's rule (UAX 29).
func boundary(text string, at int) bool {
	if at == 0 || at == len(text) {
		return true
	}
	if !utf8.RuneStart(text[at]) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	switch {
	case before == '\r' && after == '\n', before == zeroWidthJoiner:
		return false
	case regional(after):
		return flagsBefore(text[:at])%2 == 0
	}
	return after != zeroWidthJoiner && !unicode.In(after, unicode.Mn, unicode.Me, unicode.Mc) && (after < 0x1f3fb || after > 0x1f3ff)
}

const zeroWidthJoiner = '\u200d'

// regional reports whether a rune is half of a flag.
func regional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// flagsBefore counts the halves of flags that end a text.
func flagsBefore(text string) (n int) {
	for {
		r, size := utf8.DecodeLastRuneInString(text)
		if !regional(r) {
			return n
		}
		n++
		text = text[:len(text)-size]
	}
}
