package shop_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
)

var cups = shop.Wish{Amount: 68_00, Reason: "chipped"}

func TestBrokenTwiceThenFine(t *testing.T) {
	t.Parallel()
	c := start(t)
	if err := c.Break(t.Context(), shop.Fault{Endpoint: "latest", Kind: shop.Broken, Times: 2}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := c.Latest(t.Context(), "lin")
		e, ok := errors.AsType[*shop.Error](err)
		if !ok || e.Status != 500 || !e.Retryable() {
			t.Fatalf("got %v", err)
		}
		if _, refused := shop.Refused(err); refused {
			t.Error("a failure that may pass counts as a refusal")
		}
	}
	if _, err := c.Latest(t.Context(), "lin"); err != nil {
		t.Error(err)
	}
}

func TestCutBeforeTheWork(t *testing.T) {
	t.Parallel()
	c := start(t)
	if err := c.Break(t.Context(), shop.Fault{Endpoint: "refund", Kind: shop.CutBefore}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Refund(t.Context(), "lin", "1002", "k1", cups)
	wantUnreachable(t, err, false)
	wantLedger(t, c, "1002")
	if _, err := c.Refund(t.Context(), "lin", "1002", "k1", cups); err != nil {
		t.Error(err)
	}
	wantLedger(t, c, "1002", 68_00)
}

func TestCutAfterTheWork(t *testing.T) {
	t.Parallel()
	c := start(t)
	if err := c.Break(t.Context(), shop.Fault{Endpoint: "refund", Kind: shop.CutAfter}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Refund(t.Context(), "lin", "1002", "k1", cups)
	wantUnreachable(t, err, false)
	wantLedger(t, c, "1002", 68_00)
	if _, err := c.Refund(t.Context(), "lin", "1002", "k1", cups); err != nil {
		t.Error(err)
	}
	wantLedger(t, c, "1002", 68_00)
}

// The fault is far longer than the client waits, so the outcome does not depend on the speed of the machine.
func TestSlowerThanTheClientWaits(t *testing.T) {
	t.Parallel()
	c := start(t)
	if err := c.Break(t.Context(), shop.Fault{Endpoint: "latest", Kind: shop.Slow, Wait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	_, err := c.WithTimeout(20*time.Millisecond).Latest(t.Context(), "lin")
	wantUnreachable(t, err, true)
	if _, err := c.Latest(t.Context(), "lin"); err != nil {
		t.Error(err)
	}
}

func TestSlowAndBroken(t *testing.T) {
	t.Parallel()
	c := start(t)
	err := c.Break(t.Context(), shop.Fault{Endpoint: "*", Kind: shop.Slow, Wait: 1, Times: -1},
		shop.Fault{Endpoint: "order", Kind: shop.Broken})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Order(t.Context(), "lin", "1002"); err == nil {
		t.Error("the slow fault hides the other one")
	}
	if _, err := c.Order(t.Context(), "lin", "1002"); err != nil {
		t.Error(err)
	}
}

func TestFaultsAreChecked(t *testing.T) {
	t.Parallel()
	c := start(t)
	for _, f := range []shop.Fault{
		{Endpoint: "refund", Kind: "explode"},
		{Endpoint: "moon", Kind: shop.Broken},
		{Endpoint: "ledger", Kind: shop.Broken}, // the ledger is the witness
		{Endpoint: "refund", Kind: shop.Slow},
		{Endpoint: "refund", Kind: shop.Slow, Wait: time.Hour},
		{Endpoint: "refund", Kind: shop.Hold, Wait: time.Second},
	} {
		wantRefusal(t, c.Break(t.Context(), f), 400, shop.CodeBadRequest)
	}
}

func TestHeldUntilReleased(t *testing.T) {
	t.Parallel()
	c := start(t)
	if err := c.Break(t.Context(), shop.Fault{Endpoint: "refund", Kind: shop.Hold}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.Refund(t.Context(), "lin", "1002", "k1", cups)
		done <- err
	}()
	if err := c.AwaitHeld(t.Context(), "refund"); err != nil {
		t.Fatal(err)
	}
	wantLedger(t, c, "1002", 68_00) // the work is done
	select {
	case err := <-done:
		t.Fatalf("answered while held: %v", err)
	default:
	}
	if err := c.Mend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestTheClientLeavesWhileHeld(t *testing.T) {
	t.Parallel()
	c := start(t)
	if err := c.Break(t.Context(), shop.Fault{Endpoint: "refund", Kind: shop.Hold}); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Refund(ctx, "lin", "1002", "k1", cups)
		done <- err
	}()
	if err := c.AwaitHeld(t.Context(), "refund"); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want the caller's own cancellation", err)
	}
	if _, err := c.Refund(t.Context(), "lin", "1002", "k1", cups); err != nil {
		t.Error(err)
	}
	wantLedger(t, c, "1002", 68_00)
}

func TestCloseLetsGoWhatIsHeld(t *testing.T) {
	t.Parallel()
	s, err := shop.Open(filepath.Join(t.TempDir(), "shop.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	url, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := shop.NewClient(url, 30*time.Second)
	if err := c.Break(t.Context(), shop.Fault{Endpoint: "refund", Kind: shop.Hold}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.Refund(t.Context(), "lin", "1002", "k1", cups)
		done <- err
	}()
	if err := c.AwaitHeld(t.Context(), "refund"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wantUnreachable(t, <-done, false)
	_, err = c.Latest(t.Context(), "lin")
	wantUnreachable(t, err, false)
}

func wantUnreachable(t *testing.T, err error, timeout bool) {
	t.Helper()
	u, ok := errors.AsType[*shop.UnreachableError](err)
	if !ok || u.Timeout != timeout || !u.Retryable() {
		t.Errorf("got %v; want an UnreachableError with timeout %v", err, timeout)
	}
}
