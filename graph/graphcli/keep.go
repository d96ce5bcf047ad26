package graphcli

import (
	"errors"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

func retain(c *call) func() error {
	c.threadFlags(true)
	var keep graph.Retention
	c.flags.IntVar(&keep.KeepLast, "keep", 0, "the newest `n` entries always stay; without another rule everything else goes")
	c.flags.DurationVar(&keep.OlderThan, "older", 0, "entries that are older go, as a `duration`: 720h")
	c.flags.Int64Var(&keep.MaxBytes, "max-bytes", 0, "the oldest go until a branch has no more than `n` bytes")
	all := c.flags.Bool("all", false, "of every thread of all tenants; with the program, of its graph")
	return func() (err error) {
		if *all == (len(c.args) > 0) {
			return c.wrong("name a thread, or say -all")
		}
		if keep == (graph.Retention{}) {
			return c.wrong("say what goes: -keep, -older or -max-bytes")
		}
		var out graph.Removed
		if *all {
			out, err = c.view.RetainAll(c.ctx, keep)
		} else {
			out, err = c.view.Retain(c.ctx, c.thread(), keep)
		}
		if err != nil {
			return err
		}
		return c.say(out, "removed %d records of %d threads", out.Records, out.Threads)
	}
}

// removed is what delete prints.
type removed struct {
	Thread graph.Thread `json:"thread"`
}

func remove(c *call) func() error {
	c.threadFlags(false)
	yes := c.flags.Bool("yes", false, "do not ask")
	return func() error {
		th := c.thread()
		s, err := c.store()
		if err != nil {
			return err
		}
		l, err := headOf(c.ctx, s, checkpoint.Key{Tenant: th.Tenant, Thread: th.ID}) // it need not be readable
		if err != nil {
			return err
		}
		if !*yes {
			if err := c.sure(th, l.Head.Status); err != nil {
				return err
			}
		}
		if err := c.view.Delete(c.ctx, th); err != nil {
			return err
		}
		return c.say(removed{th}, "deleted %s", th)
	}
}

// sure asks whether a thread is to be deleted.
func (c *call) sure(th graph.Thread, status checkpoint.Status) error {
	if c.json {
		return c.wrong("with -json say -yes")
	}
	if err := c.print("Delete thread %s (%s) with all its branches and questions? [y/N] ", safe(th.String()), status); err != nil {
		return err
	}
	text, err := c.readLine()
	if t := strings.ToLower(text); err != nil || t != "y" && t != "yes" {
		return errors.New("nothing was deleted; -yes does it without asking")
	}
	return nil
}
