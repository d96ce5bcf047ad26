package nodes

import (
	"errors"
	"fmt"
	"time"
)

// An ErrorKind says what went wrong with a request, as far as it matters for what to do next.
type ErrorKind string

// The kinds of errors. Those of the first group are worth another try.
const (
	KindRateLimited ErrorKind = "rate_limited" // 429: wait for RetryAfter
	KindUnavailable ErrorKind = "unavailable"  // 5xx, 408, or no connection
	KindCut         ErrorKind = "cut"          // the answer ended in the middle
	KindEmpty       ErrorKind = "empty"        // the answer has neither text nor calls

	KindContextLength ErrorKind = "context_length" // the request has more tokens than the model takes
	KindFiltered      ErrorKind = "filtered"       // the provider's filter refused the request or the answer
	KindDenied        ErrorKind = "denied"         // 401, 403, no quota left
	KindInvalid       ErrorKind = "invalid"        // the provider does not take the request, or answers what no provider may
)

// A ModelError says why a model did not answer. errors.As finds it in the error of a run.
type ModelError struct {
	Kind       ErrorKind
	Provider   string        // such as "openai"
	Model      string        // that was asked
	Status     int           // of HTTP; 0: there was none
	Code       string        // the provider's own
	Text       string        // the provider's own
	RetryAfter time.Duration // how long the provider asks to wait; 0: it did not say
	Limit      int           // tokens that the model takes, of KindContextLength; 0: it did not say
	Err        error         // what is behind it; may be nil
}

// Error names the kind, the status and what the provider said.
func (e *ModelError) Error() string {
	s := fmt.Sprintf("model %s of %s: %s", e.Model, e.Provider, e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Code != "" {
		s += " " + e.Code
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.RetryAfter > 0 {
		s += fmt.Sprintf("; try again after %v", e.RetryAfter)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns what is behind it.
func (e *ModelError) Unwrap() error { return e.Err }

// Retryable reports whether the same request may be answered when it is tried again.
func (e *ModelError) Retryable() bool {
	switch e.Kind {
	case KindRateLimited, KindUnavailable, KindCut, KindEmpty:
		return true
	}
	return false
}

// KindOf returns the kind of the *ModelError in err, or "" if there is none.
func KindOf(err error) ErrorKind {
	if m, ok := errors.AsType[*ModelError](err); ok {
		return m.Kind
	}
	return ""
}
