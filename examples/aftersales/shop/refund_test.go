package shop_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
)

func TestSameKeyPaysOnce(t *testing.T) {
	t.Parallel()
	c := start(t)
	want, err := c.Refund(t.Context(), "lin", "1005", "k1", shop.Wish{Amount: 480_00, Reason: "too bright"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Refund(t.Context(), "lin", "1005", "k1", shop.Wish{Amount: 480_00, Reason: "too bright"})
	if err != nil || got != want {
		t.Errorf("the second answer is %v, %v; want the first refund %v", got, err, want)
	}
	wantLedger(t, c, "1005", 480_00)
}

func TestSameKeyForSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	c := start(t)
	if _, err := c.Refund(t.Context(), "lin", "1005", "k1", shop.Wish{Amount: 80_00}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Refund(t.Context(), "lin", "1005", "k1", shop.Wish{Amount: 81_00})
	wantRefusal(t, err, 409, shop.CodeKeyReused)
	_, err = c.Refund(t.Context(), "lin", "1002", "k1", shop.Wish{Amount: 80_00})
	wantRefusal(t, err, 409, shop.CodeKeyReused)
	wantLedger(t, c, "1005", 80_00)
	wantLedger(t, c, "1002")
}

func TestSameKeyAtTheSameTime(t *testing.T) {
	t.Parallel()
	c := start(t)
	refunds := make([]shop.Refund, 12)
	var wg sync.WaitGroup
	for i := range refunds {
		wg.Go(func() {
			var err error
			refunds[i], err = c.Refund(t.Context(), "lin", "1005", "k1", shop.Wish{Amount: 100_00})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(slices.Compact(refunds)); n != 1 {
		t.Errorf("%d different refunds for one key", n)
	}
	wantLedger(t, c, "1005", 100_00)
}

func TestRefundObeysThePolicy(t *testing.T) {
	t.Parallel()
	c := start(t)
	for _, tc := range []struct {
		name, order, customer string
		amount                shop.Money
		status                int
		code                  shop.Code
	}{
		{"still on its way", "1000", "lin", 1, 422, shop.CodeNotDelivered},
		{"too old", "1001", "lin", 1, 422, shop.CodeTooOld},
		{"refunded already", "1003", "lin", 1, 422, shop.CodeRefunded},
		{"refunded already, of all", "1003", "lin", 0, 422, shop.CodeRefunded},
		{"of somebody else", "1004", "lin", 1, 404, shop.CodeNotFound},
		{"more than was paid", "1002", "lin", 68_01, 422, shop.CodeTooMuch},
		{"no such order", "9999", "lin", 1, 404, shop.CodeNotFound},
		{"not a number", "10o5", "lin", 1, 400, shop.CodeBadRequest},
		{"less than nothing", "1002", "lin", -1, 400, shop.CodeBadRequest},
		{"no such customer", "1002", "nobody", 1, 404, shop.CodeNotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := c.Refund(t.Context(), tc.customer, tc.order, "k", shop.Wish{Amount: tc.amount})
			wantRefusal(t, err, tc.status, tc.code)
		})
	}
	wantLedger(t, c, "1003", 70_00) // what the seed paid, and nothing more
	wantLedger(t, c, "", 70_00)
}

// A wish for all that is left is the same wish when it is repeated, although less is left then.
func TestAllThatIsLeft(t *testing.T) {
	t.Parallel()
	c := start(t)
	if _, err := c.Refund(t.Context(), "lin", "1005", "k1", shop.Wish{Amount: 80_00}); err != nil {
		t.Fatal(err)
	}
	want, err := c.Refund(t.Context(), "lin", "1005", "k2", shop.Wish{})
	if err != nil || want.Amount != 400_00 {
		t.Fatalf("got %+v, %v", want, err)
	}
	if got, err := c.Refund(t.Context(), "lin", "1005", "k2", shop.Wish{}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	wantLedger(t, c, "1005", 80_00, 400_00)
}

// A refund is requested, and paid two days later by the service's clock, which a restart does not turn back.
func TestRefundsArePaidInTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	c, s := startFile(t, path)
	made, err := c.Refund(t.Context(), "lin", "1002", "k1", shop.Wish{Amount: 8_00})
	if err != nil || made.Status != shop.Requested || !made.Paid.Equal(today.AddDate(0, 0, 2)) {
		t.Fatalf("got %+v, %v", made, err)
	}
	for days, want := range []shop.RefundStatus{shop.Requested, shop.Requested, shop.Paid, shop.Paid} {
		now, err := c.Ahead(t.Context(), days)
		if err != nil || !now.Now.Equal(today.AddDate(0, 0, days)) {
			t.Fatalf("the clock says %v, %v", now, err)
		}
		if got, err := c.RefundStatus(t.Context(), "lin", made.ID); err != nil || got.Status != want {
			t.Errorf("after %d days: %+v, %v; want %s", days, got, err, want)
		}
	}
	if now, err := c.Ahead(t.Context(), 1); err != nil || now.Days != 3 {
		t.Errorf("the clock went back: %+v, %v", now, err)
	}
	if o, err := c.Order(t.Context(), "lin", "1000"); err != nil || o.State != shop.Delivered {
		t.Errorf("the desk: %+v, %v", o, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c, _ = startFile(t, path)
	if now, err := c.Time(t.Context()); err != nil || now.Days != 3 {
		t.Errorf("after a restart: %+v, %v", now, err)
	}
	all, err := c.Refunds(t.Context(), "lin")
	if err != nil || len(all) != 2 || all[0].ID != made.ID || all[0].Status != shop.Paid {
		t.Errorf("the refunds are %+v, %v", all, err)
	}
}

func TestNothingOfOthersIsFound(t *testing.T) {
	t.Parallel()
	c := start(t)
	_, err := c.Order(t.Context(), "lin", "1004")
	wantRefusal(t, err, 404, shop.CodeNotFound)
	_, err = c.Check(t.Context(), "lin", "1004", 0)
	wantRefusal(t, err, 404, shop.CodeNotFound)
	_, err = c.RefundStatus(t.Context(), "chen", "R-1")
	wantRefusal(t, err, 404, shop.CodeNotFound)
	_, err = c.RefundStatus(t.Context(), "lin", "R-01")
	wantRefusal(t, err, 400, shop.CodeBadRequest)
	if all, err := c.Refunds(t.Context(), "chen"); err != nil || len(all) != 0 {
		t.Errorf("chen has the refunds %v, %v", all, err)
	}
}

func TestPartialRefundsAddUp(t *testing.T) {
	t.Parallel()
	c := start(t)
	if _, err := c.Refund(t.Context(), "lin", "1002", "k1", shop.Wish{Amount: 60_00}); err != nil {
		t.Fatal(err)
	}
	check, err := c.Check(t.Context(), "lin", "1002", 9_00)
	if err != nil || check.Allowed || check.Code != shop.CodeTooMuch || check.Refundable != 8_00 {
		t.Errorf("check: %+v, %v", check, err)
	}
	_, err = c.Refund(t.Context(), "lin", "1002", "k2", shop.Wish{Amount: 9_00})
	wantRefusal(t, err, 422, shop.CodeTooMuch)
	if _, err := c.Refund(t.Context(), "lin", "1002", "k3", shop.Wish{Amount: 8_00}); err != nil {
		t.Fatal(err)
	}
	wantLedger(t, c, "1002", 60_00, 8_00)
}

func TestLatest(t *testing.T) {
	t.Parallel()
	c := start(t)
	o, err := c.Latest(t.Context(), "lin")
	if err != nil || o.ID != "1005" || o.Paid != 480_00 || len(o.Items) != 3 {
		t.Fatalf("got %+v, %v", o, err)
	}
	bought, err := c.Buy(t.Context(), "lin")
	if err != nil || !bought.Delivered.Equal(today.AddDate(0, 0, -1)) {
		t.Fatalf("bought %+v, %v", bought, err)
	}
	if o, err = c.Latest(t.Context(), "lin"); err != nil || o.ID != bought.ID {
		t.Errorf("the latest order is %q, %v; want %q", o.ID, err, bought.ID)
	}
	_, err = c.Latest(t.Context(), "nobody")
	wantRefusal(t, err, 404, shop.CodeNotFound)
}

func TestTheFileOutlivesTheShop(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "100% sure? yes #1.db")
	first, err := shop.Open(path, func() time.Time { return today })
	if err != nil {
		t.Fatal(err)
	}
	url, err := first.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := shop.NewClient(url, 30*time.Second)
	want, err := c.Refund(t.Context(), "lin", "1002", "k1", shop.Wish{Amount: 68_00})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	c, _ = startFile(t, path)
	got, err := c.Refund(t.Context(), "lin", "1002", "k1", shop.Wish{Amount: 68_00})
	if err != nil || got != want {
		t.Errorf("after the restart: %v, %v; want %v", got, err, want)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the file has mode %v", info.Mode())
	}
}

func TestOpenRefusesWhatIsNotAShop(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	if err := os.WriteFile(path, []byte("this is a letter, not a database, and it is long enough to be seen as one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := shop.Open(path, nil); err == nil {
		s.Close()
		t.Error("a letter was opened as a shop")
	}
	if s, err := shop.Open(filepath.Join(t.TempDir(), "missing", "shop.db"), nil); err == nil {
		s.Close()
		t.Error("a shop was opened in a folder that does not exist")
	}
}

// wantRefusal checks that err is that answer of the shop, and that nobody should repeat the request.
func wantRefusal(t *testing.T, err error, status int, code shop.Code) {
	t.Helper()
	e, ok := shop.Refused(err)
	if !ok || e.Status != status || e.Code != code {
		t.Errorf("got %v; want %d %s", err, status, code)
	}
}

// wantLedger checks the payments for an order.
func wantLedger(t *testing.T, c *shop.Client, order string, want ...shop.Money) {
	t.Helper()
	lines, err := c.Ledger(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	var got []shop.Money
	for _, l := range lines {
		got = append(got, l.Amount)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the ledger of %s has %v; want %v", order, got, want)
	}
}
