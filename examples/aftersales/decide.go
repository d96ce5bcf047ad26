package main

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
	"github.com/holdfast-go/holdfast/nodes"
)

// off are the words with which a customer takes back what waits for a colleague.
var off = regexp.MustCompile(`(?i)never ?mind|forget (it|about it)|call it off|cancel|算了|不用了|不退了|取消`)

func calledOff(text string) bool { return off.MatchString(text) }

// readDecision reads what a person at the terminal decides about a call: yes, no and why, or another amount.
func readDecision(line string, a nodes.Approval) (nodes.Decision, bool) {
	word, rest, _ := strings.Cut(line, " ")
	if ok, clear := yes(word); clear {
		if ok {
			return nodes.Approve(), rest == ""
		}
		return nodes.Reject(strings.TrimSpace(rest)), true
	}
	if ok, clear := yes(line); clear && ok {
		return nodes.Approve(), true
	}
	amount, err := shop.ParseMoney(line)
	if err != nil {
		return nodes.Decision{}, false
	}
	args := map[string]any{}
	if json.Unmarshal(a.Args, &args) != nil {
		return nodes.Decision{}, false
	}
	args["amount"] = strings.TrimPrefix(amount.String(), "¥")
	doc, err := json.Marshal(args)
	return nodes.Edit(doc), err == nil
}

// showQuestion says what is asked: for whom, what, and why. It returns who is to decide: a colleague where four eyes are
// required, else the customer, whose own word is waited for.
func (d *desk) showQuestion(q graph.Question, a nodes.Approval) (by string) {
	d.p.sayf("Approval: %s for %s wants to run.", "审批：%s 想为%s执行。", a.Call.Name, nameOf(d.p.zh, d.user))
	d.p.line("  "+d.p.pick("with ", "参数 "), textwidth.Clip(string(a.Args), 200))
	for i, line := range strings.Split(a.Reason, "\n") {
		d.p.line("  "+[]string{d.p.pick("why  ", "原因 "), "     "}[min(i, 1)], line)
	}
	if q.Refused != "" {
		d.p.line("  "+d.p.pick("last answer refused: ", "上次的答复无效："), q.Refused)
	}
	if q.NotBy == "" {
		return d.user
	}
	return colleague
}
