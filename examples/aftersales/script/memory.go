package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An item is something that the program has looked up for this call, as the prompt tells it.
type item struct {
	label string // "user preference", "official document", ...
	id    string
	text  string
}

var (
	itemLine = regexp.MustCompile(`^\[([^|\]]+) \| ([^|\]]+?)(?: \| [^\]]*)?\]$`)
	opening  = regexp.MustCompile(`^<(data-[0-9a-f]+)>\n`)
)

// data parts what the program has put in front of a message of the user from what the user says.
func data(text string) (items []item, said string) {
	m := opening.FindStringSubmatch(text)
	if m == nil {
		return nil, text
	}
	inside, said, ok := strings.Cut(text, "\n</"+m[1]+">\n")
	if !ok {
		return nil, text
	}
	for line := range strings.Lines(inside) {
		line = strings.TrimSuffix(line, "\n")
		quoted, is := strings.CutPrefix(line, "> ")
		switch m := itemLine.FindStringSubmatch(line); {
		case is && len(items) > 0:
			items[len(items)-1].text += quoted + "\n"
		case m != nil:
			items = append(items, item{label: m[1], id: m[2]})
		}
	}
	return items, said
}

// remembered are the texts of long-term memory that are told, in their order.
func (p *prompt) remembered() (out []string) {
	for _, i := range p.items {
		if strings.HasPrefix(i.id, "ltm ") {
			out = append(out, i.text)
		}
	}
	return out
}

var (
	tables   = regexp.MustCompile(`(?i)\btables?\b|表格`)
	noTables = regexp.MustCompile(`(?i)\b(no|not|without|stop|never|hate|dislike)\b.*\btables?\b|n['’]t\b.*\btables?\b|(不|别|讨厌|取消|停止).*表格`)
)

// inTables reports whether lists come as tables: as the user says now, or else as is remembered of them.
func (p *prompt) inTables() bool {
	for _, text := range append([]string{p.said}, p.remembered()...) {
		if tables.MatchString(text) {
			return !noTables.MatchString(text)
		}
	}
	return false
}

// form answers a wish for tables, or against them.
func (p *prompt) form() string {
	if p.inTables() {
		return choose(p.zh, "All right, lists come as tables from now on.", "好的，以后的清单都用表格。")
	}
	return choose(p.zh, "All right, lists come without tables from now on.", "好的，以后的清单不用表格。")
}

// table is a list as a table.
func table(rows ...[]string) string {
	rule := make([]string, len(rows[0]))
	for i := range rule {
		rule[i] = "---"
	}
	var lines []string
	for _, r := range slices.Insert(rows, 1, rule) {
		lines = append(lines, "| "+strings.Join(r, " | ")+" |")
	}
	return strings.Join(lines, "\n")
}

var refundNo = regexp.MustCompile(`\bR-\d+\b`)

// knownRefund is the refund that is remembered of the customer: the one of the order that is named, or else the latest. "" is none.
func (p *prompt) knownRefund() string {
	named := orders(p.said)
	latest := ""
	for _, text := range p.remembered() {
		no := refundNo.FindString(text)
		if len(named) > 0 && !slices.Contains(orders(text), named[0]) {
			continue
		}
		if len(no) > len(latest) || len(no) == len(latest) && no > latest {
			latest = no
		}
	}
	return latest
}

// A memory is what the tool memories tells of one.
type memory struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// know tells what is remembered of the customer.
func (p *prompt) know() (string, []want) {
	done := p.done("memories")
	if len(done) == 0 {
		return "", []want{{"memories", map[string]any{}}}
	}
	var all []memory
	switch {
	case !done[0].answer(&all):
		return p.failed(done[0]), nil
	case len(all) == 0:
		return choose(p.zh, "I remember nothing of you.", "我没有记住关于您的任何事。"), nil
	}
	lines := []string{choose(p.zh, "This is what I remember of you:", "我记得这些：")}
	for _, m := range all {
		lines = append(lines, "- "+m.Text)
	}
	return strings.Join(lines, "\n"), nil
}

// forget looks for what is to be forgotten, and has it removed.
func (p *prompt) forget() (string, []want) {
	if done := p.done("forget"); len(done) > 0 {
		if done[0].result.Failed() {
			return p.failed(done[0]), nil
		}
		return choose(p.zh, "It is forgotten.", "已经忘记了。"), nil
	}
	done := p.done("memories")
	if len(done) == 0 {
		return "", []want{{"memories", map[string]any{"about": p.said}}}
	}
	var all []memory
	switch {
	case !done[0].answer(&all):
		return p.failed(done[0]), nil
	case len(all) == 0:
		return choose(p.zh, "I remember nothing of that.", "我没有记住这件事。"), nil
	}
	return "", []want{{"forget", map[string]any{"ids": []string{all[0].ID}}}}
}

var (
	keepWords = regexp.MustCompile(`(?i)remember(?: that)?[:,]?\s+|记住|记下|记一下`)
	wishes    = regexp.MustCompile(`(?i)\b(like|prefer|want|hate)\b|喜欢|偏好|想要|讨厌`)
)

// keep has the user's own words remembered.
func (p *prompt) keep() (string, []want) {
	if done := p.done("remember"); len(done) > 0 {
		if done[0].result.Failed() {
			return p.failed(done[0]), nil
		}
		return choose(p.zh, "I will remember it.", "我记住了。"), nil
	}
	quote := p.said
	if at := keepWords.FindStringIndex(quote); at != nil {
		quote = strings.TrimLeft(quote[at[1]:], "：:，, ")
	}
	kind := "semantic"
	if wishes.MatchString(quote) {
		kind = "preference"
	}
	return "", []want{{"remember", map[string]any{"quote": quote, "kind": kind}}}
}

// rule answers from the handbook of the shop, with the chapter, or says that it does not say.
func (p *prompt) rule() string {
	for _, i := range p.items {
		if !strings.HasPrefix(i.id, "rag ") {
			continue
		}
		chapter, text, _ := strings.Cut(strings.TrimSpace(i.text), "\n")
		return fmt.Sprintf(choose(p.zh, "%s (handbook: %s)", "%s（手册：%s）"), text, chapter)
	}
	for _, i := range p.items {
		if strings.Contains(i.text, "could not be read") {
			return choose(p.zh, "The handbook cannot be read just now.", "现在无法查阅手册。")
		}
	}
	return choose(p.zh, "The handbook does not say.", "手册里没有说明。")
}
