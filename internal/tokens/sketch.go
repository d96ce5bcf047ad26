package tokens

import (
	_ "embed"
	"unicode/utf8"
)

// sketch is a Bloom filter of 2^18 bits and three hashes. It holds those tokens of o200k that have only Chinese, Japanese and Korean
// characters and emoji, up to five, and perhaps a space before them, and those that are one character beyond ASCII. They are some
// 12,000 of 200,000; about one in 400 others is taken for one of them. TestSketch of memory/working/tiktoken writes it.
//
//go:embed sketch.bin
var sketch string

// pairs has a bit for each pair of ASCII characters. It is set if the two are beside each other in many tokens of o200k: in 200, whatever
// their case, if both are letters, else in 10. The same test writes it.
//
//go:embed pairs.bin
var pairs string

// frequent reports whether a pair of ASCII characters is.
func frequent(a, b byte) bool {
	i := int(a)<<7 | int(b)
	return pairs[i/8]>>(i%8)&1 == 1
}

// SketchRunes is how many runes the longest token in the sketch has, a space before it not counted.
const SketchRunes = 5

// SketchBits are the three bits of a token in the sketch.
func SketchBits(token string) [3]uint32 {
	h := uint64(seed)
	for i := range len(token) {
		h = mix(h, token[i])
	}
	return bits(h)
}

// FNV-1a, of 64 bits.
const (
	seed  = 14695981039346656037
	prime = 1099511628211
)

func mix(h uint64, b byte) uint64 { return (h ^ uint64(b)) * prime }

func bits(h uint64) [3]uint32 {
	h ^= h >> 29
	return [3]uint32{uint32(h) & 0x3ffff, uint32(h>>18) & 0x3ffff, uint32(h>>36) & 0x3ffff}
}

func known(h uint64) bool {
	for _, bit := range bits(h) {
		if sketch[bit/8]>>(bit%8)&1 == 0 {
			return false
		}
	}
	return true
}

// longest returns the size of the longest known token that a text begins with, or 0.
func longest(text string) int {
	h, best, i := uint64(seed), 0, 0
	if text[0] == ' ' {
		h, i = mix(h, ' '), 1
	}
	for n := range SketchRunes {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !Sketched(r) && (n > 0 || i > 0 || size < 2) {
			break
		}
		for range size {
			h = mix(h, text[i])
			i++
		}
		if known(h) {
			best = i
		}
		if !Sketched(r) {
			break
		}
	}
	return best
}

// Sketched reports whether a rune is of Chinese, Japanese or Korean, a full-width form, or an emoji.
func Sketched(r rune) bool {
	switch {
	case r >= 0x2600 && r < 0x27c0, r >= 0x3000 && r < 0x3100, r >= 0x4e00 && r < 0xa000, r >= 0xac00 && r < 0xd7a4,
		r == 0xfe0f, r >= 0xff00 && r < 0xfff0, r >= 0x1f000 && r < 0x1fb00:
		return true
	}
	return false
}
