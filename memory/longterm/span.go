package longterm

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Span is where some words stand in a text: how many characters come before them and how many there are, spaces not counted. It tells
// nothing to who does not have the text.
type Span struct {
	From int `json:"from"`
	Len  int `json:"len"`
}

// SpanOf returns the first place of words in a text, but for case, width and spaces, and whether they are there.
func SpanOf(text, words string) (Span, bool) {
	text, words = dense(text), dense(words)
	at := strings.Index(text, words)
	if words == "" || at < 0 {
		return Span{}, false
	}
	return Span{utf8.RuneCountInString(text[:at]), utf8.RuneCountInString(words)}, true
}

// Of returns what stands there in a text, in lower case and with the spaces between its words, or "" if the text is shorter.
func (s Span) Of(text string) string {
	var out strings.Builder
	n := 0
	for _, r := range fold(text) {
		if unseen(r) {
			if unicode.IsSpace(r) && n > s.From && n < s.From+s.Len {
				out.WriteRune(' ')
			}
			continue
		}
		if n >= s.From && n < s.From+s.Len {
			out.WriteRune(r)
		}
		n++
	}
	if n < s.From+s.Len {
		return ""
	}
	return out.String()
}

// unseen are the characters that spans do not count: spaces, and those that are taken out of what is kept.
func unseen(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// dense is a text as spans count it.
func dense(text string) string {
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, fold(text))
}
