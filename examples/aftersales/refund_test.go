package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
)

// cups is a wish below the limit, lamp one above it.
var (
	cups = Request{Customer: "lin", Order: "1002", Reason: "chipped"}
	lamp = Request{Customer: "lin"}
)

func TestRefundOfASmallAmount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	out, err := b.start(t.Context(), b.thread, cups)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Outcome.Get(); got != (Outcome{Refunded, shop.CodeOK}) || out.Receipt.Get().Amount != 68_00 {
		t.Errorf("outcome %+v, receipt %+v", got, out.Receipt.Get())
	}
	if got := maps.Collect(out.Risk.All()); !maps.Equal(got, map[string]int{"CUP": 12}) || out.Points.Get() != 12 {
		t.Errorf("risk %v, points %d", got, out.Points.Get())
	}
	// E5: writes of one superstep fold in the order of the nodes' names, whoever came first.
	want := []string{"find", "policy", "assess", "decide", "pay", "books", "notify", "done"}
	if got := out.Trail.Slice(); !slices.Equal(got, want) {
		t.Errorf("trail %v; want %v", got, want)
	}
	b.wantLedger(t, "1002", 68_00)
	b.wantTold(t, "1002", 1)
}

// E18, E23: whatever goes wrong at whatever endpoint, the refund ends well, and the money and the notice go out once.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"order", "check", "product", "refund", "notify", "book"} {
		for _, fault := range []shop.Fault{
			{Kind: shop.Slow, Wait: time.Minute}, // far longer than anybody waits
			{Kind: shop.Broken, Times: 2},
			{Kind: shop.CutBefore, Times: 2},
			{Kind: shop.CutAfter, Times: 2},
		} {
			fault.Endpoint = endpoint
			t.Run(fmt.Sprintf("%s/%s", endpoint, fault.Kind), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				if err := b.client.Break(t.Context(), fault); err != nil {
					t.Fatal(err)
				}
				office := b.office
				if fault.Kind == shop.Slow {
					office = b.open(t, b.client.WithTimeout(2*time.Second))
				}
				out, err := office.start(t.Context(), b.thread, cups)
				if err != nil || out.Outcome.Get().Status != Refunded {
					t.Fatalf("%+v, %v", out.Outcome.Get(), err)
				}
				b.wantLedger(t, "1002", 68_00)
				b.wantTold(t, "1002", 1)
			})
		}
	}
}

// E30, E31, E43: the question is durable, keeps its id in another process, and is answered there.
func TestApprovalAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.start(t.Context(), b.thread, lamp)
	q := wantQuestion(t, err)
	if bill, err := graph.PromptOf[Bill](q); err != nil || bill.Amount != 480_00 || bill.Order != "1005" {
		t.Errorf("asked with %+v, %v", bill, err)
	}
	if err := b.office.close(); err != nil {
		t.Fatal(err)
	}

	b.office = b.open(t, b.client)
	todo, err := b.unfinished(t.Context())
	if err != nil || !slices.Equal(todo, []graph.Thread{b.thread}) {
		t.Fatalf("unfinished: %v, %v", todo, err)
	}
	_, err = b.goOn(t.Context(), b.thread)
	if again := wantQuestion(t, err); again.ID != q.ID {
		t.Errorf("the question's id was %s and is %s", q.ID, again.ID)
	}
	b.wantLedger(t, "1005")
	out, err := b.goOn(t.Context(), b.thread, graph.Answer(q, Approval{Approved: true}).By(colleague))
	if err != nil || out.Outcome.Get().Status != Refunded {
		t.Fatalf("%v", err)
	}
	b.wantLedger(t, "1005", 480_00)
	if _, err := b.goOn(t.Context(), b.thread, graph.Answer(q, Approval{Approved: true}).By(colleague)); !errors.Is(err, graph.ErrNotPending) {
		t.Errorf("the second answer: %v", err)
	}
}

func TestApprovalIsDenied(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.start(t.Context(), b.thread, lamp)
	q := wantQuestion(t, err)
	_, err = b.goOn(t.Context(), b.thread, graph.Answer(q, Approval{Approved: true}).By(customer))
	if !errors.Is(err, checkpoint.ErrNotAllowed) {
		t.Errorf("the customer approved the refund: %v", err)
	}
	out, err := b.goOn(t.Context(), b.thread, graph.Answer(q, Approval{}).By(colleague)) // the zero answer is an answer, E32
	if err != nil || out.Outcome.Get().Status != Denied {
		t.Fatalf("%v", err)
	}
	b.wantLedger(t, "1005")
	b.wantTold(t, "1005", 1)
}

func TestProperEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		wish Request
		code shop.Code
	}{
		"too old":              {Request{Customer: "lin", Order: "1001"}, shop.CodeTooOld},
		"of somebody else":     {Request{Customer: "lin", Order: "1004"}, shop.CodeNotYours},
		"refunded already":     {Request{Customer: "lin", Order: "1003"}, shop.CodeRefunded},
		"more than was paid":   {Request{Customer: "lin", Order: "1002", Amount: 68_01}, shop.CodeTooMuch},
		"no such order":        {Request{Customer: "lin", Order: "9999"}, shop.CodeNotFound},
		"not an order number":  {Request{Customer: "lin", Order: "../1002"}, shop.CodeBadRequest},
		"of an unknown person": {Request{Customer: "nobody"}, shop.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			out, err := b.start(t.Context(), b.thread, tc.wish)
			if err != nil {
				t.Fatal(err)
			}
			if got := out.Outcome.Get(); got.Status != Rejected || got.Code != tc.code {
				t.Errorf("%+v; want %s", got, tc.code)
			}
			if tc.code == shop.CodeNotYours && out.Order.Has() {
				t.Error("the order of somebody else is in the state")
			}
			b.wantLedger(t, "", 70_00) // what the seed paid, and nothing more
		})
	}
}

// E20: the shop says no at the last moment. The handler looks into the ledger, and the refund ends with the reason.
func TestThePaymentIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.start(t.Context(), b.thread, lamp)
	q := wantQuestion(t, err)
	if _, err := b.client.Refund(t.Context(), "1005", "another-desk", shop.Wish{Customer: "lin", Amount: 480_00}); err != nil {
		t.Fatal(err)
	}
	out, err := b.goOn(t.Context(), b.thread, graph.Answer(q, Approval{Approved: true}).By(colleague))
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Outcome.Get(); got != (Outcome{Refused, shop.CodeRefunded}) {
		t.Errorf("%+v", got)
	}
	b.wantLedger(t, "1005", 480_00)
	b.wantTold(t, "1005", 1)
}

// E20: every answer of the shop gets lost. The ledger decides whether the money moved.
func TestThePaymentIsNeverAnswered(t *testing.T) {
	t.Parallel()
	for kind, want := range map[shop.FaultKind]Status{shop.CutAfter: Refunded, shop.CutBefore: Refused, shop.Broken: Refused} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if err := b.client.Break(t.Context(), shop.Fault{Endpoint: "refund", Kind: kind, Times: -1}); err != nil {
				t.Fatal(err)
			}
			out, err := b.start(t.Context(), b.thread, cups)
			if err != nil || out.Outcome.Get().Status != want {
				t.Fatalf("%+v, %v; want %s", out.Outcome.Get(), err, want)
			}
			if want == Refunded {
				b.wantLedger(t, "1002", 68_00)
			} else {
				b.wantLedger(t, "1002")
			}
			b.wantTold(t, "1002", 1)
		})
	}
}

// E23, E26: stopped between the payment and its record, continued by another App: paid once, under the same key.
func TestStoppedBetweenPaymentAndRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := b.client.Break(t.Context(), shop.Fault{Endpoint: "refund", Kind: shop.Hold}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := b.start(ctx, b.thread, cups)
		ended <- err
	}()
	if err := b.client.AwaitHeld(t.Context(), "refund"); err != nil {
		t.Fatal(err)
	}
	b.wantLedger(t, "1002", 68_00)
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("the stopped run returned %v", err)
	}
	out, err := b.open(t, b.client).goOn(t.Context(), b.thread)
	if err != nil || out.Outcome.Get().Status != Refunded {
		t.Fatalf("%v", err)
	}
	b.wantLedger(t, "1002", 68_00)
	b.wantTold(t, "1002", 1)
}

// E17: the shop's ledger cannot be read either: the run fails, and resuming it runs what failed and nothing else.
func TestTheShopIsAwayAltogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.start(t.Context(), b.thread, lamp)
	q := wantQuestion(t, err)
	gone := b.open(t, shop.NewClient("http://127.0.0.1:1", time.Minute)) // nobody listens there
	_, err = gone.goOn(t.Context(), b.thread, graph.Answer(q, Approval{Approved: true}).By(colleague))
	if _, ok := errors.AsType[*shop.UnreachableError](err); !ok {
		t.Fatalf("got %v", err)
	}
	out, err := b.goOn(t.Context(), b.thread)
	if err != nil || out.Outcome.Get() != (Outcome{Refunded, shop.CodeOK}) {
		t.Fatalf("%+v, %v", out.Outcome.Get(), err)
	}
	b.wantLedger(t, "1005", 480_00)
	b.wantTold(t, "1005", 1)
}

// wantQuestion checks that a run waits for one question, and returns it.
func wantQuestion(t *testing.T, err error) graph.Question {
	t.Helper()
	open, ok := errors.AsType[*graph.Interrupted](err)
	if !ok || len(open.Questions) != 1 {
		t.Fatalf("got %v; want one question", err)
	}
	return open.Questions[0]
}
