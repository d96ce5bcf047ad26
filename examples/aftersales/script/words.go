package script

import (
	"fmt"
	"strings"
)

// An order is what a tool tells of one.
type order struct {
	Order    string `json:"order"`
	State    string `json:"state"`
	Day      string `json:"day"`
	Paid     string `json:"paid"`
	Refunded string `json:"refunded"`
	Items    []struct {
		EN    string `json:"en"`
		ZH    string `json:"zh"`
		Count int    `json:"count"`
	} `json:"items"`
}

// A refund is what a tool tells of one.
type refund struct {
	Refund string `json:"refund"`
	Order  string `json:"order"`
	Amount string `json:"amount"`
	Status string `json:"status"`
	Day    string `json:"day"`
}

// told is a line for each step: its text, or what went wrong.
func (p *prompt) told(steps []step, text func(step) string) string {
	var lines []string
	for _, s := range steps {
		line := text(s)
		if line == "" {
			line = p.failed(s)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// failed says what came of a call that did not succeed, in the words of its result.
func (p *prompt) failed(s step) string {
	about := s.arg("order")
	if about == "" {
		about = s.arg("refund")
	}
	why := strings.TrimSpace(s.result.Text())
	if about == "" {
		return fmt.Sprintf(choose(p.zh, "That did not work: %s", "没有办成：%s"), why)
	}
	return fmt.Sprintf(choose(p.zh, "%s: that did not work. %s", "%s：没有办成。%s"), about, why)
}

func (p *prompt) orderText(s step) string {
	var o order
	if !s.answer(&o) {
		return ""
	}
	return p.orderLine(o)
}

func (p *prompt) orderLine(o order) string {
	form := choose(p.zh, "Order %s (%s; %s) was delivered on %s.", "订单 %s（%s；%s）已于 %s 送达。")
	if o.State != "delivered" {
		form = choose(p.zh, "Order %s (%s; %s) is on its way and should arrive on %s.", "订单 %s（%s；%s）正在路上，预计 %s 送达。")
	}
	text := fmt.Sprintf(form, o.Order, p.goods(o), o.Paid, o.Day)
	if o.Refunded != "" {
		text += fmt.Sprintf(choose(p.zh, " %s of it was refunded.", "其中 %s 已退款。"), o.Refunded)
	}
	return text
}

// goods are what was ordered.
func (p *prompt) goods(o order) string {
	var items []string
	for _, it := range o.Items {
		name := choose(p.zh, it.EN, it.ZH)
		if it.Count > 1 {
			name = fmt.Sprintf("%d x %s", it.Count, name)
		}
		items = append(items, name)
	}
	return strings.Join(items, choose(p.zh, ", ", "、"))
}

// orderList tells of all orders, in the form that the customer likes.
func (p *prompt) orderList(s step) string {
	var all []order
	switch {
	case !s.answer(&all):
		return p.failed(s)
	case len(all) == 0:
		return choose(p.zh, "I find no order of yours.", "没有查到您的订单。")
	case !p.inTables():
		var lines []string
		for _, o := range all {
			lines = append(lines, p.orderLine(o))
		}
		return strings.Join(lines, "\n")
	}
	rows := [][]string{{choose(p.zh, "order", "订单"), choose(p.zh, "goods", "商品"), choose(p.zh, "paid", "实付"), choose(p.zh, "delivery", "送达")}}
	for _, o := range all {
		rows = append(rows, []string{o.Order, p.goods(o), o.Paid, o.Day})
	}
	return table(rows...)
}

func (p *prompt) requestText(s step) string {
	var r refund
	if !s.answer(&r) {
		return ""
	}
	return fmt.Sprintf(choose(p.zh, "Done: refund %s of %s for order %s is requested. The money should be there by %s.",
		"办好了：退款 %s，%s，订单 %s，已提交。预计 %s 前到账。"), r.Refund, r.Amount, r.Order, r.Day)
}

func (p *prompt) statusText(s step) string {
	var r refund
	if !s.answer(&r) {
		return ""
	}
	return p.refundText(r)
}

func (p *prompt) refundText(r refund) string {
	form := choose(p.zh, "Not yet: refund %s of %s for order %s is on its way. The money should be there by %s.",
		"还没有：退款 %s，%s，订单 %s，正在处理，预计 %s 前到账。")
	if r.Status == "paid" {
		form = choose(p.zh, "Yes: refund %s of %s for order %s arrived on %s.", "到了：退款 %s，%s，订单 %s，已于 %s 到账。")
	}
	return fmt.Sprintf(form, r.Refund, r.Amount, r.Order, r.Day)
}

func (r refund) state(zh bool) string {
	if r.Status == "paid" {
		return choose(zh, "arrived", "已到账")
	}
	return choose(zh, "on its way", "处理中")
}

// latestRefund tells of the first one of a list.
func (p *prompt) latestRefund(s step) string {
	var all []refund
	switch {
	case !s.answer(&all):
		return p.failed(s)
	case len(all) == 0:
		return choose(p.zh, "I find no refund of yours.", "没有查到您的退款。")
	}
	return p.refundText(all[0])
}

func (p *prompt) refundList(s step) string {
	var all []refund
	if !s.answer(&all) || len(all) == 0 {
		return p.latestRefund(s)
	}
	if p.inTables() {
		rows := [][]string{{choose(p.zh, "refund", "退款"), choose(p.zh, "order", "订单"), choose(p.zh, "amount", "金额"), choose(p.zh, "state", "状态"), choose(p.zh, "day", "日期")}}
		for _, r := range all {
			rows = append(rows, []string{r.Refund, r.Order, r.Amount, r.state(p.zh), r.Day})
		}
		return table(rows...)
	}
	var lines []string
	for _, r := range all {
		lines = append(lines, p.refundText(r))
	}
	return strings.Join(lines, "\n")
}

// noted repeats what the prompt says about what is forbidden. If the prompt does not say it, the user learns that.
func (p *prompt) noted() string {
	if len(p.pins) == 0 {
		return choose(p.zh, "I am not sure that I understood what I must not do. Please say it in other words.",
			"我不确定是否理解了您不让我做的事，请换个说法。")
	}
	return choose(p.zh, "Understood. I keep to this:\n", "明白，我会遵守：\n") + strings.Join(p.pins, "\n")
}

func (p *prompt) calledOff() string {
	return choose(p.zh, "All right, I leave it.", "好的，那就不办了。")
}

func (p *prompt) hello() string {
	return choose(p.zh, "I can say where your orders are, and refund them. What can I do for you?",
		"我可以查您的订单，也可以办理退款。请问有什么可以帮您？")
}
