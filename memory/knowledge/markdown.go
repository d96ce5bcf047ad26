package knowledge

import (
	"regexp"
	"slices"
	"strings"
)

// A section is what stands under one heading.
type section struct {
	path   []string // the headings above it
	blocks []block
}

// A block is a paragraph, a table, a list or a piece of code.
type block struct {
	kind kind
	text string
}

type kind int

const (
	paragraph kind = iota
	table
	list
	code
)

// What a line begins. Chapters of Chinese rules have headings without marks.
var (
	atx       = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$`)
	underline = regexp.MustCompile(`^ {0,3}(=+|-{2,})[ \t]*$`)
	chapter   = regexp.MustCompile(`^[ \t　]*第[一二三四五六七八九十百零〇0-9]+([章编节])[^。；，！？]{0,30}$`)
	fence     = regexp.MustCompile("^[ \t]*(`{3,}|~{3,})")
	item      = regexp.MustCompile(`^[ \t　]*([-*+•·]|\d{1,3}[.)、]|[（(][一二三四五六七八九十0-9]{1,3}[）)]|[一二三四五六七八九十]{1,3}、)[ \t　]*\S`)
	delimiter = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
)

// A reader of Markdown goes through the lines once. It knows as much of it as cutting needs, and takes every text.
type outline struct {
	lines []string
	at    int
	out   []section
	path  []string
	depth []int // of the headings in path
}

// sections cuts a text at its headings.
func sections(text string) []section {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	o := &outline{lines: strings.Split(text, "\n"), out: []section{{}}}
	o.matter()
	for o.at < len(o.lines) {
		o.step()
	}
	return o.kept()
}

// kept are the sections that say something. A heading with nothing under it says what it says.
func (o *outline) kept() (out []section) {
	for _, s := range slices.Backward(o.out) {
		n := len(s.path)
		below := len(out) > 0 && len(out[len(out)-1].path) > n && slices.Equal(out[len(out)-1].path[:n], s.path)
		if len(s.blocks) == 0 && n > 0 && !below && s.path[n-1] != "" {
			s.blocks = []block{{paragraph, s.path[n-1]}}
		}
		if len(s.blocks) > 0 {
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// matter takes the properties that stand before a text, between two lines of dashes.
func (o *outline) matter() {
	if strings.TrimSpace(o.lines[0]) != "---" {
		return
	}
	if end := slices.Index(o.lines[1:], "---"); end > 0 && strings.TrimSpace(o.lines[1]) != "" {
		o.add(code, o.lines[:end+2])
		o.at = end + 2
	}
}

func (o *outline) step() {
	line := o.lines[o.at]
	switch {
	case strings.TrimSpace(line) == "":
		o.at++
	case atx.MatchString(line):
		m := atx.FindStringSubmatch(line)
		o.heading(len(m[1]), m[2], 1)
	case o.underlined():
		depth := 1
		if strings.Contains(o.lines[o.at+1], "-") {
			depth = 2
		}
		o.heading(depth, line, 2)
	case chapter.MatchString(line):
		depth := 1
		if chapter.FindStringSubmatch(line)[1] == "节" {
			depth = 2
		}
		o.heading(depth, line, 1)
	case fence.MatchString(line):
		o.take(code, o.fenced())
	case o.tabular():
		o.take(table, o.while(func(line string) bool { return strings.Contains(line, "|") }))
	case item.MatchString(line):
		o.take(list, o.listed())
	default:
		o.take(paragraph, o.while(func(line string) bool { return !o.begins(line) }))
	}
}

// begins reports whether a line ends a paragraph.
func (o *outline) begins(line string) bool {
	return strings.TrimSpace(line) == "" || atx.MatchString(line) || chapter.MatchString(line) || fence.MatchString(line) || item.MatchString(line)
}

// while returns how many lines go on in a way, at least one.
func (o *outline) while(more func(string) bool) int {
	n := 1
	for o.at+n < len(o.lines) && more(o.lines[o.at+n]) {
		n++
	}
	return n
}

// underlined reports whether the line is a heading by the line below it.
func (o *outline) underlined() bool {
	return o.at+1 < len(o.lines) && underline.MatchString(o.lines[o.at+1]) && !strings.Contains(o.lines[o.at], "|") &&
		!item.MatchString(o.lines[o.at]) && !underline.MatchString(o.lines[o.at])
}

func (o *outline) tabular() bool {
	line := o.lines[o.at]
	return strings.HasPrefix(strings.TrimSpace(line), "|") ||
		strings.Contains(line, "|") && o.at+1 < len(o.lines) && strings.Contains(o.lines[o.at+1], "-") && delimiter.MatchString(o.lines[o.at+1])
}

// fenced counts the lines of a piece of code, to its end or that of the text.
func (o *outline) fenced() int {
	open := fence.FindStringSubmatch(o.lines[o.at])[1]
	for n := 1; o.at+n < len(o.lines); n++ {
		if t := strings.TrimSpace(o.lines[o.at+n]); strings.HasPrefix(t, open) && strings.Trim(t, open[:1]) == "" {
			return n + 1
		}
	}
	return len(o.lines) - o.at
}

// listed counts the lines of a list: items, what is indented below them, and blank lines between those.
func (o *outline) listed() int {
	end := 1
	for n := 1; o.at+n < len(o.lines); n++ {
		line, blank := o.lines[o.at+n], strings.TrimSpace(o.lines[o.at+n-1]) == ""
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case item.MatchString(line), indented, !blank && !o.begins(line):
			end = n + 1
		default:
			return end
		}
	}
	return end
}

func (o *outline) take(k kind, n int) {
	o.add(k, o.lines[o.at:o.at+n])
	o.at += n
}

func (o *outline) add(k kind, lines []string) {
	text := strings.Trim(strings.Join(lines, "\n"), "\n")
	if k == paragraph {
		text = strings.TrimSpace(text)
	}
	s := &o.out[len(o.out)-1]
	s.blocks = append(s.blocks, block{k, text})
}

// heading begins a section.
func (o *outline) heading(depth int, text string, lines int) {
	for len(o.depth) > 0 && o.depth[len(o.depth)-1] >= depth {
		o.depth, o.path = o.depth[:len(o.depth)-1], o.path[:len(o.path)-1]
	}
	o.depth, o.path = append(o.depth, depth), append(o.path, strings.TrimSpace(text))
	o.out = append(o.out, section{path: slices.Clone(o.path)})
	o.at += lines
}
