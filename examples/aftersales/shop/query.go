package shop

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// querier is what reads need: the file or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

const day = 24 * time.Hour

// clock is the service's time: the machine's, and the days that a demonstration has let pass.
func (s *Shop) clock(ctx context.Context, q querier) (t Time, err error) {
	err = q.QueryRowContext(ctx, `SELECT days_ahead FROM policy`).Scan(&t.Days)
	t.Now = s.now().UTC().Add(time.Duration(t.Days) * day)
	return t, err
}

func findCustomer(ctx context.Context, q querier, id string) (Customer, error) {
	c := Customer{ID: id}
	err := q.QueryRowContext(ctx, `SELECT name_en, name_zh FROM customers WHERE id = ?`, id).Scan(&c.NameEN, &c.NameZH)
	if errors.Is(err, sql.ErrNoRows) {
		return c, fail(http.StatusNotFound, CodeNotFound, "there is no customer %q", id)
	}
	return c, err
}

// orderNumber reads the id of an order as the database keeps it.
func orderNumber(id string) (int64, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || !digits(id) {
		return 0, fail(http.StatusBadRequest, CodeBadRequest, "an order number has digits only, not %q", id)
	}
	return n, nil
}

// findOrder finds an order of the customer. One of somebody else is not found.
func findOrder(ctx context.Context, q querier, customer string, n int64, now time.Time) (Order, error) {
	o := Order{ID: strconv.FormatInt(n, 10), State: OnTheWay, Items: []Item{}}
	var delivered int64
	err := q.QueryRowContext(ctx, `SELECT delivered, (SELECT coalesce(sum(amount), 0) FROM payments WHERE order_n = orders.n)
		FROM orders WHERE n = ? AND customer = ?`, n, customer).Scan(&delivered, &o.Refunded)
	if errors.Is(err, sql.ErrNoRows) {
		return o, fail(http.StatusNotFound, CodeNotFound, "%s has no order %d", customer, n)
	}
	if err != nil {
		return o, err
	}
	if o.Delivered = time.UnixMilli(delivered).UTC(); !o.Delivered.After(now) {
		o.State = Delivered
	}
	rows, err := q.QueryContext(ctx, `SELECT sku, name_en, name_zh, count, price
		FROM items JOIN products USING (sku) WHERE order_n = ? ORDER BY place`, n)
	if err != nil {
		return o, err
	}
	defer rows.Close()
	for rows.Next() {
		var it Item
		if err := rows.Scan(&it.SKU, &it.NameEN, &it.NameZH, &it.Count, &it.Price); err != nil {
			return o, err
		}
		o.Items = append(o.Items, it)
		o.Paid += it.Price * Money(it.Count)
	}
	return o, rows.Err()
}

// orderNumbers lists the orders of a customer, the latest first.
func orderNumbers(ctx context.Context, q querier, customer string) ([]int64, error) {
	rows, err := q.QueryContext(ctx, `SELECT n FROM orders WHERE customer = ? ORDER BY n DESC`, customer)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

// A policy is what the shop's rules say.
type policy struct {
	limitDays, payoutDays int
	approvalAbove         Money
}

func readPolicy(ctx context.Context, q querier) (p policy, err error) {
	err = q.QueryRowContext(ctx, `SELECT limit_days, approval_above, payout_days FROM policy`).
		Scan(&p.limitDays, &p.approvalAbove, &p.payoutDays)
	return p, err
}

// check applies the policy to a wish of amount for the order; an amount of 0 means all that is left.
func (p policy) check(o Order, amount Money, now time.Time) Check {
	c := Check{Code: CodeOK, Refundable: o.Refundable(), AgeDays: int(now.Sub(o.Delivered) / day), LimitDays: p.limitDays,
		ApprovalAbove: p.approvalAbove}
	switch {
	case o.State != Delivered:
		c.Code = CodeNotDelivered
	case c.Refundable <= 0:
		c.Code = CodeRefunded
	case c.AgeDays > c.LimitDays:
		c.Code = CodeTooOld
	case amount > c.Refundable:
		c.Code = CodeTooMuch
	}
	c.Allowed = c.Code == CodeOK
	return c
}

// refund says how far a payment is.
func (p policy) refund(n, order int64, amount Money, at int64, now time.Time) Refund {
	r := Refund{ID: refundID(n), Order: strconv.FormatInt(order, 10), Amount: amount, Status: Requested}
	r.At = time.UnixMilli(at).UTC()
	if r.Paid = r.At.Add(time.Duration(p.payoutDays) * day); !r.Paid.After(now) {
		r.Status = Paid
	}
	return r
}

// listRefunds lists those of a customer, the latest first; only the one with the number n unless that is 0.
func listRefunds(ctx context.Context, q querier, customer string, n int64, now time.Time) ([]Refund, error) {
	p, err := readPolicy(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, `SELECT n, order_n, amount, at FROM payments
		WHERE customer = ? AND (? = 0 OR n = ?) ORDER BY n DESC`, customer, n, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []Refund{}
	for rows.Next() {
		var n, order, at int64
		var amount Money
		if err := rows.Scan(&n, &order, &amount, &at); err != nil {
			return nil, err
		}
		out = append(out, p.refund(n, order, amount, at, now))
	}
	return out, rows.Err()
}

func listLines(ctx context.Context, q querier, order int64) ([]Line, error) {
	rows, err := q.QueryContext(ctx, `SELECT n, order_n, customer, amount, reason, key, at FROM payments
		WHERE ? = 0 OR order_n = ? ORDER BY n`, order, order)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []Line{}
	for rows.Next() {
		var l Line
		var n, at int64
		if err := rows.Scan(&n, &l.Order, &l.Customer, &l.Amount, &l.Reason, &l.Key, &at); err != nil {
			return nil, err
		}
		l.Refund, l.At = refundID(n), time.UnixMilli(at).UTC()
		out = append(out, l)
	}
	return out, rows.Err()
}

func refundID(n int64) string { return "R-" + strconv.FormatInt(n, 10) }

// refundNumber reads the id of a refund.
func refundNumber(id string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(id, "R-"), 10, 64)
	if err != nil || n <= 0 || refundID(n) != id {
		return 0, fail(http.StatusBadRequest, CodeBadRequest, "a refund looks like R-7, not %q", id)
	}
	return n, nil
}
