package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
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

// worker runs one turn of a conversation in a process of its own: takes a message (-say), a decision (-approve), or takes up
// whatever a process that is gone has left.
func (f *flags) worker(ctx context.Context, p *printer) (err error) {
	ctx, cancel := whileParentLives(ctx)
	defer cancel()
	where, err := f.data()
	if err != nil {
		return err
	}
	d, err := f.desk(ctx, p, where, f.shop)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	th := graph.ID(f.work)
	var out *Care
	switch {
	case f.say != "":
		out, err = d.say(ctx, th, message.User(f.say))
	case f.approve != "":
		out, err = d.goOn(ctx, th, graph.AnswerOnly(nodes.Approve()).By(f.approve))
	default:
		out, err = d.recoverThread(ctx, th)
	}
	d.answered(out, err)
	if open, waits := errors.AsType[*graph.Interrupted](err); waits {
		for _, q := range open.Questions {
			if a, err := graph.PromptOf[nodes.Approval](q); err == nil {
				d.showQuestion(q, a)
			}
		}
	}
	return err
}

// recoverThread lets the App look for what crashed processes have left until the thread is among it. On a machine where
// the App cannot see that a process is dead, that takes until the lease of the dead one has run out.
func (d *desk) recoverThread(ctx context.Context, th graph.Thread) (*Care, error) {
	found := make(chan graph.Recovered, 1)
	serving, stop := context.WithCancel(ctx)
	defer stop()
	err := d.app.Serve(serving, graph.ServeOptions{Every: 200 * time.Millisecond, Done: func(r graph.Recovered) {
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
		return d.goOn(ctx, th) // which has nothing to do, and is as it was left
	default:
		return nil, err
	}
}
