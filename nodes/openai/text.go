package openai

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A rawText is a JSON string that was not decoded yet: it may hold a piece of a character.
type rawText []byte

// UnmarshalJSON keeps a copy.
func (t *rawText) UnmarshalJSON(doc []byte) error {
	*t = bytes.Clone(doc)
	return nil
}

// bytes decodes the string. What is no UTF-8 stays as it is, and half a surrogate pair becomes the three bytes that it would
// have as a character of its own; joined puts both together. It returns nil for what is no string.
func (t rawText) bytes() []byte {
	if len(t) < 2 || t[0] != '"' {
		return nil
	}
	in := t[1 : len(t)-1]
	out := make([]byte, 0, len(in))
	for len(in) > 0 {
		if in[0] != '\\' {
			out, in = append(out, in[0]), in[1:]
			continue
		}
		if in[1] != 'u' {
			out, in = append(out, unescaped(in[1])), in[2:]
			continue
		}
		unit, _ := strconv.ParseUint(string(in[2:6]), 16, 16) // the JSON decoder has seen that it is one
		out, in = appendUnit(out, rune(unit)), in[6:]
	}
	return pairs(out)
}

func unescaped(c byte) byte {
	if i := strings.IndexByte("bfnrt", c); i >= 0 {
		return "\b\f\n\r\t"[i]
	}
	return c
}

func appendUnit(out []byte, unit rune) []byte {
	if !utf16.IsSurrogate(unit) {
		return utf8.AppendRune(out, unit)
	}
	return append(out, 0xE0|byte(unit>>12), 0x80|byte(unit>>6)&0x3F, 0x80|byte(unit)&0x3F)
}

// isHalf reports whether three bytes are the first (0xA0) or second (0xB0) half of a surrogate pair.
func isHalf(b []byte, which byte) bool {
	return len(b) >= 3 && b[0] == 0xED && b[1]&0xF0 == which && b[2]&0xC0 == 0x80
}

// pairs makes one character of two halves that stand next to each other.
func pairs(b []byte) []byte {
	if !bytes.Contains(b, []byte{0xED}) {
		return b
	}
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		if isHalf(b, 0xA0) && isHalf(b[3:], 0xB0) {
			out, b = utf8.AppendRune(out, utf16.DecodeRune(unit(b), unit(b[3:]))), b[6:]
			continue
		}
		out, b = append(out, b[0]), b[1:]
	}
	return out
}

func unit(b []byte) rune { return 0xD000 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F) }

// A joined is a text that arrives in pieces.
type joined struct {
	whole strings.Builder
	rest  []byte // of a character that is not complete
}

// add returns what is complete now and was not before.
func (j *joined) add(piece []byte) string {
	all := pairs(append(j.rest, piece...))
	n := len(all) - incomplete(all)
	j.rest = bytes.Clone(all[n:])
	return j.append(all[:n])
}

// end gives up on a character that was never completed.
func (j *joined) end() string {
	rest := j.rest
	j.rest = nil
	return j.append(rest)
}

func (j *joined) append(b []byte) string {
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	j.whole.WriteString(s)
	return s
}

func (j *joined) String() string { return j.whole.String() }

// incomplete is how many bytes at the end may be completed by what follows.
func incomplete(b []byte) int {
	for n := 1; n <= min(3, len(b)); n++ {
		tail := b[len(b)-n:]
		if n == 3 && isHalf(tail, 0xA0) || utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			return n
		}
	}
	return surrogateTail(b)
}

// surrogateTail is the length of the first half of a pair, and of the bytes of a second half after it, at the end of a text.
func surrogateTail(b []byte) int {
	for n := 4; n <= min(5, len(b)); n++ {
		if tail := b[len(b)-n:]; isHalf(tail, 0xA0) && tail[3] == 0xED {
			return n
		}
	}
	return 0
}
