package openai

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
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/holdfast-go/holdfast/nodes"
)

const maxText = 1000 // bytes of what a provider says that an error repeats

// refuse turns a status of failure into a *nodes.ModelError. The client's own errors lose the status if the body is no error
// object, such as the page of a proxy.
func (at endpoint) refuse(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	resp, err := next(req)
	if err != nil || resp.StatusCode < 400 {
		return resp, err
	}
	defer resp.Body.Close()
	doc, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what cannot be read adds nothing to the status
	return nil, at.refusal(resp.StatusCode, resp.Header, doc)
}

// noStream is about an answer that is one JSON document: an error, or of an endpoint that does not stream.
func (at endpoint) noStream(doc []byte) error {
	if f := readFault(doc); f.found {
		return at.refusal(0, nil, doc)
	}
	return &nodes.ModelError{Kind: nodes.KindInvalid, Text: "the endpoint does not stream: it answered with one JSON document"}
}

// refusal is the error of what a provider said, with the status, or 0 in the middle of a stream.
func (at endpoint) refusal(status int, header http.Header, doc []byte) error {
	f := readFault([]byte(at.redact(string(doc)))) // before it is cut: half a key is too much
	if n, err := strconv.Atoi(f.code); status == 0 && err == nil && n >= 400 && n < 600 {
		status = n // a gateway's, for what it passes on
	}
	e := &nodes.ModelError{Status: status, Code: f.code, Text: f.text, RetryAfter: retryAfter(header)}
	if e.Code == "" {
		e.Code = f.kind
	}
	e.Kind, e.Limit = f.classify(status)
	return e
}

// failure completes an error for the caller. Nothing in it repeats the key.
func (at endpoint) failure(ctx context.Context, err error, started bool) error {
	e, ok := errors.AsType[*nodes.ModelError](err)
	if !ok && ctx.Err() != nil {
		return ctx.Err()
	}
	if !ok {
		e = &nodes.ModelError{Kind: nodes.KindUnavailable, Err: err}
		if u, ok := errors.AsType[*url.Error](err); ok {
			e.Err = u.Err // without the address, which may have a secret in it
		}
		if said := at.redact(e.Err.Error()); said != e.Err.Error() { // a redirect's address
			e.Err = errors.New(said)
		}
		if started {
			e.Kind = nodes.KindCut
		}
	}
	e.Provider, e.Model = at.provider(), at.model
	e.Text, e.Code = at.redact(e.Text), at.redact(e.Code)
	return e
}

// retryAfter reads how long to wait, as milliseconds, seconds or a date; 0 if it does not say.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms * float64(time.Millisecond))
	}
	said := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(said, 64); err == nil {
		return wait(s * float64(time.Second))
	}
	if t, err := http.ParseTime(said); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// wait is a time in nanoseconds, within what anyone would wait.
func wait(ns float64) time.Duration {
	const most = float64(365 * 24 * time.Hour)
	if !(ns > 0) {
		return 0
	}
	return time.Duration(min(ns, most))
}

// A fault is what an error's body says.
type fault struct {
	found            bool
	text, kind, code string
}

// readFault reads the forms in which endpoints say what went wrong: {"error": {"message"}}, {"error": "text"}, {"message"},
// {"detail"}, each of them in an array too, or a text.
func readFault(doc []byte) fault {
	doc = bytes.TrimSpace(doc)
	var list []json.RawMessage
	if json.Unmarshal(doc, &list) == nil && len(list) > 0 {
		doc = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(doc, &outer) != nil {
		return fault{text: plain(doc)}
	}
	if len(outer.Error) > 0 && string(outer.Error) != "null" {
		f := readFields(outer.Error)
		f.found = true
		return f
	}
	return readFields(doc)
}

func readFields(doc json.RawMessage) fault {
	var text string
	if json.Unmarshal(doc, &text) == nil {
		return fault{text: shorten(text)}
	}
	var o struct{ Message, Detail, Type, Code json.RawMessage }
	if json.Unmarshal(doc, &o) != nil {
		return fault{text: plain(doc)}
	}
	f := fault{text: word(o.Message), kind: word(o.Type), code: word(o.Code)}
	if f.text == "" {
		f.text = word(o.Detail)
	}
	f.found = f.text != "" && f.code != ""
	return f
}

// word is a string without its quotes, or any other value but null as it is.
func word(doc json.RawMessage) string {
	var s string
	if json.Unmarshal(doc, &s) == nil {
		return shorten(s)
	}
	return shorten(string(doc))
}

// plain is a text that is no JSON. A page tells nothing.
func plain(doc []byte) string {
	if bytes.HasPrefix(doc, []byte("<")) {
		return fmt.Sprintf("(a page of %d bytes)", len(doc))
	}
	return shorten(string(doc))
}

func shorten(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "..."
	}
	return strings.ToValidUTF8(text, "")
}
