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

// WithTimeout returns a client of the same shop whose requests end after timeout.
func (c *Client) WithTimeout(timeout time.Duration) *Client { return NewClient(c.base, timeout) }

// Orders lists the orders of a customer, the latest first.
func (c *Client) Orders(ctx context.Context, customer string) ([]Order, error) {
	return get[[]Order](ctx, c, "orders", "/customers/"+url.PathEscape(customer)+"/orders")
}

// Latest returns the latest order of a customer.
func (c *Client) Latest(ctx context.Context, customer string) (Order, error) {
	return get[Order](ctx, c, "latest", "/customers/"+url.PathEscape(customer)+"/orders/latest")
}

// Order returns one order.
func (c *Client) Order(ctx context.Context, id string) (Order, error) {
	return get[Order](ctx, c, "order", "/orders/"+url.PathEscape(id))
}

// Check asks whether the customer may have amount back for the order; 0 means all that is left.
func (c *Client) Check(ctx context.Context, order, customer string, amount Money) (Check, error) {
	q := url.Values{"customer": {customer}, "amount": {strconv.FormatInt(int64(amount), 10)}}
	return get[Check](ctx, c, "check", "/orders/"+url.PathEscape(order)+"/check?"+q.Encode())
}

// Product returns what is known about an article.
func (c *Client) Product(ctx context.Context, sku string) (Product, error) {
	return get[Product](ctx, c, "product", "/products/"+url.PathEscape(sku))
}

// Refund moves money back, once for each key.
func (c *Client) Refund(ctx context.Context, order, key string, w Wish) (Receipt, error) {
	return post[Receipt](ctx, c, "refund", "/orders/"+url.PathEscape(order)+"/refunds", key, w)
}

// Notify tells the customer of an order something, once for each key.
func (c *Client) Notify(ctx context.Context, order, key, text string) (Notice, error) {
	body := struct {
		Text string `json:"text"`
	}{text}
	return post[Notice](ctx, c, "notify", "/orders/"+url.PathEscape(order)+"/notices", key, body)
}

// Book enters a receipt in the books, once for each key.
func (c *Client) Book(ctx context.Context, key, receipt string, amount Money) (Booking, error) {
	body := struct {
		Receipt string `json:"receipt"`
		Amount  Money  `json:"amount"`
	}{receipt, amount}
	return post[Booking](ctx, c, "book", "/bookings", key, body)
}

// Buy places a new order for the customer, as if it had been delivered yesterday.
func (c *Client) Buy(ctx context.Context, customer string) (Order, error) {
	return post[Order](ctx, c, "buy", "/customers/"+url.PathEscape(customer)+"/orders", "", struct{}{})
}

// Ledger lists the payments for an order, the first one first; for every order if order is empty.
func (c *Client) Ledger(ctx context.Context, order string) ([]Line, error) {
	return get[[]Line](ctx, c, "ledger", "/ledger"+filter(order))
}

// Notices lists what the customer of an order was told; for every order if order is empty.
func (c *Client) Notices(ctx context.Context, order string) ([]Notice, error) {
	return get[[]Notice](ctx, c, "notices", "/notices"+filter(order))
}

func filter(order string) string {
	if order == "" {
		return ""
	}
	return "?order=" + url.QueryEscape(order)
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
