package shop

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// maxBody is the largest request body in bytes, maxText the longest reason.
const (
	maxBody = 64 << 10
	maxText = 2000
)

// A handler returns what is to be sent as JSON.
type handler func(r *http.Request) (any, error)

// replayed marks an answer that is the first one again.
type replayed struct{ body any }

func (s *Shop) routes() *http.ServeMux {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	add := func(method, path, endpoint string, h handler) {
		f := serve(h)
		if endpoint != "" {
			f = s.troubled(endpoint, f)
		}
		mux.HandleFunc(method+" "+path, f)
		methods[path] = append(methods[path], method)
	}
	const customer, order = "/customers/{customer}", "/customers/{customer}/orders/{order}"
	add("GET", customer+"/orders", "orders", s.getOrders)
	add("POST", customer+"/orders", "buy", s.postOrder)
	add("GET", customer+"/latest", "latest", s.getLatest)
	add("GET", order, "order", s.getOrder)
	add("GET", order+"/check", "check", s.getCheck)
	add("POST", order+"/refunds", "refund", s.postRefund)
	add("GET", customer+"/refunds", "refunds", s.getRefunds)
	add("GET", customer+"/refunds/{refund}", "status", s.getRefund)
	add("GET", "/ledger", "", s.getLedger)
	add("GET", "/admin/clock", "", s.getClock)
	add("PUT", "/admin/clock", "", s.putClock)
	add("POST", "/admin/faults", "", s.postFault)
	add("DELETE", "/admin/faults", "", s.deleteFaults)
	add("GET", "/admin/held/{endpoint}", "", s.getHeld)
	for path, allowed := range methods {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			writeError(w, fail(http.StatusMethodNotAllowed, CodeBadMethod, "%s takes %s", r.URL.Path, strings.Join(allowed, ", ")))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, fail(http.StatusNotFound, CodeNotFound, "there is no path %q", r.URL.Path))
	})
	return mux
}

func serve(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		body, err := h(r)
		if err != nil {
			writeError(w, err)
			return
		}
		if again, ok := body.(replayed); ok {
			w.Header().Set("Idempotent-Replayed", "true")
			body = again.body
		}
		writeJSON(w, http.StatusOK, body)
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"status":500,"code":"unavailable","message":"the answer cannot be encoded"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(b, '\n')) // a client that has gone does not matter
}

func writeError(w http.ResponseWriter, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok { // the file; what it says is for the log of the service, not for a client
		e = &Error{http.StatusServiceUnavailable, CodeUnavailable, "the shop cannot reach its records"}
	}
	writeJSON(w, e.Status, e)
}

// decode reads a body strictly: one JSON object, known fields only, valid UTF-8, nothing behind it.
func decode[T any](r *http.Request) (T, error) {
	var v T
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return v, fail(http.StatusUnsupportedMediaType, CodeMediaType, "the body must be application/json")
	}
	b, err := io.ReadAll(r.Body)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return v, fail(http.StatusRequestEntityTooLarge, CodeTooLarge, "the body has more than %d bytes", maxBody)
	}
	if err != nil {
		return v, fail(http.StatusBadRequest, CodeBadRequest, "the body is cut off")
	}
	if !utf8.Valid(b) {
		return v, fail(http.StatusBadRequest, CodeBadRequest, "the body is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, fail(http.StatusBadRequest, CodeBadRequest, "the body is not as it must be: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return v, fail(http.StatusBadRequest, CodeBadRequest, "there is something behind the JSON value")
	}
	return v, nil
}

// idempotencyKey reads the header, which holds 1 to 255 visible ASCII characters.
func idempotencyKey(r *http.Request) (string, error) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) != 1 || keys[0] == "" || len(keys[0]) > 255 {
		return "", fail(http.StatusBadRequest, CodeNoKey, "the request needs one Idempotency-Key of 1 to 255 characters")
	}
	for _, c := range []byte(keys[0]) {
		if c <= ' ' || c > '~' {
			return "", fail(http.StatusBadRequest, CodeNoKey, "the Idempotency-Key must be visible ASCII")
		}
	}
	return keys[0], nil
}

// text refuses what is too long or has control characters.
func text(noun, s string) error {
	switch {
	case len(s) > maxText:
		return fail(http.StatusBadRequest, CodeBadRequest, "the %s has more than %d bytes", noun, maxText)
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }):
		return fail(http.StatusBadRequest, CodeBadRequest, "the %s has control characters", noun)
	}
	return nil
}
