package shop

import "time"

// A Customer is a person who buys. Names are in both languages, as the shop's catalogue is.
type Customer struct {
	ID     string `json:"id"`
	NameEN string `json:"name_en"`
	NameZH string `json:"name_zh"`
}

// An Order is what one customer bought at one time.
type Order struct {
	ID        string    `json:"id"`
	State     State     `json:"state"`
	Delivered time.Time `json:"delivered"` // when it was, or will be
	Items     []Item    `json:"items"`
	Paid      Money     `json:"paid"`
	Refunded  Money     `json:"refunded"` // sum of the refunds so far
}

// Refundable is what has been paid and not been given back yet.
func (o Order) Refundable() Money { return o.Paid - o.Refunded }

// A State says where an order is.
type State string

// The states.
const (
	OnTheWay  State = "on_the_way"
	Delivered State = "delivered"
)

// An Item is one line of an order.
type Item struct {
	SKU    string `json:"sku"`
	NameEN string `json:"name_en"`
	NameZH string `json:"name_zh"`
	Count  int    `json:"count"`
	Price  Money  `json:"price"` // of one piece
}

// A Check is the shop's policy applied to one wish for a refund.
type Check struct {
	Allowed       bool  `json:"allowed"`
	Code          Code  `json:"code"`           // why not; CodeOK if allowed
	Refundable    Money `json:"refundable"`     // what could be refunded at most
	AgeDays       int   `json:"age_days"`       // whole days since the delivery
	LimitDays     int   `json:"limit_days"`     // refunds are made up to this age
	ApprovalAbove Money `json:"approval_above"` // a person must approve more than this
}

// A Code names an outcome for programs. Its text never changes.
type Code string

// The codes of checks and of errors.
const (
	CodeOK           Code = "ok"
	CodeNotDelivered Code = "not_delivered"   // the order is still on its way
	CodeTooOld       Code = "too_old"         // the order was delivered too long ago
	CodeRefunded     Code = "refunded"        // everything has been refunded already
	CodeTooMuch      Code = "too_much"        // more than what is left of the order
	CodeNotFound     Code = "not_found"       // the customer has no such order or refund, or there is no such customer or path
	CodeBadRequest   Code = "bad_request"     // the request is malformed; the message says where
	CodeKeyReused    Code = "key_reused"      // the idempotency key was used for something else
	CodeBadMethod    Code = "bad_method"      // the path takes another method
	CodeUnavailable  Code = "unavailable"     // a failure that may pass: try again
	CodeMediaType    Code = "bad_media_type"  // a body that is not application/json
	CodeTooLarge     Code = "body_too_large"  // a body of more than 64 KiB
	CodeNoKey        Code = "idempotency_key" // the Idempotency-Key header is missing or malformed
)

// A Wish is the body of a refund request.
type Wish struct {
	Amount Money  `json:"amount"` // 0: all that is left of the order
	Reason string `json:"reason"`
}

// A Refund is money on its way back to a customer.
type Refund struct {
	ID     string       `json:"id"`
	Order  string       `json:"order"`
	Amount Money        `json:"amount"`
	Status RefundStatus `json:"status"`
	At     time.Time    `json:"at"`   // when it was requested
	Paid   time.Time    `json:"paid"` // when the money was there, or will be
}

// A RefundStatus says how far a refund is.
type RefundStatus string

// The statuses. A refund goes from one to the other with the service's clock.
const (
	Requested RefundStatus = "requested" // the shop owes it; it cannot be taken back
	Paid      RefundStatus = "paid"      // the money is in the customer's account
)

// A Line is one payment of the ledger.
type Line struct {
	Refund   string    `json:"refund"`
	Order    string    `json:"order"`
	Customer string    `json:"customer"`
	Amount   Money     `json:"amount"`
	Reason   string    `json:"reason"`
	Key      string    `json:"key"` // idempotency key that it was made with
	At       time.Time `json:"at"`
}

// A Time is what the service's clock says.
type Time struct {
	Days int       `json:"days"` // ahead of the machine's clock
	Now  time.Time `json:"now"`
}
