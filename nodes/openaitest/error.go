package openaitest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// An Error is what a provider says instead of an answer.
type Error struct {
	Status       int    // of HTTP; in the middle of a stream it is not sent
	Type         string // such as "server_error"
	Code         string // such as "context_length_exceeded"; "" is sent as null
	Text         string
	RetryAfter   string // header Retry-After: seconds, or a date
	RetryAfterMS string // header retry-after-ms: milliseconds
	Body         string // sent as it is instead of an error object, such as a proxy's page
}

// RateLimited is status 429. retryAfter is seconds or a date; "" says nothing of when to try again.
func RateLimited(retryAfter string) *Error {
	return &Error{Status: 429, Type: "requests", Code: "rate_limit_exceeded", Text: "Rate limit reached.", RetryAfter: retryAfter}
}

// NoQuota is the status 429 of an account that has no money left.
func NoQuota() *Error {
	return &Error{Status: 429, Type: "insufficient_quota", Code: "insufficient_quota", Text: "You exceeded your current quota."}
}

// Unavailable is a status such as 500 or 503.
func Unavailable(status int) *Error {
	return &Error{Status: status, Type: "server_error", Text: "The server had an error."}
}

// Denied is status 401.
func Denied() *Error {
	return &Error{Status: 401, Type: "invalid_request_error", Code: "invalid_api_key", Text: "Incorrect API key provided."}
}

// TooLong is the status 400 of a request that has more tokens than the model takes.
func TooLong(limit, tokens int) *Error {
	text := fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.", limit, tokens)
	return &Error{Status: 400, Type: "invalid_request_error", Code: "context_length_exceeded", Text: text}
}

// Filtered is the status 400 of a request that the provider's filter refuses.
func Filtered() *Error {
	return &Error{Status: 400, Type: "invalid_request_error", Code: "content_filter", Text: "The prompt was filtered."}
}

func (e *Error) json() []byte {
	if e.Body != "" {
		return []byte(e.Body)
	}
	type object struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	o := object{Message: e.Text, Type: e.Type}
	if e.Code != "" {
		o.Code = &e.Code
	}
	doc, err := json.Marshal(map[string]object{"error": o})
	if err != nil {
		panic(err) // strings always marshal
	}
	return doc
}

func (e *Error) write(w http.ResponseWriter) {
	kind := "application/json"
	if e.Body != "" && e.Body[0] == '<' {
		kind = "text/html"
	}
	w.Header().Set("Content-Type", kind)
	if e.RetryAfter != "" {
		w.Header().Set("Retry-After", e.RetryAfter)
	}
	if e.RetryAfterMS != "" {
		w.Header().Set("Retry-After-Ms", e.RetryAfterMS)
	}
	w.WriteHeader(e.Status)
	w.Write(e.json())
}
