package openaitest

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// quote writes a JSON string. What is not escaped is written byte by byte, so a text that was cut inside a character stays so.
func quote(text string, escape bool) string {
	if escape {
		return quoteUnits(utf16.Encode([]rune(text)))
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escapedPieces cuts a text into n units of UTF-16 each, as servers do whose strings are made of them.
func escapedPieces(text string, n int) (out []string) {
	units := utf16.Encode([]rune(text))
	for len(units) > 0 {
		n := min(n, len(units))
		out = append(out, quoteUnits(units[:n]))
		units = units[n:]
	}
	return out
}

func quoteUnits(units []uint16) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, u := range units {
		if u < ' ' || u > '~' || u == '"' || u == '\\' {
			fmt.Fprintf(&b, `\u%04x`, u)
		} else {
			b.WriteByte(byte(u))
		}
	}
	b.WriteByte('"')
	return b.String()
}
