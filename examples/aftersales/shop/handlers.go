package shop

import (
	"database/sql"
	"errors"
	"net/http"
	"net/url"
	"strconv"
)

func (s *Shop) getOrders(r *http.Request) (any, error) {
	ctx := r.Context()
	if _, err := findCustomer(ctx, s.db, r.PathValue("customer")); err != nil {
		return nil, err
	}
	ns, err := orderNumbers(ctx, s.db, r.PathValue("customer"))
	if err != nil {
		return nil, err
	}
	out := []Order{}
	for _, n := range ns {
		o, err := findOrder(ctx, s.db, n)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func (s *Shop) getLatest(r *http.Request) (any, error) {
	ctx, customer := r.Context(), r.PathValue("customer")
	if _, err := findCustomer(ctx, s.db, customer); err != nil {
		return nil, err
	}
	ns, err := orderNumbers(ctx, s.db, customer)
	if err != nil {
		return nil, err
	}
	if len(ns) == 0 {
		return nil, fail(http.StatusNotFound, CodeNotFound, "%s has no orders", customer)
	}
	return findOrder(ctx, s.db, ns[0])
}

// postOrder buys a lamp again, delivered a day ago, so that a demonstration can go on for ever.
func (s *Shop) postOrder(r *http.Request) (any, error) {
	ctx, customer := r.Context(), r.PathValue("customer")
	var o Order
	err := s.write(ctx, func(tx *sql.Tx) error {
		if _, err := findCustomer(ctx, tx, customer); err != nil {
			return err
		}
		var n int64
		if err := tx.QueryRowContext(ctx, `SELECT max(n) + 1 FROM orders`).Scan(&n); err != nil {
			return err
		}
		err := insertOrder(ctx, tx, n, customer, s.now().AddDate(0, 0, -1), orders[len(orders)-1].items)
		if err != nil {
			return err
		}
		o, err = findOrder(ctx, tx, n)
		return err
	})
	return o, err
}

func (s *Shop) getOrder(r *http.Request) (any, error) {
	n, err := orderNumber(r.PathValue("order"))
	if err != nil {
		return nil, err
	}
	return findOrder(r.Context(), s.db, n)
}

func (s *Shop) getCheck(r *http.Request) (any, error) {
	n, err := orderNumber(r.PathValue("order"))
	if err != nil {
		return nil, err
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || !q.Has("customer") {
		return nil, fail(http.StatusBadRequest, CodeBadRequest, "the query needs a customer")
	}
	var amount int64
	if q.Has("amount") {
		if amount, err = strconv.ParseInt(q.Get("amount"), 10, 64); err != nil || amount < 0 || Money(amount) > MaxMoney {
			return nil, fail(http.StatusBadRequest, CodeBadRequest, "the amount is a number of fen from 0 to %d", MaxMoney)
		}
	}
	o, err := findOrder(r.Context(), s.db, n)
	if err != nil {
		return nil, err
	}
	return check(r.Context(), s.db, o, q.Get("customer"), Money(amount), s.now())
}

func (s *Shop) getProduct(r *http.Request) (any, error) {
	p := Product{SKU: r.PathValue("sku")}
	err := s.db.QueryRowContext(r.Context(), `SELECT returns_per_cent FROM products WHERE sku = ?`, p.SKU).Scan(&p.Returns)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fail(http.StatusNotFound, CodeNotFound, "there is no product %q", p.SKU)
	}
	return p, err
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
	if w.Amount <= 0 || w.Amount > MaxMoney {
		return nil, fail(http.StatusBadRequest, CodeBadRequest, "the amount is a number of fen from 1 to %d", MaxMoney)
	}
	if err := text("reason", w.Reason); err != nil {
		return nil, err
	}
	rec, again, err := s.pay(r.Context(), n, key, w)
	return first(rec, again), err
}

func (s *Shop) postNotice(r *http.Request) (any, error) {
	key, err := idempotencyKey(r)
	if err != nil {
		return nil, err
	}
	n, err := orderNumber(r.PathValue("order"))
	if err != nil {
		return nil, err
	}
	v, err := decode[struct {
		Text string `json:"text"`
	}](r)
	if err != nil {
		return nil, err
	}
	if v.Text == "" {
		return nil, fail(http.StatusBadRequest, CodeBadRequest, "the text is empty")
	}
	if err := text("text", v.Text); err != nil {
		return nil, err
	}
	notice, again, err := s.tell(r.Context(), n, key, v.Text)
	return first(notice, again), err
}

func (s *Shop) postBooking(r *http.Request) (any, error) {
	key, err := idempotencyKey(r)
	if err != nil {
		return nil, err
	}
	v, err := decode[struct {
		Receipt string `json:"receipt"`
		Amount  Money  `json:"amount"`
	}](r)
	if err != nil {
		return nil, err
	}
	b, again, err := s.book(r.Context(), key, v.Receipt, v.Amount)
	return first(b, again), err
}

func first(body any, again bool) any {
	if again {
		return replayed{body}
	}
	return body
}

func (s *Shop) getLedger(r *http.Request) (any, error) {
	n, err := orderFilter(r)
	if err != nil {
		return nil, err
	}
	return listLines(r.Context(), s.db, n)
}

func (s *Shop) getNotices(r *http.Request) (any, error) {
	n, err := orderFilter(r)
	if err != nil {
		return nil, err
	}
	return listNotices(r.Context(), s.db, n)
}

// orderFilter reads the query ?order=1005; 0 means all.
func orderFilter(r *http.Request) (int64, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return 0, fail(http.StatusBadRequest, CodeBadRequest, "the query cannot be read")
	}
	if !q.Has("order") {
		return 0, nil
	}
	return orderNumber(q.Get("order"))
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
