package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
)

// errToldAlready stands for a failure that was told to the person.
var errToldAlready = errors.New("told already")

// serveShop is the order service as a process of its own. Its first line of output is its address.
func serveShop(ctx context.Context, file string) (err error) {
	s, err := shop.Open(file, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	url, err := s.Start("127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(url)
	ctx, cancel := whileParentLives(ctx)
	defer cancel()
	<-ctx.Done()
	return nil
}

// worker runs one refund in a process of its own: starts it (-request), answers its question (-approve), or takes up
// whatever a process that is gone has left.
func (f *flags) worker(ctx context.Context, p *printer) (err error) {
	ctx, cancel := whileParentLives(ctx)
	defer cancel()
	o, err := openOffice(ctx, p, f.db, shop.NewClient(f.shop, f.timeout), patience)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	th := graph.ID(f.work)
	var out *Refund
	switch {
	case f.request != "":
		var r Request
		if err := json.Unmarshal([]byte(f.request), &r); err != nil {
			return fmt.Errorf("-request: %w", err)
		}
		out, err = o.start(ctx, th, r)
	case f.approve != "":
		out, err = o.goOn(ctx, th, graph.AnswerOnly(Approval{Approved: true}).By(f.approve))
	default:
		out, err = o.recoverThread(ctx, th)
	}
	if err != nil {
		return err
	}
	if err := o.result(ctx, out); err != nil {
		return err
	}
	if out.Outcome.Get().Status != Refunded {
		return errToldAlready
	}
	return nil
}

// recoverThread lets the App look for what crashed processes have left until the thread is among it. On a machine where
// the App cannot see that a process is dead, that takes until the lease of the dead one has run out.
func (o *office) recoverThread(ctx context.Context, th graph.Thread) (*Refund, error) {
	found := make(chan graph.Recovered, 1)
	serving, stop := context.WithCancel(ctx)
	defer stop()
	err := o.app.Serve(serving, graph.ServeOptions{Every: 200 * time.Millisecond, Done: func(r graph.Recovered) {
		if r.Thread == th {
			found <- r
			stop()
		}
	}})
	select {
	case r := <-found:
		if r.Err != nil {
			return nil, r.Err
		}
		now, err := steady(ctx, func() (*graph.Snapshot[Refund], error) { return o.app.State(ctx, th) })
		if err != nil {
			return nil, err
		}
		return now.State, nil
	default:
		return nil, err
	}
}
