package tokens

import (
	"unicode"
	"unicode/utf8"
)

// A class is something that is counted in a text. Each has a weight, the tokens that one of it costs.
type class int

const (
	word   class = iota // runs of ASCII letters, cut where a capital follows a small letter
	bare                // those that no single space or mark goes before
	long                // letters of a word beyond the sixth
	longer              // beyond the twelfth
	upper               // capitals behind the first letter of a word
	rare                // pairs of letters that few words have
	digits              // groups of up to three digits
	gap                 // spaces that no letter or mark takes to itself
	blank               // further spaces, by sixteen
	line                // runs of line breaks
	tie                 // a single mark before a letter
	mark                // runs of other marks
	marks               // marks in a run that differ from the one before
	again               // marks that repeat the one before, by four
	han
	stranger // han outside the common block
	kana
	hangul
	stop    // punctuation and full-width forms of CJK
	accent  // Latin letters beyond ASCII
	abroad  // letters of Greek, Cyrillic and the like
	picture // emoji and other symbols, by byte
	other   // everything else, by byte
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
	default:
		s.marks()
	}
}

// word counts a run of letters: "getUserID" is three words, get, User and ID.
func (s *scanner) word() {
	start := s.at
	for s.at++; s.at < len(s.text) && letter(s.text[s.at]); s.at++ {
		b, before := s.text[s.at], s.text[s.at-1]
		if capital(b) {
			if !capital(before) {
				break
			}
			s.n[upper]++
		}
		if !common(before, b) {
			s.n[rare]++
		}
	}
	size := s.at - start
	s.n[word]++
	s.n[long] += max(0, size-6)
	s.n[longer] += max(0, size-12)
	if start == 0 || letter(s.text[start-1]) || digit(s.text[start-1]) || s.text[start-1] == '\n' {
		s.n[bare]++
	}
}

func (s *scanner) number() {
	start := s.at
	for s.at < len(s.text) && digit(s.text[s.at]) {
		s.at++
	}
	s.n[digits] += (s.at - start + 2) / 3
}

// space counts a run of white space: line breaks take the spaces before them, and the last space belongs to what follows,
// unless that is a digit.
func (s *scanner) space() {
	start, broken := s.at, -1
	for ; s.at < len(s.text) && space(s.text[s.at]); s.at++ {
		if b := s.text[s.at]; b == '\n' || b == '\r' {
			broken = s.at
		}
	}
	if broken >= 0 {
		s.n[line]++
		s.n[blank] += (broken - start) / 16
		start = broken + 1
	}
	size := s.at - start
	if size > 0 && s.text[s.at-1] == ' ' && s.at < len(s.text) && !digit(s.text[s.at]) {
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
	for s.at++; s.at < len(s.text) && punctuation(s.text[s.at]); s.at++ {
		if s.text[s.at] == s.text[s.at-1] {
			s.n[again]++
		} else {
			s.n[marks]++
		}
	}
	alone := s.at-start == 1 && (start == 0 || s.text[start-1] != ' ')
	if alone && s.at < len(s.text) && letter(s.text[s.at]) {
		s.n[tie]++
	} else {
		s.n[mark]++
	}
}

func (s *scanner) rune() {
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	s.at += size
	switch {
	case r >= 0x4e00 && r < 0xa000:
		s.n[han]++
	case unicode.Is(unicode.Han, r):
		s.n[stranger]++
	case r >= 0x3040 && r < 0x3100:
		s.n[kana]++
	case r >= 0xac00 && r < 0xd7a4:
		s.n[hangul]++
	case r >= 0x3000 && r < 0x3040, r >= 0xff00 && r < 0xfff0, r >= 0x2010 && r < 0x2040:
		s.n[stop]++
	case r < 0x250:
		s.n[accent]++
	case r < 0x530:
		s.n[abroad]++
	case r >= 0x1f000 && r < 0x20000:
		s.n[picture] += size
	default:
		s.n[other] += size
	}
}

func letter(b byte) bool  { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func capital(b byte) bool { return b >= 'A' && b <= 'Z' }
func digit(b byte) bool   { return b >= '0' && b <= '9' }
func space(b byte) bool   { return b == ' ' || b >= '\t' && b <= '\r' }

// punctuation includes control characters.
func punctuation(b byte) bool { return b < utf8.RuneSelf && !letter(b) && !digit(b) && !space(b) }

// common reports whether a pair of letters is frequent in words.
func common(a, b byte) bool { return true }
