package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// A clerk does at the shop what the model asks for. Whose orders they are comes from the conversation's scope, never from the
// model.
type clerk struct{ shop *shop.Client }

type (
	nothing  struct{}
	orderArg struct {
		Order string `json:"order" description:"number of the order, such as 1005"`
	}
	refundArg struct {
		Refund string `json:"refund" description:"id of the refund, such as R-7"`
	}
	refundWish struct {
		Order  string `json:"order" description:"number of the order, such as 1005"`
		Amount string `json:"amount,omitzero" description:"in yuan, such as 35.50; without it, all that is left of the order"`
		Reason string `json:"reason,omitzero" description:"in the customer's words"`
	}
)

// tools are what the model may call.
func (c clerk) tools() []nodes.Tool {
	return []nodes.Tool{
		nodes.NewTool("latest_order", "Looks up the customer's latest order.", c.latestOrder,
			nodes.ToolOptions[nothing, orderView]{ReadOnly: true,
				Facts: func(ctx context.Context, src session.Source, _ nothing, o orderView) []session.Change {
					return about(ctx, o.Order, src)
				}}),
		nodes.NewTool("order_status", "Looks up one order of the customer: where it is, what was paid and refunded.", c.orderStatus,
			nodes.ToolOptions[orderArg, orderView]{ReadOnly: true,
				Facts: func(ctx context.Context, src session.Source, _ orderArg, o orderView) []session.Change {
					return about(ctx, o.Order, src)
				}}),
		nodes.NewTool("list_orders", "Lists all orders of the customer, the latest first.", c.listOrders,
			nodes.ToolOptions[nothing, []orderView]{ReadOnly: true}),
		nodes.NewTool("refund_order", "Pays money of an order back to the customer. It cannot be undone.", c.refundOrder,
			nodes.ToolOptions[refundWish, refundView]{Actions: []string{"refund"}, AskIf: c.overLimit, FourEyes: true, Facts: c.refunded}),
		nodes.NewTool("refund_status", "Looks up one refund: requested, or paid.", c.refundStatus,
			nodes.ToolOptions[refundArg, refundView]{ReadOnly: true}),
		nodes.NewTool("list_refunds", "Lists all refunds of the customer, of earlier conversations too, the latest first.", c.listRefunds,
			nodes.ToolOptions[nothing, []refundView]{ReadOnly: true}),
	}
}

// about says that the conversation is about an order now. Where a question was about several, it is about none of them.
func about(ctx context.Context, order string, src session.Source) []session.Change {
	if siblings(ctx) > 1 {
		return []session.Change{session.Unset(aboutOrder, src)}
	}
	return []session.Change{session.Set(aboutOrder, order, src)}
}

// siblings is how many calls the model made together with the present one, this one among them.
func siblings(ctx context.Context) int {
	in, _ := nodes.Current(ctx)
	t, ok := nodes.TurnOf(ctx)
	if !ok {
		return 1
	}
	for _, m := range slices.Backward(t.Messages.Slice()) {
		if slices.ContainsFunc(m.Calls(), func(c message.Call) bool { return c.ID == in.Call.ID }) {
			return len(m.Calls())
		}
	}
	return 1
}

func (c clerk) refunded(ctx context.Context, src session.Source, _ refundWish, r refundView) []session.Change {
	fact := session.Set(aboutRefund, refundFact{r.Refund, r.Order, r.Amount}, src)
	return append(about(ctx, r.Order, src), fact)
}

func (c clerk) latestOrder(ctx context.Context, _ nothing) (orderView, error) {
	o, err := patiently(ctx, func(customer string) (shop.Order, error) { return c.shop.Latest(ctx, customer) })
	return viewOrder(o), told(ctx, err)
}

func (c clerk) orderStatus(ctx context.Context, a orderArg) (orderView, error) {
	o, err := patiently(ctx, func(customer string) (shop.Order, error) { return c.shop.Order(ctx, customer, a.Order) })
	return viewOrder(o), told(ctx, err)
}

func (c clerk) refundStatus(ctx context.Context, a refundArg) (refundView, error) {
	r, err := patiently(ctx, func(customer string) (shop.Refund, error) { return c.shop.RefundStatus(ctx, customer, a.Refund) })
	return viewRefund(r), told(ctx, err)
}

func (c clerk) listOrders(ctx context.Context, _ nothing) ([]orderView, error) {
	all, err := patiently(ctx, func(customer string) ([]shop.Order, error) { return c.shop.Orders(ctx, customer) })
	out := []orderView{}
	for _, o := range all {
		out = append(out, viewOrder(o))
	}
	return out, told(ctx, err)
}

func (c clerk) listRefunds(ctx context.Context, _ nothing) ([]refundView, error) {
	all, err := patiently(ctx, func(customer string) ([]shop.Refund, error) { return c.shop.Refunds(ctx, customer) })
	out := []refundView{}
	for _, r := range all {
		out = append(out, viewRefund(r))
	}
	return out, told(ctx, err)
}

// overLimit asks a colleague about more money than the shop's limit. If the shop does not say what the limit is, the colleague is
// asked too; a refund that the shop will refuse needs nobody's word.
func (c clerk) overLimit(ctx context.Context, w refundWish) (string, bool) {
	amount, err := w.amount()
	if err != nil {
		return "", false
	}
	check, err := patiently(ctx, func(customer string) (shop.Check, error) { return c.shop.Check(ctx, customer, w.Order, amount) })
	if _, no := shop.Refused(err); no || err == nil && !check.Allowed {
		return "", false
	}
	zh := inChinese(ctx)
	if err != nil {
		return choose(zh, "The shop does not say what the limit is.", "店铺没有说明限额。"), true
	}
	if amount == 0 {
		amount = check.Refundable
	}
	why := choose(zh, "%v is above the limit of %v.", "%v 超过了 %v 的限额。")
	return fmt.Sprintf(why, amount, check.ApprovalAbove), amount > check.ApprovalAbove
}

// amount is what the customer wants, 0 for all that is left.
func (w refundWish) amount() (shop.Money, error) {
	if w.Amount == "" {
		return 0, nil
	}
	return shop.ParseMoney(w.Amount)
}

// refundOrder moves the money. The key is the same on every attempt and in every process, so whatever gets lost on the way, the
// shop pays once and answers every repetition with the first refund.
func (c clerk) refundOrder(ctx context.Context, w refundWish) (refundView, error) {
	in, _ := nodes.Current(ctx)
	amount, err := w.amount()
	if err != nil {
		return refundView{}, err
	}
	r, err := patiently(ctx, func(customer string) (shop.Refund, error) {
		return c.shop.Refund(ctx, customer, w.Order, in.Key, shop.Wish{Amount: amount, Reason: w.Reason})
	})
	if _, no := shop.Refused(err); err == nil || no || ctx.Err() != nil {
		return viewRefund(r), told(ctx, err)
	}
	return c.booked(ctx, w.Order, in.Key)
}

// booked looks into the ledger for what became of a payment that was not answered, however often it was asked for. If the ledger
// cannot be read either the run fails, and whoever resumes it tries to pay again, under the same key.
func (c clerk) booked(ctx context.Context, order, key string) (refundView, error) {
	lines, err := patiently(ctx, func(string) ([]shop.Line, error) { return c.shop.Ledger(ctx, order) })
	if err != nil {
		return refundView{}, nodes.Fatal(err)
	}
	i := slices.IndexFunc(lines, func(l shop.Line) bool { return l.Key == key })
	if i < 0 {
		return refundView{}, told(ctx, errNotBooked)
	}
	return c.refundStatus(ctx, refundArg{lines[i].Refund})
}

// errNotBooked says that the shop did not pay, and that this is certain.
var errNotBooked = errors.New("the ledger has no such payment")

// patiently repeats a request of the customer while the shop fails in ways that may pass, up to five times.
func patiently[T any](ctx context.Context, request func(customer string) (T, error)) (T, error) {
	in, _ := nodes.Current(ctx)
	for n, wait := 1, 150*time.Millisecond; ; n, wait = n+1, 2*wait {
		v, err := request(in.Scope.User())
		if err == nil || n == 5 || ctx.Err() != nil || !graph.Retryable(err) {
			return v, err
		}
		zh := inChinese(ctx)
		text := choose(zh, "attempt %d: %s; it is tried again", "第 %d 次尝试：%s；稍后重试")
		tell(ctx, toolNews{"!!", in.Call.Name, fmt.Sprintf(text, n, troubleText(zh, err))})
		select {
		case <-ctx.Done():
			return v, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// told puts an error of the shop into words that the model can pass on. An error of the run stays what it is.
func told(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return errors.New(refusalText(inChinese(ctx), err))
}

// inChinese reports whether the customer's last message is in Chinese.
func inChinese(ctx context.Context) bool {
	t, ok := nodes.TurnOf(ctx)
	if !ok {
		return false
	}
	for _, m := range slices.Backward(t.Messages.Slice()) {
		if m.Role == message.RoleUser {
			return hasHan(m.Text())
		}
	}
	return false
}
