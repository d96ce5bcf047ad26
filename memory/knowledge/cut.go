package knowledge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut returns the texts of a section, each of about limit tokens at most: blocks that fit together, and parts of one that is longer alone.
func (s section) cut(limit int, count func(string) int) []string {
	p := packer{limit: limit, count: count, between: "\n\n"}
	for _, b := range s.blocks {
		if count(b.text) <= limit {
			p.add(b.text)
			continue
		}
		p.flush()
		p.out = append(p.out, b.cut(limit, count)...)
	}
	p.flush()
	return p.out
}

// cut returns the parts of a block that is too long: rows of a table each with its head, items, lines, sentences.
func (b block) cut(limit int, count func(string) int) []string {
	p := packer{limit: limit, count: count, between: "\n"}
	lines := strings.Split(b.text, "\n")
	switch b.kind {
	case table:
		head := 1
		if len(lines) > 1 && delimiter.MatchString(lines[1]) {
			head = 2
		}
		p.before = strings.Join(lines[:head], "\n") + "\n"
		lines = lines[head:]
	case code:
		if m := fence.FindStringSubmatch(lines[0]); m != nil {
			p.before, p.after = lines[0]+"\n", "\n"+m[1]
			lines = lines[1:]
			if n := len(lines); n > 0 && strings.TrimSpace(lines[n-1]) == m[1] {
				lines = lines[:n-1]
			}
		}
	case list:
		lines = items(lines)
	case paragraph:
		p.between, lines = "", sentences(b.text)
	}
	if around := count(p.before + p.after); around > limit/2 {
		p.before, p.after, lines = "", "", strings.Split(b.text, "\n")
	} else {
		p.limit -= around
	}
	for _, l := range lines {
		for _, piece := range pieces(l, p.limit, count) {
			p.add(piece)
		}
	}
	p.flush()
	return p.out
}

// items joins each line that begins one with those below it, up to the next of its depth.
func items(lines []string) (out []string) {
	depth := func(l string) int { return len(l) - len(strings.TrimLeft(l, " \t")) }
	for _, l := range lines {
		if len(out) == 0 || item.MatchString(l) && depth(l) <= depth(lines[0]) {
			out = append(out, l)
		} else {
			out[len(out)-1] += "\n" + l
		}
	}
	return out
}

// A packer joins texts up to a limit. What it counts are the parts, so the whole may be a few tokens off.
type packer struct {
	limit                  int
	count                  func(string) int
	between, before, after string
	out                    []string
	now                    []string
	size                   int
}

func (p *packer) add(text string) {
	n := p.count(text)
	if p.size+n > p.limit {
		p.flush()
	}
	p.now, p.size = append(p.now, text), p.size+n
}

func (p *packer) flush() {
	if text := strings.Join(p.now, p.between); strings.TrimSpace(text) != "" {
		p.out = append(p.out, p.before+strings.TrimRight(strings.TrimLeft(text, "\n"), " \n")+p.after)
	}
	p.now, p.size = nil, 0
}

// pieces cuts a text that is over a limit: at sentences, then at commas and spaces, then anywhere between two runes.
func pieces(text string, limit int, count func(string) int) []string {
	if count(text) <= limit {
		return []string{text}
	}
	for _, split := range []func(string) []string{sentences, clauses, halves} {
		if parts := split(text); len(parts) > 1 {
			var out []string
			for _, p := range parts {
				out = append(out, pieces(p, limit, count)...)
			}
			return packed(out, limit, count)
		}
	}
	return []string{text} // one rune
}

// packed joins neighbours that fit together.
func packed(parts []string, limit int, count func(string) int) []string {
	p := packer{limit: limit, count: count}
	for _, s := range parts {
		p.add(s)
	}
	p.flush()
	return p.out
}

// sentences cuts behind the marks that end one, with the quotes and spaces that follow; a full stop only before a space.
func sentences(text string) []string {
	return cutBehind(text, func(r, next rune) bool {
		switch r {
		case '。', '！', '？', '；', '!', '?', '\n':
			return true
		case '.', ';':
			return unicode.IsSpace(next)
		}
		return false
	})
}

func clauses(text string) []string {
	return cutBehind(text, func(r, _ rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("，、：,:|", r) })
}

func halves(text string) []string {
	at := len(text) / 2
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	if at == len(text) {
		_, at = utf8.DecodeRuneInString(text)
	}
	if at == len(text) {
		return []string{text}
	}
	return []string{text[:at], text[at:]}
}

// cutBehind cuts a text behind each rune that ends a part, and what belongs to it.
func cutBehind(text string, ends func(r, next rune) bool) (out []string) {
	start := 0
	for at, r := range text {
		at += utf8.RuneLen(r)
		next, _ := utf8.DecodeRuneInString(text[at:])
		if ends(r, next) && !strings.ContainsRune("”’」』）)\"'。！？!?", next) {
			for at < len(text) && text[at] == ' ' {
				at++
			}
			if at > start {
				out, start = append(out, text[start:at]), at
			}
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}
