package shop

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// querier is what reads need: the file or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
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

func findOrder(ctx context.Context, q querier, n int64) (Order, error) {
	o := Order{ID: strconv.FormatInt(n, 10), Items: []Item{}}
	var delivered int64
	err := q.QueryRowContext(ctx, `SELECT customer, delivered,
		(SELECT coalesce(sum(amount), 0) FROM payments WHERE order_n = orders.n) FROM orders WHERE n = ?`, n).
		Scan(&o.Customer, &delivered, &o.Refunded)
	if errors.Is(err, sql.ErrNoRows) {
		return o, fail(http.StatusNotFound, CodeNotFound, "there is no order %d", n)
	}
	if err != nil {
		return o, err
	}
	o.Delivered = time.UnixMilli(delivered).UTC()
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
	rows, err := q.QueryContext(ctx, `SELECT n FROM orders WHERE customer = ? ORDER BY delivered DESC, n DESC`, customer)
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

// check applies the policy to a wish of amount for the order; an amount of 0 means all that is left.
func check(ctx context.Context, q querier, o Order, customer string, amount Money, now time.Time) (Check, error) {
	c := Check{Code: CodeOK, Refundable: o.Refundable(), AgeDays: int(now.Sub(o.Delivered) / (24 * time.Hour))}
	err := q.QueryRowContext(ctx, `SELECT limit_days, approval_above FROM policy`).Scan(&c.LimitDays, &c.ApprovalAbove)
	switch {
	case err != nil:
		return c, err
	case o.Customer != customer:
		c = Check{Code: CodeNotYours} // and nothing about the order of somebody else
	case c.Refundable <= 0:
		c.Code = CodeRefunded
	case c.AgeDays > c.LimitDays:
		c.Code = CodeTooOld
	case amount > c.Refundable:
		c.Code = CodeTooMuch
	}
	c.Allowed = c.Code == CodeOK
	return c, nil
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
		l.Receipt, l.At = receiptID(n), time.UnixMilli(at).UTC()
		out = append(out, l)
	}
	return out, rows.Err()
}

func listNotices(ctx context.Context, q querier, order int64) ([]Notice, error) {
	rows, err := q.QueryContext(ctx, `SELECT n, order_n, body, at FROM notices WHERE ? = 0 OR order_n = ? ORDER BY n`, order, order)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []Notice{}
	for rows.Next() {
		var v Notice
		var n, at int64
		if err := rows.Scan(&n, &v.Order, &v.Text, &at); err != nil {
			return nil, err
		}
		v.ID, v.At = "N-"+strconv.FormatInt(n, 10), time.UnixMilli(at).UTC()
		out = append(out, v)
	}
	return out, rows.Err()
}

func receiptID(n int64) string { return "R-" + strconv.FormatInt(n, 10) }
