// Package textwidth lays text out in columns of a terminal, Chinese as well as English.
package textwidth

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wide lists the runes that take two columns of a terminal. It covers what a text in an East Asian or a European language may hold.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0x4dbf, 1}, {0x4e00, 0xa4cf, 1}, {0xa960, 0xa97f, 1}, {0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1}},
}

// Of is how many columns s takes.
func Of(s string) int {
	n := 0
	for _, r := range s {
		n += ofRune(r)
	}
	return n
}

func ofRune(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// Pad fills s with spaces up to n columns.
func Pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-Of(s))) }

// Clip cuts s to n columns and says so with two dots.
func Clip(s string, n int) string {
	if Of(s) <= n {
		return s
	}
	return Fit(s, n-2) + ".."
}

// Fit is the longest start of s that takes at most n columns.
func Fit(s string, n int) string {
	for i, r := range s {
		if n -= ofRune(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// Wrap breaks s into lines of at most width columns. Latin text breaks at spaces, Chinese text anywhere but before closing
// punctuation. Every line after the first begins with hang. Spaces are kept, except where a line breaks.
func Wrap(s string, width int, hang string) []string {
	body := strings.TrimLeft(s, " ")
	line := s[:len(s)-len(body)]
	var lines []string
	empty := true // the line has nothing but its indent
	spaces := 0   // seen since the last word
	for _, w := range pieces(body) {
		if w == " " {
			spaces++
			continue
		}
		switch {
		case empty:
		case Of(line)+spaces+Of(w) <= width:
			line += strings.Repeat(" ", spaces)
		default:
			lines, line, empty = append(lines, line), hang, true
		}
		spaces = 0
		for Of(line)+Of(w) > width { // longer than a whole line: an address or a path
			head := cut(w, width-Of(line))
			lines, line, w = append(lines, line+head), hang, w[len(head):]
		}
		line, empty = line+w, false
	}
	return append(lines, line)
}

// pieces splits s into what must stay together: words, single wide runes with the punctuation that follows, and spaces.
func pieces(s string) []string {
	var out []string
	begin := 0
	var prev rune
	for i, r := range s {
		if i > begin && breaks(prev, r) {
			out, begin = append(out, s[begin:i]), i
		}
		prev = r
	}
	if begin < len(s) {
		out = append(out, s[begin:])
	}
	return out
}

// breaks reports whether a line may end between two runes.
func breaks(a, b rune) bool {
	switch {
	case a == ' ' || b == ' ':
		return true
	case strings.ContainsRune("，。；：！？、）】》」』”’%％", b) || strings.ContainsRune("（【《「『“‘¥￥", a):
		return false
	}
	return unicode.Is(wide, a) || unicode.Is(wide, b)
}

// cut is Fit, but at least one rune.
func cut(s string, n int) string {
	if head := Fit(s, n); head != "" {
		return head
	}
	_, n = utf8.DecodeRuneInString(s)
	return s[:n]
}
