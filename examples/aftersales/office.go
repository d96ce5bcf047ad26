package main

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// Who takes part.
const (
	customer  = "lin"
	colleague = "zhao"
)

// An office is what every mode of the program works with: the store of the threads, the App over it, and the shop.
type office struct {
	p     *printer
	store checkpoint.Store
	app   *graph.App[Refund]
	shop  *shop.Client
}

// openOffice opens the database and compiles the graph. What its runs do is printed.
func openOffice(ctx context.Context, p *printer, db string, client *shop.Client, policy graph.Policy) (*office, error) {
	told := false
	store, err := steady(ctx, func() (checkpoint.Store, error) {
		s, err := openStore(ctx, db)
		if errors.Is(err, checkpoint.ErrUnavailable) && !told {
			told = true
			p.sayf("The database does not answer; trying for %v.", "数据库没有回应，会再试 %v。", storePatience)
		}
		return s, err
	})
	if err != nil {
		return nil, err
	}
	watch := &progress{p: p}
	app, err := newRefund(client).Compile(graph.Options{Store: store, Policy: policy, Lease: 3 * time.Second,
		Grace: 2 * time.Second, OnEvent: watch.event})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &office{p, store, app, client}, nil
}

// close stops what runs, resumably, and closes the database.
func (o *office) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(o.app.Close(ctx), o.store.Close())
}

// newThread names a refund.
func newThread() graph.Thread { return graph.ID("r-" + strings.ToLower(rand.Text()[:8])) }

// start runs a new refund until it has ended or waits.
func (o *office) start(ctx context.Context, th graph.Thread, r Request) (*Refund, error) {
	app := o.app.With(graph.RunOptions{By: r.Customer, Owner: r.Customer, Request: "first"})
	out, err := steady(ctx, func() (*Refund, error) { return app.Run(ctx, th, func(s *Refund) { s.Request.Set(r) }) })
	if errors.Is(err, graph.ErrDuplicate) { // it was started, and then the store could not be reached
		return o.goOn(ctx, th)
	}
	return out, err
}

// goOn continues a refund, with an answer if there is one to give.
func (o *office) goOn(ctx context.Context, th graph.Thread, answers ...graph.Command) (*Refund, error) {
	return steady(ctx, func() (*Refund, error) { return o.app.Resume(ctx, th, answers...) })
}

// unfinished lists the refunds that somebody should continue, oldest first within a page.
func (o *office) unfinished(ctx context.Context) ([]graph.Thread, error) {
	var out []graph.Thread
	for _, st := range []checkpoint.Status{checkpoint.Running, checkpoint.Interrupted, checkpoint.Failed} {
		f := checkpoint.ThreadFilter{Tenant: graph.SingleTenant, Graph: "refund", Status: st, Limit: 100}
		for {
			heads, err := steady(ctx, func() ([]checkpoint.Head, error) { return o.store.Threads(ctx, f) })
			if err != nil {
				return nil, err
			}
			for _, h := range heads {
				out = append(out, graph.Thread{Tenant: h.Tenant, ID: h.Thread})
			}
			if len(heads) < f.Limit {
				break
			}
			f.After = heads[len(heads)-1].Key
		}
	}
	return out, nil
}

// ledger lists the payments for an order, or for all of them.
func (s *office) ledger(ctx context.Context, order string) error {
	lines, err := s.shop.Ledger(ctx, order)
	if err != nil {
		return err
	}
	if order == "" {
		s.p.sayf("The shop's ledger:", "店铺账本：")
	} else {
		s.p.sayf("The shop's ledger for order %s:", "店铺账本，订单 %s：", order)
	}
	if len(lines) == 0 {
		s.p.sayf("  no payments", "  没有退款记录")
	}
	for _, l := range lines {
		text := s.p.textf("order %s  %v  key %s", "订单 %s  %v  幂等键 %s", l.Order, l.Amount, textwidth.Clip(l.Key, 10))
		if l.Reason != "" {
			text += "  " + l.Reason
		}
		s.p.line("  "+textwidth.Pad(l.Receipt, 6), text)
	}
	return nil
}

// result tells how a refund ended and shows the ledger.
func (s *office) result(ctx context.Context, r *Refund) error {
	if o := r.Outcome.Get(); o.Status != Refunded {
		s.p.sayf("No refund: %s.", "没有退款：%s。", outcomeText(s.p.zh, o, r.Check.Get()))
		if !r.Order.Has() {
			return nil
		}
	} else {
		rec := r.Receipt.Get()
		s.p.sayf("Refunded: %v for order %s, receipt %s.", "已退款：%v，订单 %s，凭证 %s。", rec.Amount, rec.Order, rec.ID)
	}
	for _, n := range r.Notices.Slice() {
		s.p.sayf("The customer was told: %s", "已通知顾客：%s", n.Text)
	}
	return s.ledger(ctx, r.Order.Get().ID)
}
