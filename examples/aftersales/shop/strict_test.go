package shop_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
)

// Every mistake gets an answer in JSON that names it, whoever notices it: the handlers or the router.
func TestStrictInput(t *testing.T) {
	t.Parallel()
	s, err := shop.Open(filepath.Join(t.TempDir(), "shop.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const refund, body = "/customers/lin/orders/1002/refunds", `{"amount":1,"reason":""}`
	for _, tc := range []struct {
		name, method, path, key, kind, body string
		status                              int
		code                                shop.Code
	}{
		{"unknown path", "GET", "/nowhere", "", "", "", 404, shop.CodeNotFound},
		{"wrong method", "DELETE", "/customers/lin/orders/1002", "", "", "", 405, shop.CodeBadMethod},
		{"no key", "POST", refund, "", "application/json", body, 400, shop.CodeNoKey},
		{"long key", "POST", refund, strings.Repeat("k", 256), "application/json", body, 400, shop.CodeNoKey},
		{"key with a space", "POST", refund, "a b", "application/json", body, 400, shop.CodeNoKey},
		{"no content type", "POST", refund, "k", "", body, 415, shop.CodeMediaType},
		{"a form", "POST", refund, "k", "application/x-www-form-urlencoded", body, 415, shop.CodeMediaType},
		{"not JSON", "POST", refund, "k", "application/json", "amount=1", 400, shop.CodeBadRequest},
		{"empty", "POST", refund, "k", "application/json", "", 400, shop.CodeBadRequest},
		{"unknown field", "POST", refund, "k", "application/json", `{"amount":1,"amuont":2}`, 400, shop.CodeBadRequest},
		{"two values", "POST", refund, "k", "application/json", body + body, 400, shop.CodeBadRequest},
		{"half a fen", "POST", refund, "k", "application/json", `{"amount":1.5}`, 400, shop.CodeBadRequest},
		{"text amount", "POST", refund, "k", "application/json", `{"amount":"1"}`, 400, shop.CodeBadRequest},
		{"bad UTF-8", "POST", refund, "k", "application/json", "{\"customer\":\"l\xffn\",\"amount\":1}", 400, shop.CodeBadRequest},
		{"control character", "POST", refund, "k", "application/json", `{"amount":1,"reason":"\u0007"}`, 400, shop.CodeBadRequest},
		{"long reason", "POST", refund, "k", "application/json", `{"amount":1,"reason":"` + strings.Repeat("x", 2001) + `"}`, 400, shop.CodeBadRequest},
		{"huge body", "POST", refund, "k", "application/json", `{"reason":"` + strings.Repeat("x", 70_000) + `"}`, 413, shop.CodeTooLarge},
		{"fortune", "POST", refund, "k", "application/json", `{"amount":1000000001}`, 400, shop.CodeBadRequest},
		{"bad amount", "GET", "/customers/lin/orders/1002/check?customer=lin&amount=x", "", "", "", 400, shop.CodeBadRequest},
		{"negative order", "GET", "/customers/lin/orders/-1", "", "", "", 400, shop.CodeBadRequest},
		{"huge order", "GET", "/customers/lin/orders/99999999999999999999", "", "", "", 400, shop.CodeBadRequest},
		{"clock behind", "PUT", "/admin/clock", "", "application/json", `{"days":-1}`, 400, shop.CodeBadRequest},
		{"injection", "GET", "/ledger?order=1%20OR%201=1", "", "", "", 400, shop.CodeBadRequest},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body))
			if tc.key != "" {
				r.Header.Set("Idempotency-Key", tc.key)
			}
			if tc.kind != "" {
				r.Header.Set("Content-Type", tc.kind)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			var e shop.Error
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
				t.Fatalf("%d %q: %v", w.Code, w.Body, err)
			}
			if w.Code != tc.status || e.Status != tc.status || e.Code != tc.code || e.Message == "" {
				t.Errorf("got %d %+v; want %d %s", w.Code, e, tc.status, tc.code)
			}
			if got := w.Header().Get("Content-Type"); got != "application/json" {
				t.Errorf("the answer is %q", got)
			}
		})
	}
}

func TestReplayIsMarked(t *testing.T) {
	t.Parallel()
	s, err := shop.Open(filepath.Join(t.TempDir(), "shop.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, want := range []string{"", "true"} {
		r := httptest.NewRequest(http.MethodPost, "/customers/lin/orders/1002/refunds", strings.NewReader(`{"amount":1,"reason":"杯子碎了"}`))
		r.Header.Set("Idempotency-Key", "k")
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := w.Header().Get("Idempotent-Replayed"); w.Code != 200 || got != want {
			t.Errorf("got %d, replayed %q; want %q", w.Code, got, want)
		}
	}
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]shop.Money{"480": 480_00, "35.5": 35_50, "¥35.50": 35_50, "￥1": 1_00, "0.01": 1,
		"35元": 35_00, " 7 ": 7_00, "10000000": 1_000_000_000} {
		if got, err := shop.ParseMoney(in); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0", "-1", "1.", ".5", "1.234", "1,000", "1e3", "abc", "10000000.01", "99999999999999999999", "¥", "+5", "١"} {
		if got, err := shop.ParseMoney(in); err == nil {
			t.Errorf("%q is %v; want an error", in, got)
		}
	}
	for m, want := range map[shop.Money]string{480_00: "¥480.00", 1: "¥0.01", -5_05: "-¥5.05", 0: "¥0.00"} {
		if got := m.String(); got != want {
			t.Errorf("%d is %q; want %q", int64(m), got, want)
		}
	}
}
