package main

import (
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
)

// An orderView is what the model reads of an order.
type orderView struct {
	Order    string     `json:"order"`
	State    shop.State `json:"state"`
	Day      string     `json:"day"` // of the delivery
	Items    []itemView `json:"items"`
	Paid     string     `json:"paid"`
	Refunded string     `json:"refunded,omitzero"`
}

// An itemView is a line of an order.
type itemView struct {
	EN    string `json:"en"`
	ZH    string `json:"zh"`
	Count int    `json:"count"`
}

// A refundView is what the model reads of a refund.
type refundView struct {
	Refund string            `json:"refund"`
	Order  string            `json:"order"`
	Amount string            `json:"amount"`
	Status shop.RefundStatus `json:"status"`
	Day    string            `json:"day"` // on which the money was there, or will be
}

func viewOrder(o shop.Order) orderView {
	v := orderView{Order: o.ID, State: o.State, Day: o.Delivered.Format(time.DateOnly), Items: []itemView{}, Paid: o.Paid.String()}
	for _, it := range o.Items {
		v.Items = append(v.Items, itemView{it.NameEN, it.NameZH, it.Count})
	}
	if o.Refunded > 0 {
		v.Refunded = o.Refunded.String()
	}
	return v
}

func viewRefund(r shop.Refund) refundView {
	return refundView{r.ID, r.Order, r.Amount.String(), r.Status, r.Paid.Format(time.DateOnly)}
}
