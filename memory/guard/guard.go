// Package guard keeps secrets and planted instructions out of what is remembered, on the way in and on the way out.
//
// It knows forms and words in Chinese and English, and no model. It is one of several fences: what has the form of no secret and
// stands next to no word for one is not found.
package guard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/internal/fold"
)

// A Finding is something that does not belong into a memory.
type Finding struct {
	Kind       string // "password", "code", "key", "token", "private key", "card number", "recovery phrase"; "instruction", "role mark"
	Start, End int    // bytes of the text
}

// Secrets finds credentials: keys and tokens by their forms, passwords and codes by the words around them (zh, en), private keys,
// card numbers by their check digit, connection strings with passwords. A finding is the secret alone, without the words before
// it; findings do not overlap and are in order. It takes linear time: about a third of a second for 1 MB that is full of such words, some
// seconds for one that is made to be slow.
func Secrets(text string) []Finding {
	t := fold.Of(text)
	plain := mark.ReplaceAllStringFunc(t.S, func(m string) string { return strings.Repeat("\x00", len(m)) })
	s := source{plain, fold.Lower(plain)}
	var found []Finding
	for _, find := range []func(source) []Finding{source.blocks, source.forms, source.logins, source.named, source.cards} {
		found = append(found, find(s)...)
	}
	return settle(t, found)
}

// A source is a text as it was folded, with zero bytes where it was blotted out before, and the same in lower case: bytes have the same
// places in both.
type source struct{ text, lower string }

// Redact returns the text with every secret replaced by "[redacted: kind]", and whether there was one. What it returned stays as it is
// when it is redacted again.
func Redact(text string) (string, bool) {
	redacted := false
	for range passes {
		found := Secrets(text)
		if len(found) == 0 {
			break
		}
		text, redacted = blot(text, found), true
	}
	return text, redacted
}

// passes are enough for what a blot uncovers: the words around it stand next to each other then.
const passes = 8

const (
	markStart = "[redacted: "
	markEnd   = "]"
)

// mark matches what was blotted out. The search sees zero bytes there, which are part of nothing.
var mark = regexp.MustCompile(`\[redacted: [a-z ]{1,20}\]`)

func blot(text string, found []Finding) string {
	var b strings.Builder
	from := 0
	for _, f := range found {
		b.WriteString(text[from:f.Start] + markStart + f.Kind + markEnd)
		from = f.End
	}
	return b.String() + text[from:]
}

// settle leads findings back to the text as it was written, sorts them, and joins those that overlap: the first kind stays.
func settle(t fold.Text, found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int { return a.Start - b.Start })
	var out []Finding
	for _, f := range found {
		f.Start, f.End = t.Span(f.Start, f.End)
		if n := len(out); n > 0 && f.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, f.End)
			continue
		}
		out = append(out, f)
	}
	return out
}
