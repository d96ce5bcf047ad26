package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A class is something that is counted in a text. Each has a weight, the tokens that one of it costs.
type class int

const (
	word    class = iota // runs of ASCII letters, cut where a capital follows a small letter
	bare                 // those before which there is neither a space nor a mark
	long                 // letters of a word beyond the sixth
	endless              // beyond the sixteenth
	upper                // capitals behind the first letter of a word
	rare                 // pairs of letters in them that are not frequent
	digits               // groups of up to three digits
	gap                  // white space that nothing takes to itself
	blank                // further characters of it, by sixteen, or by eight with line breaks
	shift                // one kind of white space behind another
	line                 // runs of line breaks
	ending               // those behind a mark
	tie                  // a single mark before a letter that is a frequent pair with it
	knot                 // before another letter
	mark                 // runs of other marks
	syntax               // marks in them that are a frequent pair with the one before
	marks                // that are not
	again                // that repeat the one before
	rule                 // that repeat the two before
	cjk                  // tokens that the sketch knows, of Chinese, Japanese, Korean and emoji
	accent               // Latin letters beyond ASCII
	abroad               // letters of other scripts with many words in the vocabulary
	foreign              // other runes that the sketch knows
	other                // control characters, and what nobody knows, by byte
	classes
)

// counts is how often each class is in a text.
type counts [classes]int

// A scanner cuts a text into the pieces that tokenizers cut it into before they look at their vocabulary, and counts them.
type scanner struct {
	text string
	at   int
	n    counts
}

func count(text string) counts {
	s := scanner{text: text}
	for s.at < len(text) {
		s.piece()
	}
	return s.n
}

func (s *scanner) piece() {
	switch b := s.text[s.at]; {
	case b >= utf8.RuneSelf:
		s.rune()
	case letter(b):
		s.word()
	case digit(b):
		s.number()
	case space(b):
		s.space()
	case punctuation(b):
		s.marks()
	default:
		s.n[other]++
		s.at++
	}
}

// before is the byte before a place, 0 at the beginning.
func (s *scanner) before(at int) byte {
	if at == 0 {
		return 0
	}
	return s.text[at-1]
}

// next is the byte that comes next, 0 at the end.
func (s *scanner) next() byte {
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// word counts a run of letters: "getUserID" is three words, get, User and ID.
func (s *scanner) word() {
	start := s.at
	for s.at++; letter(s.next()); s.at++ {
		b, before := s.text[s.at], s.text[s.at-1]
		if capital(b) && !capital(before) {
			break
		}
		if capital(b) {
			s.n[upper]++
		}
		if !frequent(before, b) || b == before && s.at-start > 1 && b == s.text[s.at-2] {
			s.n[rare]++
		}
	}
	size := s.at - start
	s.n[word]++
	s.n[long] += max(0, size-6)
	s.n[endless] += max(0, size-16)
	if b := s.before(start); b != ' ' && !punctuation(b) {
		s.n[bare]++
	}
}

func (s *scanner) number() {
	start := s.at
	for digit(s.next()) {
		s.at++
	}
	s.n[digits] += (s.at - start + 2) / 3
}

// space counts a run of white space. Line breaks take the spaces before them, and the last space belongs to a letter or mark that
// follows. Whether a rune beyond ASCII takes it is for [scanner.rune].
func (s *scanner) space() {
	start, broken := s.at, -1
	for ; space(s.next()); s.at++ {
		b, before := s.text[s.at], s.before(s.at)
		if b == '\n' || b == '\r' {
			broken = s.at
		}
		if before == '\r' && b != '\n' || s.at > start && b != before && before != '\n' && before != '\r' {
			s.n[shift]++
		}
	}
	if broken >= 0 {
		kind := line
		if b := s.before(start); punctuation(b) && frequent(b, '\n') {
			kind = ending
		}
		s.n[kind]++
		s.n[blank] += (broken - start) / 8
		start = broken + 1
	}
	size := s.at - start
	if b := s.next(); size > 0 && s.text[s.at-1] == ' ' && (letter(b) || punctuation(b) || b >= utf8.RuneSelf) {
		size--
	}
	if size > 0 {
		s.n[gap]++
		s.n[blank] += size / 16
	}
}

// marks counts a run of ASCII punctuation. A single one before a letter often makes one token with it.
func (s *scanner) marks() {
	start := s.at
	for s.at++; punctuation(s.next()); s.at++ {
		switch b := s.text[s.at]; {
		case b == s.text[s.at-1] && s.at-start > 1 && b == s.text[s.at-2] && strings.IndexByte("-=*#_.~/+", b) >= 0:
			s.n[rule]++
		case b == s.text[s.at-1]:
			s.n[again]++
		case frequent(s.text[s.at-1], b):
			s.n[syntax]++
		default:
			s.n[marks]++
		}
	}
	alone := s.at-start == 1 && s.before(start) != ' ' && letter(s.next())
	switch {
	case alone && frequent(s.text[start], s.next()):
		s.n[tie]++
	case alone:
		s.n[knot]++
	default:
		s.n[mark]++
	}
}

// rune counts what begins with a rune beyond ASCII.
func (s *scanner) rune() {
	spaced := s.before(s.at) == ' '
	if spaced {
		if size := longest(s.text[s.at-1:]); size > 0 {
			s.at += size - 1
			s.n[cjk]++
			return
		}
	}
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	whole := longest(s.text[s.at:])
	s.at += max(size, whole)
	latin, own := unicode.Is(unicode.Latin, r), unicode.In(r, worded...)
	if spaced && !latin && !own {
		s.n[gap]++
	}
	twice := size < s.at && strings.HasSuffix(s.text[:s.at-max(size, whole)], s.text[s.at-max(size, whole):s.at])
	switch {
	case whole > size || whole > 0 && Sketched(r):
		s.n[cjk]++
	case whole == 0 && latin && r < 0x250:
		s.n[accent] += 2
	case whole == 0 && Sketched(r) && r > 0x1f000 && paired(r):
		s.n[cjk] += 2
	case whole == 0:
		s.n[other] += size
	case latin:
		s.n[accent]++
	case own && !twice: // a letter again and again is no word
		s.n[abroad]++
	default:
		s.n[foreign]++
	}
}

// worded are the scripts that a vocabulary of 200,000 has some thousand words of, so that a letter is less than a token.
var worded = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Thai}

// paired reports whether an emoji that is no token of its own is two, and not three: whether the first three of its four bytes,
// which it shares with 63 others, are a token.
func paired(r rune) bool {
	switch {
	case r >= 0x1f1c0 && r < 0x1f200, r >= 0x1f300 && r < 0x1f540, r >= 0x1f600 && r < 0x1f6c0, r >= 0x1f900 && r < 0x1f980:
		return true
	}
	return false
}

func letter(b byte) bool  { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func capital(b byte) bool { return b >= 'A' && b <= 'Z' }
func digit(b byte) bool   { return b >= '0' && b <= '9' }
func space(b byte) bool   { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

func punctuation(b byte) bool { return b > ' ' && b < 0x7f && !letter(b) && !digit(b) }
