package main

import (
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// A flow writes text that arrives in pieces, as it comes, and breaks its lines at the width of the printer. It holds back a word
// until it is whole.
type flow struct {
	p     *printer
	tag   string
	begun bool
	col   int
	word  string
	space string // before the word
}

// write takes the next piece.
func (f *flow) write(text string) {
	if !f.begun {
		f.begun, f.col = true, textwidth.Of(f.tag)
		f.p.raw(f.p.tinted(f.tag))
	}
	for _, r := range text {
		switch {
		case r == '\n':
			f.flush()
			f.newline()
		case r == ' ':
			f.flush()
			f.space += " "
		case textwidth.Of(string(r)) > 1 && !unicode.IsPunct(r): // a line may break before it
			f.flush()
			f.word = string(r)
		default:
			f.word += string(r)
		}
	}
}

// end finishes what was begun.
func (f *flow) end() {
	if f.begun {
		f.flush()
		f.p.raw("\n")
	}
	*f = flow{p: f.p, tag: f.tag}
}

func (f *flow) flush() {
	if f.word == "" {
		return
	}
	if f.col+len(f.space)+textwidth.Of(f.word) > f.p.width {
		f.newline()
	}
	f.p.raw(f.space + f.word)
	f.col += len(f.space) + textwidth.Of(f.word)
	f.word, f.space = "", ""
}

func (f *flow) newline() {
	f.space, f.col = "", textwidth.Of(f.tag)
	f.p.raw("\n" + strings.Repeat(" ", f.col))
}
