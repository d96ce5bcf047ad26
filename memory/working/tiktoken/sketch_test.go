package tiktoken_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/holdfast-go/holdfast/internal/tokens"
)

var update = flag.Bool("update", false, "write what the estimate knows of the vocabulary")

// TestSketch makes from the vocabulary what the estimate knows of it, and compares.
func TestSketch(t *testing.T) {
	t.Parallel()
	vocabulary := vocabulary(t)
	sketch := make([]byte, 1<<15)
	for _, token := range vocabulary {
		if sketched(token) {
			for _, bit := range tokens.SketchBits(token) {
				sketch[bit/8] |= 1 << (bit % 8)
			}
		}
	}
	compare(t, "../../../internal/tokens/sketch.bin", sketch)
	compare(t, "../../../internal/tokens/pairs.bin", frequent(vocabulary))
}

func vocabulary(t *testing.T) []string {
	t.Helper()
	c, all := codec.NewO200kBase(), make([]string, 199_998)
	for id := range all {
		token, err := c.Decode([]uint{uint(id)})
		if err != nil {
			t.Fatalf("token %d: %v", id, err)
		}
		all[id] = token
	}
	return all
}

func compare(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is not what the vocabulary says (%v); run this test with -update", file, err)
	}
}

// sketched reports whether a token is one character beyond ASCII, or some of those that the sketch is about.
func sketched(token string) bool {
	if r, size := utf8.DecodeRuneInString(token); size == len(token) {
		return size > 1
	} else if r == utf8.RuneError {
		return false // a part of a character
	}
	letters := strings.TrimPrefix(token, " ")
	n := utf8.RuneCountInString(letters)
	return n > 0 && n <= tokens.SketchRunes && strings.IndexFunc(letters, func(r rune) bool { return !tokens.Sketched(r) }) < 0
}

// frequent returns a bit for each pair of ASCII characters that many tokens have.
func frequent(vocabulary []string) []byte {
	var times [128][128]int
	for _, token := range vocabulary {
		for i := 1; i < len(token); i++ {
			if a, b := token[i-1], token[i]; a < 128 && b < 128 {
				times[a][b]++
			}
		}
	}
	bits := make([]byte, 128*128/8)
	for a := range 128 {
		for b := range 128 {
			if many(&times, byte(a), byte(b)) {
				i := a<<7 | b
				bits[i/8] |= 1 << (i % 8)
			}
		}
	}
	return bits
}

func many(times *[128][128]int, a, b byte) bool {
	if letter(a) && letter(b) {
		x, y := a&^0x20, b&^0x20
		return times[x][y]+times[x][y|0x20]+times[x|0x20][y]+times[x|0x20][y|0x20] >= 200
	}
	return times[a][b] >= 10
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
