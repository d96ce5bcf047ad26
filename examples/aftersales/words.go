package main

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
)

// choose returns the text in the language.
func choose(zh bool, en, chinese string) string {
	if zh {
		return chinese
	}
	return en
}

// nodeWords says what each node does.
var nodeWords = map[string][2]string{
	"find":    {"looks the order up", "查找订单"},
	"policy":  {"asks the shop whether its rules allow it", "向店铺核对退款规则"},
	"assess":  {"assesses the risk of one article", "评估一件商品的风险"},
	"decide":  {"decides what comes next", "决定下一步"},
	"approve": {"needs the word of a colleague", "需要同事批准"},
	"pay":     {"moves the money", "退款打款"},
	"notify":  {"tells the customer", "通知顾客"},
	"books":   {"enters the receipt in the books", "登记账目"},
	"decline": {"ends without a refund, with the reason", "说明原因，不退款"},
	"done":    {"closes the case", "结案"},
}

func nodeText(zh bool, node string) string {
	w, ok := nodeWords[node]
	if !ok {
		return node
	}
	return choose(zh, w[0], w[1])
}

// outcomeText says in a sentence why a refund was not made.
func outcomeText(zh bool, o Outcome, check shop.Check) string {
	if o.Status == Denied {
		return choose(zh, "the colleague who was asked did not approve it", "审批的同事没有批准")
	}
	switch o.Code {
	case shop.CodeTooOld:
		return fmt.Sprintf(choose(zh, "the order was delivered %d days ago, and refunds are made for %d days",
			"订单已送达 %d 天，超过 %d 天的退款期限"), check.AgeDays, check.LimitDays)
	case shop.CodeNotYours:
		return choose(zh, "that order is not yours", "这不是您的订单")
	case shop.CodeRefunded:
		return choose(zh, "it has been refunded already", "这个订单已经全额退过款了")
	case shop.CodeTooMuch:
		return fmt.Sprintf(choose(zh, "at most %v of the order can still be refunded", "这个订单最多还能退 %v"), check.Refundable)
	case shop.CodeNotFound:
		return choose(zh, "there is no such order", "没有这个订单")
	case shop.CodeUnavailable:
		return choose(zh, "the shop did not answer; the ledger shows that no money moved", "店铺没有回应；账本表明没有打款")
	}
	return choose(zh, "the shop refused it", "店铺拒绝了") + " (" + string(o.Code) + ")"
}

// refundedNotice is what the customer is told when the money has moved.
func refundedNotice(s *Refund) string {
	rec := s.Receipt.Get()
	return fmt.Sprintf(choose(s.Request.Get().Chinese, "Order %s: %v is on its way back to you, receipt %s.",
		"订单 %s：%v 已退回您的账户，凭证号 %s。"), rec.Order, rec.Amount, rec.ID)
}

// declinedNotice is what the customer is told when it has not.
func declinedNotice(s *Refund) string {
	zh := s.Request.Get().Chinese
	return fmt.Sprintf(choose(zh, "Order %s: no refund, because %s.", "订单 %s：不能退款，因为%s。"),
		s.Order.Get().ID, outcomeText(zh, s.Outcome.Get(), s.Check.Get()))
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
