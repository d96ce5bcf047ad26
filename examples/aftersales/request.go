package main

import "github.com/holdfast-go/holdfast/examples/aftersales/shop"

// A Request is what a customer wants back.
type Request struct {
	Customer string     `json:"customer"`
	Order    string     `json:"order"`  // empty: the latest one
	Amount   shop.Money `json:"amount"` // 0: all that is left
	Reason   string     `json:"reason"`
	Chinese  bool       `json:"chinese"` // the language that the customer is told the result in
}

// A Bill is what the person sees who must approve a refund.
type Bill struct {
	Order    string     `json:"order"`
	Customer string     `json:"customer"`
	Amount   shop.Money `json:"amount"`
	Limit    shop.Money `json:"limit"` // above it, somebody must approve
	Risk     int        `json:"risk"`  // points; see riskLimit
	Reason   string     `json:"reason"`
}

// An Approval is the answer of that person.
type Approval struct {
	Approved bool   `json:"approved"`
	Note     string `json:"note"`
}

// An Outcome says how a refund ended.
type Outcome struct {
	Status Status    `json:"status"`
	Code   shop.Code `json:"code"` // why not; CodeOK if the money moved
}

// A Status is the end of a refund in one word.
type Status string

// The ends.
const (
	Refunded Status = "refunded" // the money moved, once
	Rejected Status = "rejected" // the shop's rules do not allow it
	Denied   Status = "denied"   // the person who was asked said no
	Refused  Status = "refused"  // the shop did not pay, and that is certain
)
