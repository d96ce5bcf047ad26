package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// A printer writes lines for people, in one of two languages, at most width columns wide. It is safe for concurrent use.
type printer struct {
	zh    bool
	width int
	color bool

	mu *sync.Mutex
	w  io.Writer
}

// newPrinter writes to f, with colour if f is a terminal that shows it.
func newPrinter(f *os.File, zh bool) *printer {
	p := &printer{zh: zh, width: 80, mu: new(sync.Mutex), w: f}
	if !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && runtime.GOOS != "windows"
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w >= 40 {
		p.width = min(80, w)
	}
	return p
}

// pick returns the text in the printer's language.
func (p *printer) pick(en, zh string) string {
	if p.zh {
		return zh
	}
	return en
}

// textf formats in the printer's language. Both texts take the same arguments in the same order.
func (p *printer) textf(en, zh string, args ...any) string {
	return fmt.Sprintf(p.pick(en, zh), args...)
}

// sayf prints a paragraph. Lines after the first are indented as the first one is.
func (p *printer) sayf(en, zh string, args ...any) { p.line("", p.textf(en, zh, args...)) }

// line prints text behind a tag that only its first line has.
func (p *printer) line(tag, text string) {
	lines := textwidth.Wrap(text, p.width-textwidth.Of(tag), text[:len(text)-len(strings.TrimLeft(text, " "))])
	hang := strings.Repeat(" ", textwidth.Of(tag))
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, l := range lines {
		lead := hang
		if i == 0 {
			lead = p.tinted(tag)
		}
		fmt.Fprintln(p.w, strings.TrimRight(lead+l, " "))
	}
}

// tinted is a tag in colour, if there is colour.
func (p *printer) tinted(tag string) string {
	if p.color && tag != "" {
		return "\x1b[36m" + tag + "\x1b[0m"
	}
	return tag
}

// raw prints a piece of a line.
func (p *printer) raw(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	io.WriteString(p.w, text)
}

// prompt shows that input is wanted, without ending the line.
func (p *printer) prompt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	io.WriteString(p.w, "> ")
}
