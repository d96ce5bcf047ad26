package graphcli

import (
	"encoding/json"
	"errors"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// An outcome is how a run ended, as run and resume print it.
type outcome struct {
	Thread    graph.Thread      `json:"thread"`
	Status    checkpoint.Status `json:"status"`
	Questions []graph.Question  `json:"questions,omitzero"`
	Breaks    []string          `json:"breaks,omitzero"`
	State     json.RawMessage   `json:"state"`
}

func run(c *call) func() error {
	c.threadFlags(true)
	o, _ := c.runFlags()
	o.Meta = map[string]string{}
	input := c.flags.String("input", "", "fields of the state, a `JSON` object; @FILE reads it from a file, - from the input")
	c.flags.StringVar(&o.Owner, "owner", "", "`user` that a new thread belongs to")
	c.flags.StringVar(&o.Request, "request", "", "`id` of the request: the same one starts nothing twice")
	c.flags.Func("on-busy", "what to do on a thread that has a run: `reject` (default), enqueue or preempt", func(s string) error {
		o.OnBusy = graph.BusyPolicy(s)
		return nil
	})
	c.flags.Func("meta", "metadata of the run, as `key=value`; may be repeated", addMeta(o.Meta))
	return func() error {
		doc, err := c.document(*input)
		if err != nil {
			return err
		}
		if len(o.Meta) == 0 {
			o.Meta = nil
		}
		return c.outcome(c.view.With(*o).Run(c.ctx, c.thread(), doc))
	}
}

// runFlags declares what run and resume share.
func (c *call) runFlags() (*graph.RunOptions, *string) {
	o := &graph.RunOptions{}
	c.flags.StringVar(&o.By, "by", "", "`name` of the person; it is recorded")
	c.flags.IntVar(&o.StepLimit, "steps", 0, "at most `n` supersteps; default: as the program says")
	return o, &o.By
}

func resume(c *call) func() error {
	c.threadFlags(true)
	o, _ := c.runFlags()
	return func() error { return c.outcome(c.view.With(*o).Resume(c.ctx, c.thread())) }
}

// outcome prints how a run ended. One that waits has not failed.
func (c *call) outcome(doc json.RawMessage, err error) error {
	out := outcome{Thread: c.thread(), Status: checkpoint.Completed, State: doc}
	if waits, ok := errors.AsType[*graph.Interrupted](err); ok && waits.Err == nil {
		out.Status, out.Questions, out.Breaks, err = checkpoint.Interrupted, waits.Questions, waits.Breaks, nil
	}
	if err != nil {
		return err
	}
	if len(out.State) == 0 {
		st, err := c.view.State(c.ctx, c.thread())
		if err != nil {
			return err
		}
		out.State = st.JSON
	}
	if c.json {
		return c.emit(out)
	}
	st := &graph.ThreadInfo{Questions: out.Questions}
	var f facts
	f.say("thread", out.Thread.String())
	f.say("status", out.Status.String())
	for _, b := range out.Breaks {
		f.say("break", b)
	}
	describeWork(&f, st)
	return c.print("%s\n%s", f.String(), stateText(out.State))
}

// recovered is what recover prints of a thread.
type recovered struct {
	Thread graph.Thread `json:"thread"`
	Error  string       `json:"error,omitzero"` // why it stopped, if it has not completed
}

func recoverAll(c *call) func() error {
	return func() error {
		list, err := c.view.Recover(c.ctx)
		for _, r := range list {
			row := recovered{Thread: r.Thread}
			text := "completed"
			if r.Err != nil {
				row.Error = r.Err.Error()
				text = row.Error
			}
			if err := c.say(row, "%s: %s", r.Thread, text); err != nil {
				return err
			}
		}
		if len(list) == 0 && err == nil && !c.json {
			return c.print("nothing was left over\n")
		}
		return err
	}
}

// drawing is what draw prints with -json.
type drawing struct {
	Graph   string `json:"graph"`
	Picture string `json:"picture"`
}

func draw(c *call) func() error {
	dot := c.flags.Bool("dot", false, "for Graphviz instead of Mermaid")
	return func() error {
		picture := c.view.Mermaid()
		if *dot {
			picture = c.view.DOT()
		}
		if c.json {
			return c.emit(drawing{c.view.Name(), picture})
		}
		return c.print("%s", picture)
	}
}
