package tokentest

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
)

// Hostile returns texts that nobody writes, made to be counted too low. A seed always gives the same.
func Hostile(seed uint64) []Corpus {
	r := rand.New(rand.NewPCG(seed, 11))
	makers := []struct {
		name string
		text func(*rand.Rand) string
	}{
		{"small letters", letters("abcdefghijklmnopqrstuvwxyz", 60)},
		{"letters", letters("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 60)},
		{"short words", letters("abcdefghijklmnopqrstuvwxyz", 4)},
		{"capitals", letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 9)},
		{"one long word", letters("etaoinshrdlucmfw", 1<<20)},
		{"letters and digits", letters("abcdefghijklmnopqrstuvwxyz0123456789", 40)},
		{"printable", letters(printable(), 1<<20)},
		{"marks", letters("!#$%&*+,-./:;<=>?@[]^_`{|}~'\"()\\", 12)},
		{"marks and letters", letters("!#$%&*+,-./:;<=>?@[]^_`{|}~()abcdefghijklm", 1<<20)},
		{"grammar and letters", letters("\"'(),-./:;<=>[]_{}abcdefghijklmnopqrstuvwxyz", 1<<20)},
		{"white space", letters(" \t\n\r\v\f", 1<<20)},
		{"controls", letters("\x00\x01\x02\x03\x04\x05\x06\x0e\x0f\x10\x11\x1b\x7f", 1<<20)},
		{"base64", func(r *rand.Rand) string { return base64.StdEncoding.EncodeToString(random(r, 600)) }},
		{"hex", func(r *rand.Rand) string { return hex.EncodeToString(random(r, 600)) }},
		{"bytes made valid", func(r *rand.Rand) string { return strings.ToValidUTF8(string(random(r, 900)), "\ufffd") }},
		{"bytes", func(r *rand.Rand) string { return string(random(r, 900)) }},
		{"emoji", runes(0x1f300, 0x1f64f, 0x1f900, 0x1f9ff, 0x1f680, 0x1f6ff)},
		{"joined emoji", joined},
		{"zalgo", zalgo},
		{"symbols", runes(0x2000, 0x2bff)},
		{"common han", runes(0x4e00, 0x5fff)},
		{"rare han", runes(0x3400, 0x4dbf, 0x9000, 0x9fff, 0x20000, 0x2a6df)},
		{"kana", runes(0x3041, 0x3096, 0x30a1, 0x30fa)},
		{"hangul", runes(0xac00, 0xd7a3)},
		{"rare scripts", runes(0x980, 0x9ff, 0xb80, 0xbff, 0x10a0, 0x10ff, 0x1200, 0x137f, 0x13a0, 0x13ff, 0xf00, 0xfff, 0x1780, 0x17ff)},
		{"any rune", runes(0x80, 0xd7ff, 0xe000, 0x10ffff)},
	}
	var all []Corpus
	for _, m := range makers {
		c := Corpus{Name: m.name}
		for range 20 {
			c.Texts = append(c.Texts, m.text(r))
		}
		all = append(all, c)
	}
	return all
}

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// letters makes 1,000 characters of an alphabet, with a space about every so many.
func letters(alphabet string, size int) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		b := make([]byte, 1000)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
			if r.IntN(size+1) == 0 {
				b[i] = ' '
			}
		}
		return string(b)
	}
}

func printable() string {
	var b strings.Builder
	for c := byte('!'); c <= '~'; c++ {
		b.WriteByte(c)
	}
	return b.String()
}

// runes makes 500 runes out of ranges, given by their first and last.
func runes(ranges ...rune) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		out := make([]rune, 500)
		for i := range out {
			k := 2 * r.IntN(len(ranges)/2)
			out[i] = ranges[k] + r.Int32N(ranges[k+1]-ranges[k]+1)
		}
		return string(out)
	}
}

func joined(r *rand.Rand) string {
	var b strings.Builder
	for range 150 {
		b.WriteRune(0x1f466 + r.Int32N(4))
		b.WriteRune(0x1f3fb + r.Int32N(5))
		b.WriteString("\u200d")
		b.WriteRune(0x1f680 + r.Int32N(0x80))
		b.WriteString("\ufe0f")
	}
	return b.String()
}

func zalgo(r *rand.Rand) string {
	var b strings.Builder
	for range 200 {
		b.WriteByte(byte('a' + r.IntN(26)))
		for range r.IntN(6) {
			b.WriteRune(0x300 + r.Int32N(0x70))
		}
	}
	return b.String()
}
