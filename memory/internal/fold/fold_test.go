package fold_test

import (
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/memory/internal/fold"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What a person wrote is found again behind every part of the folded text. // T33
func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, folded, part, original string }{
		{"密码ｉｓ　１２３", "密码is 123", "123", "１２３"},
		{"pass\u200bword", "password", "password", "pass\u200bword"},
		{"it’s “so”", "it's \"so\"", "\"so\"", "“so”"},
		{"4111–1111", "4111-1111", "4111-1111", "4111–1111"},
		{"plain", "plain", "lai", "lai"},
		{"bad \xff １", "bad \xff 1", "\xff 1", "\xff １"},
		{"好，的；", "好，的；", "的；", "的；"},
	} {
		f := fold.Of(c.text)
		if f.S != c.folded {
			t.Errorf("%q folds to %q, want %q", c.text, f.S, c.folded)
			continue
		}
		at := index(f.S, c.part)
		if start, end := f.Span(at, at+len(c.part)); c.text[start:end] != c.original {
			t.Errorf("%q in %q is %q, want %q", c.part, c.text, c.text[start:end], c.original)
		}
	}
}

func index(s, part string) int {
	for i := range s {
		if len(s)-i >= len(part) && s[i:i+len(part)] == part {
			return i
		}
	}
	return -1
}

// Folding twice is folding once, and all of the folded text is all of the original but for what does not show. // T33
func TestOfProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		f := fold.Of(s)
		if again := fold.Of(f.S); again.S != f.S {
			t.Fatalf("%q folds to %q, then to %q", s, f.S, again.S)
		}
		if _, end := f.Span(0, len(f.S)); end != len(s) {
			t.Fatalf("%q ends at %d", s, end)
		}
		if l := fold.Lower(s); len(l) != len(s) {
			t.Fatalf("%q in lower case is %q", s, l)
		}
	})
}
