package script

import (
	"cmp"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/message"
)

// next is what the model says, or the calls that it needs before it can say something.
func (p *prompt) next() (text string, calls []want) {
	switch p.intent() {
	case recalls:
		return p.know()
	case forgets:
		return p.forget()
	case keeps:
		return p.keep()
	case nothing:
		return p.calledOff(), nil
	case forbids:
		return p.noted(), nil
	case arrived:
		return p.afterRefund()
	case wantsAll:
		if done := p.done("list_refunds"); len(done) > 0 {
			return p.refundList(done[len(done)-1]), nil
		}
		return "", []want{{"list_refunds", map[string]any{}}}
	case allOrders:
		if done := p.done("list_orders"); len(done) > 0 {
			return p.orderList(done[len(done)-1]), nil
		}
		return "", []want{{"list_orders", map[string]any{}}}
	case forms:
		return p.form(), nil
	case ruled:
		return p.rule(), nil
	case refunds:
		return p.refundWish()
	case where:
		return p.whereIs()
	}
	return p.hello(), nil
}

// whereIs looks the orders up that are named, or the one that is talked about, or else the latest.
func (p *prompt) whereIs() (string, []want) {
	if len(p.steps) > 0 {
		return p.told(p.steps, p.orderText), nil
	}
	named := orders(p.said)
	if len(named) == 0 && !latest.MatchString(p.said) && p.order != "" {
		named = []string{p.order}
	}
	if len(named) == 0 {
		return "", []want{{"latest_order", map[string]any{}}}
	}
	var calls []want
	for _, n := range named {
		calls = append(calls, want{"order_status", map[string]any{"order": n}})
	}
	return "", calls
}

// afterRefund asks after the refund that this conversation has made, or else after the one that is remembered of an earlier one, or else
// after all that the customer has.
func (p *prompt) afterRefund() (string, []want) {
	if done := p.done("refund_status"); len(done) > 0 {
		return p.told(done, p.statusText), nil
	}
	if done := p.done("list_refunds"); len(done) > 0 {
		return p.latestRefund(done[len(done)-1]), nil
	}
	if no := cmp.Or(p.refund, p.knownRefund()); no != "" {
		return "", []want{{"refund_status", map[string]any{"refund": no}}}
	}
	return "", []want{{"list_refunds", map[string]any{}}}
}

// refundWish finds out which order is meant, makes sure that an earlier attempt has not paid, and asks for the refund.
func (p *prompt) refundWish() (string, []want) {
	if done := p.done("refund_order"); len(done) > 0 {
		return p.told(done, p.requestText), nil
	}
	which, calls, text := p.which()
	if which == nil {
		return text, calls
	}
	if p.inDoubt(which) {
		done := p.done("list_refunds")
		if len(done) == 0 {
			return "", []want{{"list_refunds", map[string]any{}}}
		}
		if text := p.paidBefore(done[len(done)-1], which); text != "" {
			return text, nil
		}
	}
	for _, order := range which {
		args := map[string]any{"order": order}
		if a := amount(p.said); a != "" {
			args["amount"] = a
		}
		if r := because(p.said); r != "" {
			args["reason"] = r
		}
		calls = append(calls, want{"refund_order", args})
	}
	return "", calls
}

// which are the orders to refund: those that are named, the latest where that is asked for, the one of the session state, or
// the last one in the history. If none is known it asks.
func (p *prompt) which() (orderNumbers []string, calls []want, text string) {
	if named := orders(p.said); len(named) > 0 {
		return named, nil, ""
	}
	if latest.MatchString(p.said) {
		done := p.done("latest_order")
		if len(done) == 0 {
			return nil, []want{{"latest_order", map[string]any{}}}, ""
		}
		var o order
		if !done[0].answer(&o) {
			return nil, nil, p.told(done, p.orderText)
		}
		return []string{o.Order}, nil, ""
	}
	if p.order != "" {
		return []string{p.order}, nil, ""
	}
	if n := p.recent(); n != "" {
		return []string{n}, nil, ""
	}
	return nil, nil, choose(p.zh, "Which order do you mean? Its number has four digits or more, such as 1005.",
		"请问是哪个订单？请告诉我订单号，例如 1005。")
}

// inDoubt reports whether a refund of one of the orders was tried before and nobody knows what came of it.
func (p *prompt) inDoubt(which []string) bool {
	for _, s := range steps(p.history) {
		open := s.result.CallID == "" || slices.Contains([]message.Status{message.StatusCancelled, message.StatusCrashed,
			message.StatusTimedOut}, s.result.Status)
		if s.call.Name == "refund_order" && open && slices.Contains(which, s.arg("order")) {
			return true
		}
	}
	return false
}

// paidBefore tells of refunds of the orders that are there already.
func (p *prompt) paidBefore(list step, which []string) string {
	var all []refund
	if !list.answer(&all) {
		return p.failed(list)
	}
	var out []string
	for _, r := range all {
		if slices.Contains(which, r.Order) {
			out = append(out, p.refundText(r))
		}
	}
	return strings.Join(out, "\n")
}
