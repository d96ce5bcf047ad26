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

// pay books a refund once for each key. Repeated says that the receipt is the first one.
func (s *Shop) pay(ctx context.Context, order int64, key string, w Wish) (rec Receipt, repeated bool, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		var first Wish
		var n, firstOrder, at int64
		err := tx.QueryRowContext(ctx, `SELECT n, order_n, customer, amount, at FROM payments WHERE key = ?`, key).
			Scan(&n, &firstOrder, &first.Customer, &first.Amount, &at)
		if err == nil {
			repeated = true
			if firstOrder != order || first.Customer != w.Customer || first.Amount != w.Amount {
				return fail(http.StatusConflict, CodeKeyReused, "this key paid %v for order %d before", first.Amount, firstOrder)
			}
			rec = receipt(n, order, first.Amount, at)
			return nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := s.mayPay(ctx, tx, order, w); err != nil {
			return err
		}
		at = s.now().UnixMilli()
		done, err := tx.ExecContext(ctx, `INSERT INTO payments (key, order_n, customer, amount, reason, at) VALUES (?, ?, ?, ?, ?, ?)`,
			key, order, w.Customer, w.Amount, w.Reason, at)
		if err != nil {
			return err
		}
		if n, err = done.LastInsertId(); err != nil {
			return err
		}
		rec = receipt(n, order, w.Amount, at)
		return nil
	})
	return rec, repeated, err
}

// mayPay refuses what the policy refuses: the service trusts no caller to have asked before.
func (s *Shop) mayPay(ctx context.Context, tx *sql.Tx, order int64, w Wish) error {
	o, err := findOrder(ctx, tx, order)
	if err != nil {
		return err
	}
	c, err := check(ctx, tx, o, w.Customer, w.Amount, s.now())
	if err != nil || c.Allowed {
		return err
	}
	status := http.StatusUnprocessableEntity
	if c.Code == CodeNotYours {
		status = http.StatusForbidden
	}
	return fail(status, c.Code, "no refund of %v for order %d", w.Amount, order)
}

func receipt(n, order int64, amount Money, at int64) Receipt {
	return Receipt{receiptID(n), strconv.FormatInt(order, 10), amount, time.UnixMilli(at).UTC()}
}

// tell records a notice to the customer of an order, once for each key.
func (s *Shop) tell(ctx context.Context, order int64, key, text string) (v Notice, repeated bool, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		if _, err := findOrder(ctx, tx, order); err != nil {
			return err
		}
		now := s.now().UnixMilli()
		done, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO notices (key, order_n, body, at) VALUES (?, ?, ?, ?)`, key, order, text, now)
		if err != nil {
			return err
		}
		fresh, err := done.RowsAffected()
		if err != nil {
			return err
		}
		var n, firstOrder, at int64
		err = tx.QueryRowContext(ctx, `SELECT n, order_n, body, at FROM notices WHERE key = ?`, key).Scan(&n, &firstOrder, &v.Text, &at)
		if err != nil {
			return err
		}
		if firstOrder != order || v.Text != text {
			return fail(http.StatusConflict, CodeKeyReused, "this key told something else before")
		}
		repeated = fresh == 0
		v.ID, v.Order, v.At = "N-"+strconv.FormatInt(n, 10), strconv.FormatInt(order, 10), time.UnixMilli(at).UTC()
		return nil
	})
	return v, repeated, err
}

// book enters a receipt in the books, once for each key and once for each receipt.
func (s *Shop) book(ctx context.Context, key, rec string, amount Money) (b Booking, repeated bool, err error) {
	payment, perr := strconv.ParseInt(strings.TrimPrefix(rec, "R-"), 10, 64)
	if perr != nil || receiptID(payment) != rec {
		return b, false, fail(http.StatusBadRequest, CodeBadRequest, "a receipt looks like R-7, not %q", rec)
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		var paid Money
		err := tx.QueryRowContext(ctx, `SELECT amount FROM payments WHERE n = ?`, payment).Scan(&paid)
		if errors.Is(err, sql.ErrNoRows) {
			return fail(http.StatusUnprocessableEntity, CodeNoReceipt, "there is no receipt %s", rec)
		}
		if err != nil {
			return err
		}
		if paid != amount {
			return fail(http.StatusUnprocessableEntity, CodeTooMuch, "receipt %s is over %v, not %v", rec, paid, amount)
		}
		done, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO bookings (key, payment, amount, at) VALUES (?, ?, ?, ?)`,
			key, payment, amount, s.now().UnixMilli())
		if err != nil {
			return err
		}
		fresh, err := done.RowsAffected()
		if err != nil {
			return err
		}
		var n, at int64
		err = tx.QueryRowContext(ctx, `SELECT n, at FROM bookings WHERE key = ? AND payment = ?`, key, payment).Scan(&n, &at)
		if errors.Is(err, sql.ErrNoRows) {
			return fail(http.StatusConflict, CodeKeyReused, "the key or receipt %s is in the books already", rec)
		}
		if err != nil {
			return err
		}
		repeated = fresh == 0
		b = Booking{"B-" + strconv.FormatInt(n, 10), rec, amount, time.UnixMilli(at).UTC()}
		return nil
	})
	return b, repeated, err
}
