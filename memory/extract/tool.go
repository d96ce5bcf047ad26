package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/internal/fold"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// maxRecords is how many orders, refunds and the like a result may have: one with more is a list, and nobody spoke of all of it.
const maxRecords = 5

// fromTool makes drafts of the result of a tool, in the language of what the user said: which order, refund, ticket or service it
// is about, and its state, amount and reason. Nothing else of it is kept, and nothing of what is no JSON.
func fromTool(t longterm.Text, said string) (out []longterm.Draft) {
	root := parse(t.Text)
	if root == nil {
		return nil
	}
	var all []record
	collect(root, record{thing: thingOf(t.Tool)}, 0, &all)
	if len(all) > maxRecords {
		return nil
	}
	for _, r := range all {
		d := r.draft(t.Text, said)
		d.Origin, d.Source, d.Confidence = t.Origin, t.Source, 1
		if !slices.ContainsFunc(out, func(o longterm.Draft) bool { return o.Key == d.Key }) {
			out = append(out, d)
		}
	}
	return out
}

// A record is what an object of a result says about one thing.
type record struct {
	thing string // "refund", "order", "ticket", "service"; of the object that holds it, or of the tool
	id    map[string]string
	vals  map[string]string // by meaning: "state", "amount", ...
	words [2]int            // bytes of the members that are kept
}

// meanings are the names of members, squeezed, by what they mean.
var meanings = map[string]string{}

func init() {
	for meaning, names := range map[string]string{
		"refund":  "refund|refundid|refundno|refundnumber|退款单|退款单号|退款编号|aftersaleid|aftersaleno|returnid|售后单号",
		"order":   "order|orderid|orderno|ordernumber|订单|订单号|订单编号",
		"ticket":  "ticket|ticketid|ticketno|incident|incidentid|caseid|工单|工单号",
		"service": "service|serviceid|servicename|currentservice|服务|服务名",
		"id":      "id|no|number|编号",
		"name":    "name|displayname|title|名称",
		"state":   "status|state|refundstatus|refundstate|orderstatus|aftersalestatus|状态|退款状态|订单状态|售后状态",
		"amount":  "amount|refundamount|refunded|退款金额|金额",
		"paid":    "paid|total|实付|总额",
		"money":   "currency|币种",
		"reason":  "reason|refundreason|aftersalereason|原因|退款原因|售后原因",
		"day":     "day|date|eta|expected|arrival|paidat|预计到账|日期|到账日期",
		"env":     "env|environment|环境",
		"result":  "result|outcome|结果|处理结果",
		"fault":   "error|err|errormessage|错误",
		"ok":      "ok|success|成功",
	} {
		for n := range strings.SplitSeq(names, "|") {
			meanings[n] = meaning
		}
	}
}

func meaning(name string) string {
	return meanings[strings.Map(func(r rune) rune {
		if strings.ContainsRune("_- .", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))]
}

// things are what a record can be about, the most special first.
var things = []string{"refund", "ticket", "order", "service"}

func thingOf(name string) string {
	name = strings.ToLower(name)
	for _, t := range things {
		if strings.Contains(name, t) {
			return t
		}
	}
	switch m := meaning(name); {
	case strings.Contains(name, "售后"), strings.Contains(name, "退款"), strings.Contains(name, "aftersale"), strings.Contains(name, "return"):
		return "refund"
	case strings.Contains(name, "incident"):
		return "ticket"
	case slices.Contains(things, m):
		return m
	}
	return ""
}

// collect finds the records of an object, and of the objects in it.
func collect(v *value, outer record, depth int, all *[]record) {
	if depth > 4 || len(*all) > maxRecords {
		return
	}
	for _, e := range v.items {
		collect(e, outer, depth+1, all)
	}
	if v.members == nil {
		return
	}
	r, ok := read(v, outer)
	if ok {
		*all = append(*all, r)
	}
	for _, m := range v.members {
		inner := record{thing: r.thing, id: r.id}
		if t := thingOf(m.name); t != "" {
			inner.thing = t
		}
		if m.value.members != nil || m.value.items != nil {
			collect(m.value, inner, depth+1, all)
		}
	}
}

// plain is how an id, a state or an amount looks; what is longer or has other characters in it is none.
var (
	plainID    = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}._#/-]{0,47}$`)
	plainValue = regexp.MustCompile(`^[\p{L}\p{N} ._:,/+¥$€£%()-]{1,60}$`)
)

// read takes from an object what is known by its name. It reports whether the object says something of a thing that it names.
func read(v *value, outer record) (record, bool) {
	r := record{thing: outer.thing, id: map[string]string{}, vals: map[string]string{}}
	for k, id := range outer.id {
		r.id[k] = id
	}
	own := false
	kept := make([]bool, len(v.members))
	for i, m := range v.members {
		what := meaning(m.name)
		switch text := strings.TrimSpace(m.value.text); {
		case what == "" || text == "" && what != "fault":
		case what == "fault" && text != "" && text != "null" && text != "false" && text != "0", what == "ok" && text == "false":
			return record{thing: outer.thing, id: outer.id}, false
		case slices.Contains(things, what) && plainID.MatchString(text) && text != "null" && text != "true" && text != "false":
			r.id[what], own, kept[i] = text, true, true
		case what == "id" && plainID.MatchString(text) && r.thing != "":
			r.id["id"], own, kept[i] = text, true, true
		case what != "id" && what != "fault" && what != "ok" && !slices.Contains(things, what) && plainValue.MatchString(text) && text != "null" && r.vals[what] == "":
			r.vals[what], kept[i] = text, true
		}
	}
	if id := r.id["id"]; id != "" && r.id[r.thing] == "" {
		r.id[r.thing] = id
	}
	delete(r.id, "id")
	r.words = span(v, kept)
	r.thing = r.subject(outer)
	return r, own && r.thing != "" && r.complete()
}

// subject is the most special thing that the record has an id of.
func (r record) subject(outer record) string {
	for _, t := range things {
		if r.id[t] != "" && r.id[t] != outer.id[t] {
			if t == "order" && (outer.thing == "refund" || r.vals["amount"] != "" && r.vals["paid"] == "") && r.vals["state"] != "" {
				return "refund" // of the order
			}
			return t
		}
	}
	return outer.thing
}

// complete reports whether there is something to say: of a service that it was worked on is enough.
func (r record) complete() bool {
	if r.thing == "service" {
		return r.id["service"] != ""
	}
	return (r.id[r.thing] != "" || r.id["order"] != "") && (r.vals["state"] != "" || r.vals["amount"] != "" || r.vals["result"] != "")
}

// span are the bytes of members that are kept and stand together, the first of which names the thing.
func span(v *value, kept []bool) [2]int {
	first := slices.Index(kept, true)
	if first < 0 {
		return [2]int{}
	}
	last := first
	for last+1 < len(kept) && kept[last+1] {
		last++
	}
	return [2]int{v.members[first].start, v.members[last].value.end}
}

func (r record) draft(text, said string) longterm.Draft {
	d := longterm.Draft{Kind: longterm.Episode, Words: text[r.words[0]:r.words[1]]}
	zh := fold.HasHan(said) || said == "" && fold.HasHan(text)
	switch r.thing {
	case "refund":
		d.Key = "refund." + r.id["refund"]
		if order := r.id["order"]; order != "" {
			d.Key = "order." + order + ".refund"
		}
	case "service":
		d.Key = "service." + r.id["service"]
		if r.vals["name"] == "" {
			r.vals["name"] = spoken(said)
		}
	default:
		d.Key = r.thing + "." + r.id[r.thing]
	}
	d.Key = strings.ToLower(d.Key)
	d.Text = r.sentence(zh)
	return d
}

// named is how people call a service: 支付服务, "payment service".
var named = regexp.MustCompile(`(?i)(?:(?:查一?下?|看一?下?|重启|那个|这个|的|是|把|对|给|在|我们|检查)+)?(\p{Han}{2,4}服务)|\b(?:the )?([a-z]+ service)\b`)

// spoken is the one service that the user calls by a name that is no id; "" if there are several.
func spoken(said string) string {
	var names []string
	for _, m := range named.FindAllStringSubmatch(said, -1) {
		name := m[1] + m[2]
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) != 1 || slices.Contains([]string{"the service", "this service", "that service", "a service", "customer service", "which service", "same service", "last service"}, strings.ToLower(names[0])) {
		return ""
	}
	return names[0]
}

// sentence says what a record says.
func (r record) sentence(zh bool) string {
	w := inEnglish
	if zh {
		w = inChinese
	}
	var b strings.Builder
	switch {
	case r.thing == "refund" && r.id["order"] != "" && r.id["refund"] != "":
		b.WriteString(w.fill(w.refundOf, r.id["order"], r.id["refund"]))
	case r.thing == "refund" && r.id["order"] != "":
		b.WriteString(w.fill(w.refund, r.id["order"]))
	default:
		b.WriteString(w.fill(w.thing[r.thing], r.id[r.thing]))
	}
	sep := w.colon
	for _, what := range []string{"name", "env", "state", "result", "amount", "paid", "money", "reason", "day"} {
		if v := r.vals[what]; v != "" {
			b.WriteString(sep + w.vals[what] + v)
			sep = w.comma
		}
	}
	return b.String()
}

// wording is how a record is said in a language.
type wording struct {
	refundOf, refund string // % stands for an id
	thing, vals      map[string]string
	colon, comma     string
}

func (wording) fill(s string, ids ...string) string {
	for _, id := range ids {
		s = strings.Replace(s, "%", id, 1)
	}
	return s
}

var (
	inChinese = wording{
		refundOf: "上次订单 % 的退款 %", refund: "上次订单 % 的退款", colon: "：", comma: "，",
		thing: map[string]string{"refund": "上次的退款 %", "order": "订单 %", "ticket": "工单 %", "service": "上次处理的服务 %"},
		vals: map[string]string{"name": "", "env": "环境 ", "state": "状态 ", "result": "结果 ", "amount": "金额 ", "paid": "实付 ", "money": "币种 ",
			"reason": "原因 ", "day": "日期 "},
	}
	inEnglish = wording{
		refundOf: "Last refund for order %, %", refund: "Last refund for order %", colon: ": ", comma: ", ",
		thing: map[string]string{"refund": "Last refund %", "order": "Order %", "ticket": "Ticket %", "service": "Service worked on last time: %"},
		vals: map[string]string{"name": "", "env": "environment ", "state": "status ", "result": "result ", "amount": "amount ", "paid": "paid ", "money": "currency ",
			"reason": "reason ", "day": "date "},
	}
)
