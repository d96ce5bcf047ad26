package shop

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"time"
)

// A payment is what a key stands for.
type payment struct {
	n, order, at   int64
	customer       string
	wished, amount Money
}

// pay books a refund once for each key. Repeated says that the refund is the first one.
func (s *Shop) pay(ctx context.Context, customer string, order int64, key string, w Wish) (out Refund, repeated bool, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		clock, err := s.clock(ctx, tx)
		if err != nil {
			return err
		}
		p, err := readPolicy(ctx, tx)
		if err != nil {
			return err
		}
		first, err := paid(ctx, tx, key)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			first, err = book(ctx, tx, p, payment{order: order, customer: customer, wished: w.Amount}, key, w.Reason, clock.Now)
		case err == nil && (first.order != order || first.customer != customer || first.wished != w.Amount):
			err = fail(http.StatusConflict, CodeKeyReused, "this key paid %v for order %d before", first.amount, first.order)
		case err == nil:
			repeated = true
		}
		out = p.refund(first.n, first.order, first.amount, first.at, clock.Now)
		return err
	})
	return out, repeated, err
}

// paid finds what a key has paid.
func paid(ctx context.Context, tx *sql.Tx, key string) (p payment, err error) {
	err = tx.QueryRowContext(ctx, `SELECT n, order_n, customer, wished, amount, at FROM payments WHERE key = ?`, key).
		Scan(&p.n, &p.order, &p.customer, &p.wished, &p.amount, &p.at)
	return p, err
}

// book pays, unless the policy refuses it: the service trusts no caller to have asked before.
func book(ctx context.Context, tx *sql.Tx, p policy, wish payment, key, reason string, now time.Time) (payment, error) {
	o, err := findOrder(ctx, tx, wish.customer, wish.order, now)
	if err != nil {
		return wish, err
	}
	if c := p.check(o, wish.wished, now); !c.Allowed {
		return wish, fail(http.StatusUnprocessableEntity, c.Code, "%s", refusal(c, o))
	}
	if wish.amount = wish.wished; wish.amount == 0 {
		wish.amount = o.Refundable()
	}
	wish.at = now.UnixMilli()
	done, err := tx.ExecContext(ctx, `INSERT INTO payments (key, order_n, customer, wished, amount, reason, at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, key, wish.order, wish.customer, wish.wished, wish.amount, reason, wish.at)
	if err != nil {
		return wish, err
	}
	wish.n, err = done.LastInsertId()
	return wish, err
}
