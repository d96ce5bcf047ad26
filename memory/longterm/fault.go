package longterm

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/guard"
)

// A PanicError is the error of an extractor or embedder that panicked.
type PanicError struct {
	Value string
	Stack []byte
}

// Error is one line.
func (e *PanicError) Error() string { return "longterm: panic: " + e.Value }

// word is what a fault has in common with a text, if it is the user's: a word of Latin letters or digits, or two other letters.
var word = regexp.MustCompile(`[\p{Latin}\p{N}_-]{3,}|[^\p{Latin}\p{N}\p{P}\p{Z}\p{S}\p{C}]{2,}`)

// fault is an error for a job's row: short, and without what the texts say.
func fault(err error, texts []Text) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the extractor did not answer in time"
	}
	var said strings.Builder
	for _, t := range texts {
		said.WriteString(fold(t.Text) + "\n")
	}
	line, _ := guard.Redact(strings.Join(strings.Fields(tidy(err.Error())), " "))
	line = word.ReplaceAllStringFunc(line, func(w string) string { return blotted(w, said.String()) })
	const most = 300
	for i := range line {
		if i > most {
			return line[:i] + "…"
		}
	}
	return line
}

// blotted is a word without what was said of it.
func blotted(w, said string) string {
	r, _ := utf8.DecodeRuneInString(w)
	if r < 0x250 { // Latin: as a whole
		if strings.Contains(said, fold(w)) {
			return "…"
		}
		return w
	}
	runes, hide := []rune(w), map[int]bool{}
	for i := range len(runes) - 1 {
		if strings.Contains(said, fold(string(runes[i:i+2]))) {
			hide[i], hide[i+1] = true, true
		}
	}
	var out strings.Builder
	for i, r := range runes {
		if !hide[i] {
			out.WriteRune(r)
		} else if !hide[i-1] || i == 0 {
			out.WriteRune('…')
		}
	}
	return out.String()
}
