package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
)

// choose returns the text in the language.
func choose(zh bool, en, chinese string) string {
	if zh {
		return chinese
	}
	return en
}

// hasHan reports whether a text has Chinese characters.
func hasHan(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// refusalText says why the shop did not do what it was asked for.
func refusalText(zh bool, err error) string {
	if errors.Is(err, errNotBooked) {
		return choose(zh, "The shop did not answer; its ledger shows that no money moved.", "店铺没有回应；账本表明没有打款。")
	}
	e, refused := shop.Refused(err)
	if !refused {
		return choose(zh, "The shop cannot be reached now. Please ask again later.", "现在连不上店铺，请稍后再问。")
	}
	switch e.Code {
	case shop.CodeNotDelivered:
		return choose(zh, "The order is still on its way; it can be refunded when it was delivered.", "订单还在路上，送达之后才能退款。")
	case shop.CodeTooOld:
		return choose(zh, "The order was delivered too long ago: refunds are made for 30 days.", "订单送达太久：超过 30 天的退款期限。")
	case shop.CodeRefunded:
		return choose(zh, "All of the order was refunded before.", "这个订单已经全额退过款了。")
	case shop.CodeTooMuch:
		return choose(zh, "That is more than what is left of the order.", "超过了这个订单可退的余额。")
	case shop.CodeNotFound:
		return choose(zh, "The customer has no such order or refund.", "这位顾客没有这个订单或退款。")
	}
	return fmt.Sprintf(choose(zh, "The shop says no (%s).", "店铺拒绝了（%s）。"), e.Code)
}

// troubleText says what went wrong with a request that is repeated.
func troubleText(zh bool, err error) string {
	u, lost := errors.AsType[*shop.UnreachableError](err)
	switch {
	case lost && u.Timeout:
		return choose(zh, "the shop did not answer in time", "店铺没有及时回应")
	case lost:
		return choose(zh, "the connection to the shop was cut", "与店铺的连接中断")
	}
	return choose(zh, "the shop answered with a server error", "店铺返回服务器错误")
}

// itemsText lists what was bought.
func itemsText(zh bool, items []shop.Item) string {
	var out []string
	for _, it := range items {
		name := choose(zh, it.NameEN, it.NameZH)
		if it.Count > 1 {
			name = fmt.Sprintf("%d x %s", it.Count, name)
		}
		out = append(out, name)
	}
	return strings.Join(out, choose(zh, ", ", "、"))
}

// nameOf is how a customer or colleague is called.
func nameOf(zh bool, id string) string {
	switch id {
	case "lin":
		return choose(zh, "Lin Xiao", "林晓")
	case "zhao":
		return choose(zh, "Zhao Lei", "赵磊")
	case "chen":
		return choose(zh, "Chen Yu", "陈宇")
	}
	return id
}
