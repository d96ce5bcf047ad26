package shop

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

func (s *Shop) getOrders(r *http.Request) (any, error) {
	ctx := r.Context()
	ns, now, err := s.orders(ctx, r.PathValue("customer"))
	if err != nil {
		return nil, err
	}
	out := []Order{}
	for _, n := range ns {
		o, err := findOrder(ctx, s.db, r.PathValue("customer"), n, now)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func (s *Shop) getLatest(r *http.Request) (any, error) {
	ctx, customer := r.Context(), r.PathValue("customer")
	ns, now, err := s.orders(ctx, customer)
	if err != nil {
		return nil, err
	}
	if len(ns) == 0 {
		return nil, fail(http.StatusNotFound, CodeNotFound, "%s has no orders", customer)
	}
	return findOrder(ctx, s.db, customer, ns[0], now)
}

// orders lists the numbers of a known customer's orders, the latest first.
func (s *Shop) orders(ctx context.Context, customer string) ([]int64, time.Time, error) {
	clock, err := s.clock(ctx, s.db)
	if err != nil {
		return nil, clock.Now, err
	}
	if _, err := findCustomer(ctx, s.db, customer); err != nil {
		return nil, clock.Now, err
	}
	ns, err := orderNumbers(ctx, s.db, customer)
	return ns, clock.Now, err
}

// postOrder buys a lamp again, delivered a day ago, so that a demonstration can go on for ever.
func (s *Shop) postOrder(r *http.Request) (any, error) {
	ctx, customer := r.Context(), r.PathValue("customer")
	var o Order
	err := s.write(ctx, func(tx *sql.Tx) error {
		clock, err := s.clock(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := findCustomer(ctx, tx, customer); err != nil {
			return err
		}
		var n int64
		if err := tx.QueryRowContext(ctx, `SELECT max(n) + 1 FROM orders`).Scan(&n); err != nil {
			return err
		}
		if err := insertOrder(ctx, tx, n, customer, clock.Now.AddDate(0, 0, -1), orders[len(orders)-1].items); err != nil {
			return err
		}
		o, err = findOrder(ctx, tx, customer, n, clock.Now)
		return err
	})
	return o, err
}

func (s *Shop) getOrder(r *http.Request) (any, error) {
	o, _, err := s.order(r)
	return o, err
}

// order is the one that a request names, and the time.
func (s *Shop) order(r *http.Request) (Order, time.Time, error) {
	n, err := orderNumber(r.PathValue("order"))
	if err != nil {
		return Order{}, time.Time{}, err
	}
	clock, err := s.clock(r.Context(), s.db)
	if err != nil {
		return Order{}, time.Time{}, err
	}
	o, err := findOrder(r.Context(), s.db, r.PathValue("customer"), n, clock.Now)
	return o, clock.Now, err
}

func (s *Shop) getCheck(r *http.Request) (any, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fail(http.StatusBadRequest, CodeBadRequest, "the query cannot be read")
	}
	var amount int64
	if q.Has("amount") {
		if amount, err = strconv.ParseInt(q.Get("amount"), 10, 64); err != nil || amount < 0 || Money(amount) > MaxMoney {
			return nil, fail(http.StatusBadRequest, CodeBadRequest, "the amount is a number of fen from 0 to %d", MaxMoney)
		}
	}
	o, now, err := s.order(r)
	if err != nil {
		return nil, err
	}
	p, err := readPolicy(r.Context(), s.db)
	return p.check(o, Money(amount), now), err
}

func (s *Shop) postRefund(r *http.Request) (any, error) {
	key, err := idempotencyKey(r)
	if err != nil {
		return nil, err
	}
	n, err := orderNumber(r.PathValue("order"))
	if err != nil {
		return nil, err
	}
	w, err := decode[Wish](r)
	if err != nil {
		return nil, err
	}
	if w.Amount < 0 || w.Amount > MaxMoney {
		return nil, fail(http.StatusBadRequest, CodeBadRequest, "the amount is a number of fen from 0, which is all, to %d", MaxMoney)
	}
	if err := text("reason", w.Reason); err != nil {
		return nil, err
	}
	out, again, err := s.pay(r.Context(), r.PathValue("customer"), n, key, w)
	if again {
		return replayed{out}, err
	}
	return out, err
}

// refusal says why a refund is not made.
func refusal(c Check, o Order) string {
	switch c.Code {
	case CodeNotDelivered:
		return fmt.Sprintf("order %s is still on its way", o.ID)
	case CodeRefunded:
		return fmt.Sprintf("all of order %s was refunded before", o.ID)
	case CodeTooOld:
		return fmt.Sprintf("order %s was delivered %d days ago, and refunds are made for %d days", o.ID, c.AgeDays, c.LimitDays)
	}
	return fmt.Sprintf("no more than %v of order %s is left", c.Refundable, o.ID)
}

func (s *Shop) getRefunds(r *http.Request) (any, error) { return s.refunds(r, 0) }

func (s *Shop) getRefund(r *http.Request) (any, error) {
	n, err := refundNumber(r.PathValue("refund"))
	if err != nil {
		return nil, err
	}
	found, err := s.refunds(r, n)
	if err == nil && len(found) == 0 {
		err = fail(http.StatusNotFound, CodeNotFound, "%s has no refund R-%d", r.PathValue("customer"), n)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

func (s *Shop) refunds(r *http.Request, n int64) ([]Refund, error) {
	clock, err := s.clock(r.Context(), s.db)
	if err != nil {
		return nil, err
	}
	return listRefunds(r.Context(), s.db, r.PathValue("customer"), n, clock.Now)
}

func (s *Shop) getLedger(r *http.Request) (any, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fail(http.StatusBadRequest, CodeBadRequest, "the query cannot be read")
	}
	n := int64(0) // all orders
	if q.Has("order") {
		if n, err = orderNumber(q.Get("order")); err != nil {
			return nil, err
		}
	}
	return listLines(r.Context(), s.db, n)
}

func (s *Shop) getClock(r *http.Request) (any, error) { return s.clock(r.Context(), s.db) }

// putClock says how far the service's clock is ahead. It never goes back.
func (s *Shop) putClock(r *http.Request) (any, error) {
	w, err := decode[struct {
		Days int `json:"days"`
	}](r)
	if err != nil {
		return nil, err
	}
	if w.Days < 0 || w.Days > 3650 {
		return nil, fail(http.StatusBadRequest, CodeBadRequest, "the clock goes from 0 to 3650 days ahead")
	}
	var t Time
	err = s.write(r.Context(), func(tx *sql.Tx) (err error) {
		if _, err = tx.ExecContext(r.Context(), `UPDATE policy SET days_ahead = max(days_ahead, ?)`, w.Days); err == nil {
			t, err = s.clock(r.Context(), tx)
		}
		return err
	})
	return t, err
}

func (s *Shop) postFault(r *http.Request) (any, error) {
	f, err := decode[Fault](r)
	if err != nil {
		return nil, err
	}
	if err := f.valid(); err != nil {
		return nil, fail(http.StatusBadRequest, CodeBadRequest, "%v", err)
	}
	s.faults.add(f)
	return f, nil
}

func (s *Shop) deleteFaults(*http.Request) (any, error) {
	s.faults.clear()
	return struct{}{}, nil
}

// getHeld answers when an answer of the endpoint is held. The client says how long it waits, by leaving.
func (s *Shop) getHeld(r *http.Request) (any, error) {
	if err := s.faults.wait(r.Context(), r.PathValue("endpoint")); err != nil {
		return nil, fail(http.StatusServiceUnavailable, CodeUnavailable, "nothing was held")
	}
	return struct{}{}, nil
}
