package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// What customers say. The cups are below the limit, the lamp is above it.
const (
	cups = "Refund order 1002, because one is chipped"
	lamp = "Refund my latest order"
)

// A bench is a desk over a real order service and real databases.
type bench struct {
	*desk
	data   data
	client *shop.Client
	thread graph.Thread
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	service, err := shop.Open(filepath.Join(dir, "shop.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	url, err := service.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{data: data{place(t, "threads.db"), filepath.Join(dir, "sessions.db"), filepath.Join(dir, "memory.db")}, client: shop.NewClient(url, time.Minute), thread: newConversation()}
	b.desk = b.open(t, b.client)
	return b
}

// open opens the bench's databases once more, as a new process would.
func (b *bench) open(t *testing.T, client *shop.Client) *desk { return b.openFor(t, client, customer) }

func (b *bench) openFor(t *testing.T, client *shop.Client, user string) *desk {
	t.Helper()
	d, err := openDesk(t.Context(), &printer{width: 80, mu: new(sync.Mutex), w: io.Discard},
		deskOptions{Data: b.data, User: user, Shop: client, Brain: scripted(0), Policy: quick, Around: inView})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil && !errors.Is(err, session.ErrClosed) {
			t.Error(err)
		}
	})
	return d
}

// wantLedger checks the amounts that were paid for an order.
func (b *bench) wantLedger(t *testing.T, order string, want ...shop.Money) {
	t.Helper()
	lines, err := b.client.Ledger(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	ok := len(lines) == len(want)
	for i := range lines {
		ok = ok && lines[i].Amount == want[i]
	}
	if !ok {
		t.Errorf("the ledger of order %s is %v; want %v", order, lines, want)
	}
}

// wantAnswer checks that a run has ended with an answer that has some texts, and a history that every provider takes.
func wantAnswer(t *testing.T, out *Care, err error, texts ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := message.Valid(out.Messages.Slice()); err != nil {
		t.Error(err)
	}
	for _, text := range texts {
		if got := nodes.Reply(&out.Turn).Text(); !strings.Contains(got, text) {
			t.Errorf("the answer is %q; want %q in it", got, text)
		}
	}
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

func by(name string, q graph.Question, d nodes.Decision) graph.Command {
	return graph.Answer(q, d).By(name)
}

// E18, E23: whatever goes wrong at whatever endpoint, the refund ends well, and the money moves once.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"latest", "check", "refund", "refunds"} {
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
				desk := b.desk
				if fault.Kind == shop.Slow {
					desk = b.open(t, b.client.WithTimeout(2*time.Second))
				}
				if err := b.client.Break(t.Context(), fault); err != nil {
					t.Fatal(err)
				}
				out, err := desk.say(t.Context(), b.thread, saying("1", "Refund ¥30 of my latest order"))
				wantAnswer(t, out, err, "Done: refund R-2 of ¥30.00")
				out, err = desk.say(t.Context(), b.thread, saying("2", "list all my refunds"))
				wantAnswer(t, out, err, "R-2", "R-1")
				b.wantLedger(t, "1005", 30_00)
			})
		}
	}
}

// E30, E31, E43: the question is durable, keeps its id in another process, and is answered there.
func TestApprovalAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.say(t.Context(), b.thread, saying("1", lamp))
	q := wantQuestion(t, err)
	a, err := graph.PromptOf[nodes.Approval](q)
	if err != nil || a.Call.Name != "refund_order" || !strings.Contains(string(a.Args), "1005") || !strings.Contains(a.Reason, "¥480.00 is above the limit") {
		t.Errorf("asked with %+v, %v", a, err)
	}
	if err := b.desk.close(); err != nil {
		t.Fatal(err)
	}

	b.desk = b.open(t, b.client)
	todo, err := b.unfinished(t.Context())
	if err != nil || !slices.Equal(todo, []graph.Thread{b.thread}) {
		t.Fatalf("unfinished: %v, %v", todo, err)
	}
	_, err = b.goOn(t.Context(), b.thread)
	if again := wantQuestion(t, err); again.ID != q.ID {
		t.Errorf("the question's id was %s and is %s", q.ID, again.ID)
	}
	b.wantLedger(t, "1005")
	out, err := b.goOn(t.Context(), b.thread, by(colleague, q, nodes.Approve()))
	wantAnswer(t, out, err, "Done: refund R-2 of ¥480.00")
	b.wantLedger(t, "1005", 480_00)
	if _, err := b.goOn(t.Context(), b.thread, by(colleague, q, nodes.Approve())); !errors.Is(err, graph.ErrNotPending) {
		t.Errorf("the second answer: %v", err)
	}
}

// Whoever asks for a refund must not approve it, as it is or changed; a rejection moves no money, and its reason reaches the customer.
func TestFourEyes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.say(t.Context(), b.thread, saying("1", lamp))
	q := wantQuestion(t, err)
	for _, d := range []nodes.Decision{nodes.Approve(), nodes.Edit([]byte(`{"order":"1005","amount":"479"}`)), nodes.Respond("paid")} {
		if _, err = b.goOn(t.Context(), b.thread, by(customer, q, d)); !errors.Is(err, checkpoint.ErrNotAllowed) {
			t.Errorf("the customer's own %s: %v", d.Action, err)
		}
	}
	_, err = b.goOn(t.Context(), b.thread, by(colleague, q, nodes.Edit([]byte(`{"order":"1005","sum":1}`))))
	if q = wantQuestion(t, err); !strings.Contains(q.Refused, "sum") {
		t.Errorf("arguments that do not fit are refused with %q", q.Refused)
	}
	out, err := b.goOn(t.Context(), b.thread, by(colleague, q, nodes.Reject("worn for a year")))
	wantAnswer(t, out, err, "worn for a year")
	b.wantLedger(t, "1005")
}

// The shop's rules hold whatever the model calls, and what belongs to others is not there.
func TestProperEnds(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Refund order 1000":                           "still on its way",
		"Refund order 1001":                           "too long ago",
		"Refund order 1004":                           "no such order",
		"Refund order 1003":                           "refunded before",
		"Refund ¥68.01 of order 1002":                 "more than what is left",
		"Refund order 9999":                           "no such order",
		"Where is order 1004?":                        "no such order",
		"Refund order 99999999999999999999":           "Which order",
		"订单 1001 退款":                                  "30 天",
		"你好，退款":                                       "哪个订单",
		"Did the refund of order 1003 arrive, please": "Yes: refund R-1",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			out, err := b.say(t.Context(), b.thread, saying("1", said))
			wantAnswer(t, out, err, want)
			if _, known := session.Get(out.Session.Get(), aboutOrder); known && strings.Contains(want, "no such order") {
				t.Error("an order that is not the customer's is what the conversation is about")
			}
			b.wantLedger(t, "", 70_00) // what the seed paid, and nothing more
		})
	}
}

// The shop says no at the last moment: somebody else has refunded the order meanwhile.
func TestThePaymentIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.say(t.Context(), b.thread, saying("1", lamp))
	q := wantQuestion(t, err)
	if _, err := b.client.Refund(t.Context(), customer, "1005", "another-desk", shop.Wish{}); err != nil {
		t.Fatal(err)
	}
	out, err := b.goOn(t.Context(), b.thread, by(colleague, q, nodes.Approve()))
	wantAnswer(t, out, err, "refunded before")
	b.wantLedger(t, "1005", 480_00)
}

// Every answer of the shop gets lost. The ledger decides whether the money moved.
func TestThePaymentIsNeverAnswered(t *testing.T) {
	t.Parallel()
	for kind, want := range map[shop.FaultKind]string{shop.CutAfter: "Done: refund R-2 of ¥68.00", shop.CutBefore: "no money moved", shop.Broken: "no money moved"} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if err := b.client.Break(t.Context(), shop.Fault{Endpoint: "refund", Kind: kind, Times: -1}); err != nil {
				t.Fatal(err)
			}
			out, err := b.say(t.Context(), b.thread, saying("1", cups))
			wantAnswer(t, out, err, want)
			if kind == shop.CutAfter {
				b.wantLedger(t, "1002", 68_00)
			} else {
				b.wantLedger(t, "1002")
			}
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
		_, err := b.say(ctx, b.thread, saying("1", cups))
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
	wantAnswer(t, out, err, "Done: refund R-2 of ¥68.00")
	b.wantLedger(t, "1002", 68_00)
}

// E17: the shop cannot be reached at all, not even its ledger: the run fails, and resuming it runs what failed and nothing else.
func TestTheShopIsAwayAltogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.say(t.Context(), b.thread, saying("1", lamp))
	q := wantQuestion(t, err)
	gone := b.open(t, shop.NewClient("http://127.0.0.1:1", time.Minute)) // nobody listens there
	_, err = gone.goOn(t.Context(), b.thread, by(colleague, q, nodes.Approve()))
	if _, ok := errors.AsType[*shop.UnreachableError](err); !ok {
		t.Fatalf("got %v", err)
	}
	out, err := b.goOn(t.Context(), b.thread)
	wantAnswer(t, out, err, "Done: refund R-2 of ¥480.00")
	b.wantLedger(t, "1005", 480_00)
}

// What a conversation is about is confirmed by the tools that found it, and nothing else: the session state says which call it was. // R14, R21, R31
func TestFactsOfAConversation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	out, err := b.say(t.Context(), b.thread, saying("1", "Where is my latest order?"))
	wantAnswer(t, out, err, "1005")
	state, err := b.sessions.State(t.Context(), b.scope, b.thread.ID)
	if err != nil {
		t.Fatal(err)
	}
	order, _ := session.Get(state, aboutOrder)
	f, _ := state.Fact("order")
	found := slices.ContainsFunc(out.Messages.Slice(), func(m message.Message) bool {
		return slices.ContainsFunc(m.Calls(), func(c message.Call) bool { return c.Name == "latest_order" && c.ID == f.Ref })
	})
	if order != "1005" || f.Origin != session.ByTool || !found {
		t.Errorf("the fact is %+v", f)
	}
	out, err = b.say(t.Context(), b.thread, saying("2", "Then refund ¥10 of it"))
	wantAnswer(t, out, err, "for order 1005")
	if r, ok := session.Get(out.Session.Get(), aboutRefund); !ok || r != (refundFact{"R-2", "1005", "¥10.00"}) {
		t.Errorf("the refund is %+v, %t", r, ok)
	}
}
