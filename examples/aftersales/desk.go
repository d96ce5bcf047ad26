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
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// Who takes part, unless -user says otherwise.
const (
	customer  = "lin"
	colleague = "zhao"
)

// A desk is what every mode of the program works with: the threads, what was confirmed in them, what is remembered of customers, the
// App over all of it, the shop.
type desk struct {
	p      *printer
	screen *screen
	user   string
	scope  memory.Scope
	store  checkpoint.Store
	boxes
	read func() // ends what reads in the background what is worth keeping
	app  *graph.App[Care]
	shop *shop.Client
}

// deskOptions say where a desk keeps its things and who answers at it.
type deskOptions struct {
	Data   data
	User   string
	Shop   *shop.Client
	Brain  brain
	Policy graph.Policy // of nodes that say nothing else
	Around surroundings
}

// patience is how every node is run: an error that may pass is tried again, with longer and longer waits between.
var patience = graph.Policy{Attempts: 8, Backoff: 150 * time.Millisecond, MaxBackoff: 5 * time.Second}

// openDesk opens the databases and compiles the graph. What its runs do is printed.
func openDesk(ctx context.Context, p *printer, o deskOptions) (_ *desk, err error) {
	d := &desk{p: p, user: o.User, shop: o.Shop, screen: newScreen(p)}
	if d.scope, err = scopeOf(o.User); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.closeStores())
		}
	}()
	told := false
	open := func(f func() error) error {
		_, err := steady(ctx, func() (struct{}, error) {
			err := f()
			if away(err) && !told {
				told = true
				p.sayf("The database does not answer; trying for %v.", "数据库没有回应，会再试 %v。", storePatience)
			}
			return struct{}{}, err
		})
		return err
	}
	if err = open(func() (err error) { d.store, err = openStore(ctx, o.Data.URL); return err }); err != nil {
		return nil, err
	}
	if err = open(func() (err error) { d.sessions, err = openSessions(ctx, o.Data); return err }); err != nil {
		return nil, err
	}
	if err = open(func() (err error) { d.memories, err = openMemories(ctx, o.Data, o.Brain.reader); return err }); err != nil {
		return nil, err
	}
	if d.handbook, err = openHandbook(ctx); err != nil {
		return nil, err
	}
	g, err := newCare(o.Shop, d.boxes, o.Brain, o.Around)
	if err != nil {
		return nil, err
	}
	if o.Brain.reader != nil {
		d.read = inBackground(d.memories.Work)
	}
	d.app, err = g.Compile(graph.Options{Store: d.store, Policy: o.Policy, Lease: 3 * time.Second, Grace: 2 * time.Second,
		OnEvent: d.screen.event})
	return d, err
}

// close stops what runs, resumably, and closes the databases.
func (d *desk) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(d.app.Close(ctx), d.closeStores())
}

// inBackground runs f until the function that it returns is called.
func inBackground(f func(context.Context) error) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f(ctx) // whatever it could not do is done by the next process
	}()
	return func() {
		cancel()
		<-ended
	}
}

func (d *desk) closeStores() (err error) {
	if d.read != nil {
		d.read()
	}
	err = d.boxes.close()
	if d.store != nil {
		err = errors.Join(err, d.store.Close())
	}
	return err
}

// newConversation names a conversation, and with it its thread.
func newConversation() graph.Thread { return graph.ID("c-" + strings.ToLower(rand.Text()[:8])) }

// lastConversation is the one that the customer had last, or a new one.
func (d *desk) lastConversation(ctx context.Context) (graph.Thread, error) {
	list, err := d.sessions.Conversations(ctx, d.scope, session.Conversation{}, 1)
	if err != nil || len(list) == 0 {
		return newConversation(), err
	}
	return graph.ID(list[0].ID), nil
}

// say gives a message of the customer to a conversation and runs it until there is an answer, or it waits. A message that was
// taken before is not taken again: what it began goes on.
func (d *desk) say(ctx context.Context, th graph.Thread, m message.Message) (*Care, error) {
	if err := d.mine(ctx, th); err != nil {
		return nil, err
	}
	o := nodes.RunOptions(d.scope, th.ID, m)
	o.OnBusy = graph.Enqueue
	if calledOff(m.Text()) {
		o.OnBusy = graph.Preempt // what waits for a colleague is not wanted any more
	}
	app := d.app.With(o)
	out, err := steady(ctx, func() (*Care, error) { return app.Run(ctx, th, nodes.Input[Care](d.scope, m)) })
	if errors.Is(err, graph.ErrDuplicate) { // it was begun, and then a database could not be reached or the process died
		return d.goOn(ctx, th)
	}
	return d.rest(ctx, th, out, err)
}

// mine returns nodes.ErrForeign for a conversation of another customer, before anything of this one's gets into it.
func (d *desk) mine(ctx context.Context, th graph.Thread) error {
	now, err := steady(ctx, func() (*graph.Snapshot[Care], error) { return d.app.State(ctx, th) })
	switch {
	case errors.Is(err, graph.ErrNoThread):
		return nil
	case err == nil && now.Owner != d.user:
		return nodes.ErrForeign
	}
	return err
}

// goOn continues a conversation, with a decision if there is one to give. One that has nothing to do is as it was left.
func (d *desk) goOn(ctx context.Context, th graph.Thread, decisions ...graph.Command) (*Care, error) {
	out, err := steady(ctx, func() (*Care, error) { return d.app.Resume(ctx, th, decisions...) })
	if errors.Is(err, graph.ErrNothingToDo) && len(decisions) == 0 {
		now, err := steady(ctx, func() (*graph.Snapshot[Care], error) { return d.app.State(ctx, th) })
		if err != nil {
			return nil, err
		}
		return now.State, nil
	}
	return d.rest(ctx, th, out, err)
}

// rest sees a conversation through what was said while it was busy, after a run that has ended well.
func (d *desk) rest(ctx context.Context, th graph.Thread, out *Care, err error) (*Care, error) {
	if err != nil {
		return out, err
	}
	next, err := d.goOn(ctx, th)
	if errors.Is(err, graph.ErrBusy) { // it has begun already, beside this call
		for _, err := range d.app.Watch(ctx, th, graph.WatchOptions{}) {
			if err != nil {
				return out, err
			}
		}
		return d.rest(ctx, th, out, nil)
	}
	return next, err
}

// unfinished lists the customer's conversations that somebody should continue.
func (d *desk) unfinished(ctx context.Context) ([]graph.Thread, error) {
	var out []graph.Thread
	for _, st := range []checkpoint.Status{checkpoint.Running, checkpoint.Interrupted, checkpoint.Failed} {
		f := checkpoint.ThreadFilter{Tenant: graph.SingleTenant, Graph: "care", Owner: d.user, Status: st, Limit: 100}
		for {
			heads, err := steady(ctx, func() ([]checkpoint.Head, error) { return d.store.Threads(ctx, f) })
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

// answered shows what a run came to beside what was streamed: how a denial was understood, and an answer that was written before.
// Of a run that failed nothing is shown.
func (d *desk) answered(out *Care, err error) {
	if out == nil || err != nil && !errors.Is(err, graph.ErrInterrupted) {
		return
	}
	for _, n := range out.Notices.Get() {
		d.p.sayf("Understood, and kept: %s", "已记住：%s", n)
	}
	if reply := nodes.Reply(&out.Turn); reply.ID != "" && reply.ID != d.screen.last() {
		d.screen.whole(reply.Text())
	}
}

// ledger lists the payments for an order, or for all of them.
func (d *desk) ledger(ctx context.Context, order string) error {
	lines, err := d.shop.Ledger(ctx, order)
	if err != nil {
		return err
	}
	d.p.sayf("The shop's ledger:", "店铺账本：")
	if len(lines) == 0 {
		d.p.sayf("  no payments", "  没有退款记录")
	}
	for _, l := range lines {
		text := d.p.textf("order %s  %v  key %s", "订单 %s  %v  幂等键 %s", l.Order, l.Amount, textwidth.Clip(l.Key, 10))
		if l.Reason != "" {
			text += "  " + l.Reason
		}
		d.p.line("  "+textwidth.Pad(l.Refund, 6), text)
	}
	return nil
}
