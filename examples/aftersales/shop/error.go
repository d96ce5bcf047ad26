package shop

import (
	"errors"
	"fmt"
	"net/http"
)

// An Error is an answer of the service other than success. Its JSON form is the body of that answer.
type Error struct {
	Status  int    `json:"status"`
	Code    Code   `json:"code"`
	Message string `json:"message"` // for people, in English
}

// Error says what the service answered.
func (e *Error) Error() string { return fmt.Sprintf("shop: %d %s: %s", e.Status, e.Code, e.Message) }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool { return e.Status >= 500 || e.Status == http.StatusTooManyRequests }

// Refused reports whether err is a definite no: nothing was done, and the same request will never be accepted.
func Refused(err error) (*Error, bool) {
	e, ok := errors.AsType[*Error](err)
	return e, ok && e.Status >= 400 && e.Status < 500 && !e.Retryable()
}

// An UnreachableError is a request without an answer: refused, cut off, or timed out. Whether the service did the work is
// unknown.
type UnreachableError struct {
	Op      string // the endpoint, such as "refund"
	Timeout bool   // the answer did not come in time
	Err     error
}

// Error says which request got no answer and why.
func (e *UnreachableError) Error() string {
	if e.Timeout {
		return fmt.Sprintf("shop: %s: no answer in time", e.Op)
	}
	return fmt.Sprintf("shop: %s: connection lost: %v", e.Op, e.Err)
}

// Unwrap returns the error of the transport.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Retryable reports true: the requests that change something carry an idempotency key.
func (e *UnreachableError) Retryable() bool { return true }

func fail(status int, code Code, format string, args ...any) error {
	return &Error{status, code, fmt.Sprintf(format, args...)}
}
