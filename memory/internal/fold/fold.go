// Package fold brings a text into the one form in which words are compared, and leads back to the bytes that a person wrote.
package fold

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Text is a folded text: narrow letters, plain quotes, dashes and spaces, nothing that does not show. Case is kept.
type Text struct {
	S  string
	at []int // of each byte of S its place in the original, and the original's length; nil: both are the same
}

// Of folds a text, in linear time. What is plain already is not copied.
func Of(s string) Text {
	i := strings.IndexFunc(s, func(r rune) bool { return Rune(r) != r })
	if i < 0 {
		return Text{S: s}
	}
	var b strings.Builder
	t := Text{at: make([]int, 0, len(s)+1)}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		from := b.Len()
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(s[i])
		} else if f := Rune(r); f >= 0 {
			b.WriteRune(f)
		}
		for range b.Len() - from {
			t.at = append(t.at, i)
		}
		i += size
	}
	t.S, t.at = b.String(), append(t.at, len(s))
	return t
}

// Span returns the bytes of the original that bytes of S stand for.
func (t Text) Span(start, end int) (int, int) {
	if t.at == nil {
		return start, end
	}
	return t.at[start], t.at[end]
}

// Rune folds one rune. It is -1 for one that shows nothing.
func Rune(r rune) rune {
	switch {
	case r < unicode.MaxASCII:
		return r
	case r >= 0xFF01 && r <= 0xFF5E && !cjk(r): // full width
		return r - 0xFEE0
	case r == 0x3000, r == 0x00A0, r >= 0x2000 && r <= 0x200A, r == 0x202F:
		return ' '
	case r == '‘', r == '’', r == 0x02BC:
		return '\''
	case r == '“', r == '”', r == '„':
		return '"'
	case r >= 0x2010 && r <= 0x2015, r == 0x2212:
		return '-'
	case r == 0xFE0E, r == 0xFE0F, r != unicode.ReplacementChar && unicode.In(r, unicode.Cf, unicode.Cs):
		return -1
	}
	return r
}

// cjk reports whether a full-width rune is punctuation that ends a Chinese phrase, which an ASCII mark inside a word does not.
func cjk(r rune) bool { return strings.ContainsRune("，。；：！？（）", r) }

// Lower returns a text with ASCII letters in lower case: every byte keeps its place.
func Lower(s string) string {
	i := strings.IndexFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' })
	if i < 0 {
		return s
	}
	b := []byte(s)
	for ; i < len(b); i++ {
		if 'A' <= b[i] && b[i] <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// Han reports whether a rune is a Chinese character.
func Han(r rune) bool { return unicode.Is(unicode.Han, r) }

// HasHan reports whether a text has a Chinese character.
func HasHan(s string) bool { return strings.ContainsFunc(s, Han) }
