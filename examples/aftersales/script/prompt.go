package script

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/message"
)

// A prompt is what the model finds in the messages of a request.
type prompt struct {
	said    string            // by the user
	items   []item            // that the program has looked up
	zh      bool              // in Chinese
	order   string            // that the conversation is about, of the session state
	refund  string            // id, of the session state
	pins    []string          // what the user has forbidden, as the prompt tells it
	history []message.Message // before what was said
	steps   []step            // calls since then, with their results
}

// A step is a call and what came of it.
type step struct {
	call   message.Call
	result message.Result
}

// A want is a call that the model would like to make.
type want struct {
	tool string
	args map[string]any
}

var (
	factLine = regexp.MustCompile(`(?m)^- (order|refund): (.*) \(by (?:a tool|the user)\)$`)
	pinLine  = regexp.MustCompile(`(?m)^- .*(?:the user's words|用户原话).*$`)
	date     = regexp.MustCompile(`\d{4}-\d{2}-\d{2}`)
	orderNo  = regexp.MustCompile(`(?:^|\D)(\d{4,9})(?:$|\D)`)
)

// read finds what the messages say.
func read(all []message.Message) *prompt {
	p := &prompt{}
	at := asked(all)
	if at < 0 {
		return p
	}
	p.items, p.said = data(all[at].Text())
	p.history = all[:at]
	p.zh = chinese(p.said)
	for _, m := range all {
		if m.Role == message.RoleSystem {
			p.state(m.Text())
		}
	}
	p.steps = steps(all[at:])
	return p
}

// asked is the place of the user's latest message.
func asked(all []message.Message) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Role == message.RoleUser {
			return i
		}
	}
	return -1
}

// question is what the user said last.
func question(all []message.Message) string { return read(all).said }

// state reads the lines of the session state and of the pins.
func (p *prompt) state(system string) {
	for _, m := range factLine.FindAllStringSubmatch(system, -1) {
		switch m[1] {
		case "order":
			json.Unmarshal([]byte(m[2]), &p.order) // a line that is no JSON is not there
		case "refund":
			var r struct {
				ID string `json:"id"`
			}
			json.Unmarshal([]byte(m[2]), &r)
			p.refund = r.ID
		}
	}
	p.pins = append(p.pins, pinLine.FindAllString(system, -1)...)
}

// steps pairs calls with their results.
func steps(all []message.Message) (out []step) {
	place := map[string]int{}
	for _, m := range all {
		for _, c := range m.Calls() {
			place[c.ID] = len(out)
			out = append(out, step{call: c})
		}
		for _, r := range m.Results() {
			if i, ok := place[r.CallID]; ok {
				out[i].result = r
			}
		}
	}
	return out
}

// done lists the steps of this turn with a tool.
func (p *prompt) done(tool string) (out []step) {
	for _, s := range p.steps {
		if s.call.Name == tool {
			out = append(out, s)
		}
	}
	return out
}

// arg is an argument of the call.
func (s step) arg(name string) string {
	args := map[string]any{}
	json.Unmarshal([]byte(s.call.Args), &args) // one that is no JSON has none
	v, _ := args[name].(string)
	return v
}

// answer decodes the result, whose last line is a JSON document.
func (s step) answer(v any) bool {
	text := strings.TrimSpace(s.result.Text())
	return !s.result.Failed() && json.Unmarshal([]byte(text[strings.LastIndexByte(text, '\n')+1:]), v) == nil
}

// recent is the order that was named last, by the user or in a call. Where several were named at once it is none of them.
func (p *prompt) recent() string {
	for i := len(p.history) - 1; i >= 0; i-- {
		m := p.history[i]
		if m.Role == message.RoleSystem {
			continue
		}
		texts := []string{m.Text()}
		for _, c := range m.Calls() {
			texts = append(texts, c.Args)
		}
		switch found := orders(strings.Join(texts, "\n")); len(found) {
		case 0:
		case 1:
			return found[0]
		default:
			return ""
		}
	}
	return ""
}

// orders are the order numbers in a text, each once. What is marked as money, or is a date, is none.
func orders(text string) (out []string) {
	text = date.ReplaceAllString(money.ReplaceAllString(text, " "), " ")
	for text != "" {
		m := orderNo.FindStringSubmatchIndex(text)
		if m == nil {
			break
		}
		n := text[m[2]:m[3]]
		if !strings.Contains(strings.Join(out, " "), n) {
			out = append(out, n)
		}
		text = text[m[3]:]
	}
	return out
}

func chinese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

func choose(zh bool, en, han string) string {
	if zh {
		return han
	}
	return en
}
