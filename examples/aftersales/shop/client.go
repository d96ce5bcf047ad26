package shop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A Client makes requests to a shop. It is safe for concurrent use. It never repeats a request by itself: whoever calls
// it decides, by the Retryable method of the error.
type Client struct {
	base  string
	http  *http.Client
	admin *http.Client
}

// NewClient returns a client of the shop at base, a URL such as Start returns. A request ends after timeout at the
// latest.
func NewClient(base string, timeout time.Duration) *Client {
	// Without connections that are kept, the transport has no reason to repeat a request behind the caller's back, which
	// it does for a request with an Idempotency-Key whose kept connection turns out to be gone.
	t := &http.Transport{DisableKeepAlives: true}
	return &Client{base: base, http: &http.Client{Transport: t, Timeout: timeout}, admin: &http.Client{Transport: t}}
}

// Through returns a client of the same shop whose requests go through what around makes of its transport.
func (c *Client) Through(around func(http.RoundTripper) http.RoundTripper) *Client {
	h := &http.Client{Transport: around(c.http.Transport), Timeout: c.http.Timeout}
	return &Client{base: c.base, http: h, admin: c.admin}
}

// WithTimeout returns a client of the same shop whose requests end after timeout.
func (c *Client) WithTimeout(timeout time.Duration) *Client { return NewClient(c.base, timeout) }

// Orders lists the orders of a customer, the latest first.
func (c *Client) Orders(ctx context.Context, customer string) ([]Order, error) {
	return get[[]Order](ctx, c, "orders", "/customers/"+url.PathEscape(customer)+"/orders")
}

// Latest returns the latest order of a customer.
func (c *Client) Latest(ctx context.Context, customer string) (Order, error) {
	return get[Order](ctx, c, "latest", "/customers/"+url.PathEscape(customer)+"/latest")
}

// Order returns one order of a customer. That of somebody else is not found.
func (c *Client) Order(ctx context.Context, customer, id string) (Order, error) {
	return get[Order](ctx, c, "order", orderPath(customer, id))
}

// Check asks whether the customer may have amount back for the order; 0 means all that is left.
func (c *Client) Check(ctx context.Context, customer, order string, amount Money) (Check, error) {
	q := url.Values{"amount": {strconv.FormatInt(int64(amount), 10)}}
	return get[Check](ctx, c, "check", orderPath(customer, order)+"/check?"+q.Encode())
}

// Refund moves money back, once for each key.
func (c *Client) Refund(ctx context.Context, customer, order, key string, w Wish) (Refund, error) {
	return post[Refund](ctx, c, "refund", orderPath(customer, order)+"/refunds", key, w)
}

// Refunds lists those of a customer, the latest first.
func (c *Client) Refunds(ctx context.Context, customer string) ([]Refund, error) {
	return get[[]Refund](ctx, c, "refunds", "/customers/"+url.PathEscape(customer)+"/refunds")
}

// RefundStatus returns one refund of a customer. That of somebody else is not found.
func (c *Client) RefundStatus(ctx context.Context, customer, id string) (Refund, error) {
	return get[Refund](ctx, c, "status", "/customers/"+url.PathEscape(customer)+"/refunds/"+url.PathEscape(id))
}

func orderPath(customer, order string) string {
	return "/customers/" + url.PathEscape(customer) + "/orders/" + url.PathEscape(order)
}

// Buy places a new order for the customer, as if it had been delivered yesterday.
func (c *Client) Buy(ctx context.Context, customer string) (Order, error) {
	return post[Order](ctx, c, "buy", "/customers/"+url.PathEscape(customer)+"/orders", "", struct{}{})
}

// Ledger lists the payments for an order, the first one first; for every order if order is empty.
func (c *Client) Ledger(ctx context.Context, order string) ([]Line, error) {
	path := "/ledger"
	if order != "" {
		path += "?order=" + url.QueryEscape(order)
	}
	return get[[]Line](ctx, c, "ledger", path)
}

// Time reads the service's clock.
func (c *Client) Time(ctx context.Context) (Time, error) {
	return get[Time](ctx, c, "clock", "/admin/clock")
}

// Ahead sets the service's clock days ahead of the machine's, for a demonstration in which days pass. It never goes back.
func (c *Client) Ahead(ctx context.Context, days int) (Time, error) {
	body := struct {
		Days int `json:"days"`
	}{days}
	return send[Time](ctx, c, c.http, "clock", http.MethodPut, "/admin/clock", "", body)
}

// Break sets faults.
func (c *Client) Break(ctx context.Context, fs ...Fault) error {
	for _, f := range fs {
		if _, err := send[Fault](ctx, c, c.http, "faults", http.MethodPost, "/admin/faults", "", f); err != nil {
			return err
		}
	}
	return nil
}

// Mend clears all faults and lets go the answers that are held.
func (c *Client) Mend(ctx context.Context) error {
	_, err := send[struct{}](ctx, c, c.http, "faults", http.MethodDelete, "/admin/faults", "", nil)
	return err
}

// AwaitHeld returns when the service has done the work of a request to the endpoint and holds the answer back. It waits
// until ctx ends.
func (c *Client) AwaitHeld(ctx context.Context, endpoint string) error {
	_, err := send[struct{}](ctx, c, c.admin, "held", http.MethodGet, "/admin/held/"+url.PathEscape(endpoint), "", nil)
	return err
}

func get[T any](ctx context.Context, c *Client, op, path string) (T, error) {
	return send[T](ctx, c, c.http, op, http.MethodGet, path, "", nil)
}

func post[T any](ctx context.Context, c *Client, op, path, key string, body any) (T, error) {
	return send[T](ctx, c, c.http, op, http.MethodPost, path, key, body)
}

func send[T any](ctx context.Context, c *Client, h *http.Client, op, method, path, key string, body any) (T, error) {
	var out T
	req, err := request(ctx, method, c.base+path, key, body)
	if err != nil {
		return out, fmt.Errorf("shop: %s: %w", op, err)
	}
	res, err := h.Do(req)
	if err != nil {
		return out, unreachable(ctx, op, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 8<<20))
	if err != nil {
		return out, unreachable(ctx, op, err)
	}
	if res.StatusCode != http.StatusOK {
		e := &Error{}
		if json.Unmarshal(b, e) != nil || e.Code == "" {
			e = &Error{Code: CodeUnavailable, Message: "an answer that is not the shop's"}
		}
		e.Status = res.StatusCode
		return out, e
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return out, fmt.Errorf("shop: %s: answer: %w", op, err)
	}
	return out, nil
}

func request(ctx context.Context, method, url, key string, body any) (*http.Request, error) {
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, r)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return req, nil
}

// unreachable keeps apart a caller who left, whose error stays what it is, and a shop that did not answer.
func unreachable(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("shop: %s: %w", op, err)
	}
	var timeout interface{ Timeout() bool }
	slow := errors.As(err, &timeout) && timeout.Timeout()
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the address, which the endpoint's name stands for
	}
	return &UnreachableError{Op: op, Timeout: slow, Err: err}
}
