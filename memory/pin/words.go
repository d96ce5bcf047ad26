package pin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/message"
)

// Render returns a line for each pin for a prompt, the oldest first. The same pins are the same bytes. The user's words are quoted, so that
// they cannot begin a line of their own.
func Render(pins []Pin) []string {
	pins = slices.Clone(pins)
	slices.SortStableFunc(pins, func(a, b Pin) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	var out []string
	for _, p := range pins {
		out = append(out, p.Understood()+" ("+said(p)+")")
	}
	return out
}

func said(p Pin) string {
	if chinese(p.Text) {
		return "用户原话：" + strconv.Quote(p.Text)
	}
	return "the user's words: " + strconv.Quote(p.Text)
}

// Understood tells the user how a pin was understood, in the language of the user's words. Show it when the pin is made.
func (p Pin) Understood() string {
	if chinese(p.Text) {
		return p.inChinese()
	}
	return p.inEnglish()
}

func (p Pin) inEnglish() string {
	if p.Effect != Deny {
		return "Rule" + p.term(" for good", "") + ": follow what the user asked for"
	}
	what := "change anything"
	if len(p.Actions) > 0 {
		what = strings.Join(p.Actions, ", ")
	}
	if len(p.Targets) > 0 {
		what += " (" + quoteAll(p.Targets) + ")"
	}
	if p.Env != "" {
		what += " in " + p.Env
	}
	head := "Do not "
	if p.Ask {
		head = "Not without the user's word: "
	}
	return head + what + p.term(", for good", "")
}

func (p Pin) inChinese() string {
	if p.Effect != Deny {
		return p.term("长期", "") + "规则：按用户的要求做"
	}
	what := "做任何变更"
	if len(p.Actions) > 0 {
		var names []string
		for _, a := range p.Actions {
			names = append(names, inChinese(a))
		}
		what = strings.Join(names, "、")
	}
	if len(p.Targets) > 0 {
		what += "（" + quoteAll(p.Targets) + "）"
	}
	where := ""
	if p.Env != "" {
		where = "在" + map[string]string{Production: "生产", Testing: "测试", Development: "开发"}[p.Env] + "环境"
	}
	head := "禁止"
	if p.Ask {
		head = "未经用户同意不得"
	}
	return p.term("长期", "") + head + where + what
}

func (p Pin) term(standing, else_ string) string {
	if p.Standing {
		return standing
	}
	return else_
}

func quoteAll(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, strconv.Quote(w))
	}
	return strings.Join(out, ", ")
}

// inChinese is the first Chinese word of an action.
func inChinese(action string) string {
	for _, v := range verbs {
		if v.name == action {
			first, _, _ := strings.Cut(v.zh, "|")
			return first
		}
	}
	return action
}

func chinese(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// reason says why a call is stopped.
func reason(p Pin, call message.Call, d Decision, why string) string {
	if chinese(p.Text) {
		open := map[string]string{"word": "需要用户确认这一次调用。", "tool": "无法判断该工具会做什么，需要用户确认。", "env": "调用没有说明环境，需要用户确认。", "thing": "调用似乎针对别的东西，需要用户确认。", "": "未执行。"}[why]
		return fmt.Sprintf("%s 被拦下：%s（%s）。%s", call.Name, p.Understood(), said(p), open)
	}
	open := map[string]string{
		"word": "The user must confirm this very call.", "tool": "Nothing tells what the tool does: the user must confirm it.",
		"thing": "The call seems to be about something else: the user must confirm it.",
		"env":   "The call names no environment: the user must confirm it.", "": "It was not run.",
	}[why]
	return fmt.Sprintf("%s was stopped: %s (%s). %s", call.Name, p.Understood(), said(p), open)
}
