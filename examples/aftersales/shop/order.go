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
	Customer  string    `json:"customer"` // id of the customer who paid
	Delivered time.Time `json:"delivered"`
	Items     []Item    `json:"items"`
	Paid      Money     `json:"paid"`
	Refunded  Money     `json:"refunded"` // sum of the refunds so far
}

// Refundable is what has been paid and not been given back yet.
func (o Order) Refundable() Money { return o.Paid - o.Refunded }

// An Item is one line of an order.
type Item struct {
	SKU    string `json:"sku"`
	NameEN string `json:"name_en"`
	NameZH string `json:"name_zh"`
	Count  int    `json:"count"`
	Price  Money  `json:"price"` // of one piece
}

// A Product tells what the shop knows about an article, whoever bought it.
type Product struct {
	SKU     string `json:"sku"`
	Returns int    `json:"returns_per_cent"` // how many of a hundred sold come back
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
	CodeOK          Code = "ok"
	CodeTooOld      Code = "too_old"         // the order was delivered too long ago
	CodeNotYours    Code = "not_yours"       // the order belongs to another customer
	CodeRefunded    Code = "refunded"        // everything has been refunded already
	CodeTooMuch     Code = "too_much"        // more than what is left of the order
	CodeNotFound    Code = "not_found"       // no such customer, order, article or path
	CodeBadRequest  Code = "bad_request"     // the request is malformed; the message says where
	CodeKeyReused   Code = "key_reused"      // the idempotency key was used for something else
	CodeBadMethod   Code = "bad_method"      // the path takes another method
	CodeUnavailable Code = "unavailable"     // a failure that may pass: try again
	CodeNoReceipt   Code = "no_receipt"      // a booking names a receipt that does not exist
	CodeMediaType   Code = "bad_media_type"  // a body that is not application/json
	CodeTooLarge    Code = "body_too_large"  // a body of more than 64 KiB
	CodeNoKey       Code = "idempotency_key" // the Idempotency-Key header is missing or malformed
)

// A Receipt says that money went back to a customer.
type Receipt struct {
	ID     string    `json:"id"`
	Order  string    `json:"order"`
	Amount Money     `json:"amount"`
	At     time.Time `json:"at"`
}

// A Line is one payment of the ledger.
type Line struct {
	Receipt  string    `json:"receipt"`
	Order    string    `json:"order"`
	Customer string    `json:"customer"`
	Amount   Money     `json:"amount"`
	Reason   string    `json:"reason"`
	Key      string    `json:"key"` // idempotency key that it was made with
	At       time.Time `json:"at"`
}

// A Notice is a message to a customer about an order.
type Notice struct {
	ID    string    `json:"id"`
	Order string    `json:"order"`
	Text  string    `json:"text"`
	At    time.Time `json:"at"`
}

// Key is the notice's id, so that a state can keep notices in order.
func (n Notice) Key() string { return n.ID }

// A Booking is the entry of a receipt in the shop's books.
type Booking struct {
	ID      string    `json:"id"`
	Receipt string    `json:"receipt"`
	Amount  Money     `json:"amount"`
	At      time.Time `json:"at"`
}

// A Wish is the body of a refund request.
type Wish struct {
	Customer string `json:"customer"`
	Amount   Money  `json:"amount"`
	Reason   string `json:"reason"`
}
