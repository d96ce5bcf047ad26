package main

import (
	"context"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// A toolNews is what a tool tells while it runs: a line on the screen.
type toolNews struct {
	Mark string `json:"mark"` // "->" it begins, "!!" it met trouble, "ok" or "xx" it has ended
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// newsEvent is the name of its events.
const newsEvent = "tool"

func tell(ctx context.Context, n toolNews) { _ = graph.Emit(ctx, newsEvent, n) } // who does not watch misses it

// watched makes a tool that tells when it begins and how it ended.
func watched(t nodes.Tool) nodes.Tool {
	type next = func(context.Context, message.Call) (message.Result, error)
	return nodes.WrapTool(t, func(ctx context.Context, c message.Call, run next) (message.Result, error) {
		tell(ctx, toolNews{"->", c.Name, c.Args})
		r, err := run(ctx, c)
		switch {
		case err == nil && !r.Failed():
			tell(ctx, toolNews{"ok", c.Name, r.Text()})
		case err == nil:
			tell(ctx, toolNews{"xx", c.Name, r.Text()})
		case ctx.Err() == nil && !graph.Waits(err):
			tell(ctx, toolNews{"xx", c.Name, err.Error()})
		}
		return r, err
	})
}
