package graphcli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// A changed thread, as fork, edit, activate and cancel print it.
type changed struct {
	Thread graph.Thread      `json:"thread"`
	Status checkpoint.Status `json:"status"`
}

// changed prints a thread as it stands after a change.
func (c *call) changed(th graph.Thread, what string) error {
	st, err := c.view.State(c.ctx, th)
	if err != nil {
		return err
	}
	name := th.String()
	if th.Branch != "" {
		name += " branch " + th.Branch
	}
	return c.say(changed{th, st.Status}, "%s: %s is %s", what, name, st.Status)
}

// forkFlags declares what a fork needs.
func (c *call) forkFlags(name string) *graph.ForkOptions {
	o := &graph.ForkOptions{}
	c.flags.StringVar(&o.Name, name, "", "`name` of the new branch; default: fork-1, edit-1 and so on")
	c.flags.Func("effects", "what becomes of effects that were recorded behind the entry: `reuse` or rerun", func(s string) error {
		o.Effects = graph.Effects(s)
		return nil
	})
	return o
}

func fork(c *call) func() error {
	c.threadFlags(true)
	o := c.forkFlags("name")
	by := c.byFlag()
	in := c.childFlag()
	return func() error {
		entry, err := c.entryArg(1)
		if err != nil {
			return err
		}
		o.Child = *in
		to, err := c.view.With(graph.RunOptions{By: *by}).Fork(c.ctx, c.thread(), entry, *o)
		if err != nil {
			return err
		}
		return c.changed(to, "forked")
	}
}

func (c *call) byFlag() *string {
	return c.flags.String("by", "", "`name` of the person; it is recorded")
}

func edit(c *call) func() error {
	c.threadFlags(true)
	o := graph.EditOptions{}
	branch := c.forkFlags("name")
	by := c.byFlag()
	set := c.flags.String("set", "", "fields to write, a `JSON` object; @FILE reads it from a file, - from the input")
	next := c.flags.String("next", "", "`nodes` that come next, separated by commas; "+graph.End+" for none")
	as := c.flags.String("as", "", "the open task, by id or node, that the edit is the result of; with the program any `node`")
	unseen := c.flags.Bool("unseen", false, "take nodes that the thread has never named")
	return func() error {
		entry, err := c.entryArg(1)
		if err != nil {
			return err
		}
		doc, err := c.document(*set)
		if err != nil {
			return err
		}
		if *next == "" && c.view.Bare() {
			return c.wrong("say which nodes come next: -next NODE,... or -next %s; routes are code, and the program is not here", graph.End)
		}
		if *next != "" {
			nodes := strings.Split(*next, ",")
			o.Goto = graph.To(nodes...)
			if err := c.known(nodes, *unseen); err != nil {
				return err
			}
		}
		o.Fork = *branch
		to, err := c.view.With(graph.RunOptions{By: *by}).Edit(c.ctx, c.thread(), entry, *as, doc, o)
		if err != nil {
			return err
		}
		return c.changed(to, "edited")
	}
}

// known refuses nodes that no branch of the thread names: without the program a slip would schedule a node that nobody has.
func (c *call) known(nodes []string, unseen bool) error {
	if unseen || !c.view.Bare() {
		return nil
	}
	seen, err := c.named()
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if !slices.Contains(seen, n) {
			slices.Sort(seen)
			return fmt.Errorf("the thread has never named a node %q; it has named %s; -unseen takes it anyway", n, strings.Join(slices.Compact(seen), ", "))
		}
	}
	return nil
}

// named are the nodes that the histories of a thread's branches name, and End.
func (c *call) named() ([]string, error) {
	names := []string{graph.End}
	st, err := c.view.State(c.ctx, c.thread())
	if err != nil {
		return nil, err
	}
	branches := st.Branches
	if len(branches) == 0 {
		branches = []graph.BranchInfo{{Name: graph.Main}}
	}
	for _, b := range branches {
		th := c.thread()
		th.Branch = b.Name
		for e, err := range c.view.History(c.ctx, th) {
			if err != nil {
				return nil, err
			}
			names = append(append(append(names, e.Tasks...), e.Next...), e.Gone...)
		}
	}
	return names, nil
}

// document is a JSON document from the command line, a file or the input. None is nil.
func (c *call) document(text string) (json.RawMessage, error) {
	var err error
	doc := []byte(text)
	if name, ok := strings.CutPrefix(text, "@"); ok {
		doc, err = os.ReadFile(name)
	} else if text == "-" {
		doc, err = io.ReadAll(c.in)
	}
	if err != nil {
		return nil, err
	}
	if len(doc) > 0 && !json.Valid(doc) {
		return nil, c.wrong("%.40q is no JSON document", doc)
	}
	return doc, nil
}

func activate(c *call) func() error {
	c.threadFlags(false)
	return func() error {
		th := c.thread()
		th.Branch = c.args[1]
		if err := c.view.Activate(c.ctx, th); err != nil {
			return err
		}
		return c.changed(th, "activated")
	}
}

func cancel(c *call) func() error {
	c.threadFlags(true)
	by := c.byFlag()
	return func() (err error) {
		v := c.view.With(graph.RunOptions{By: *by})
		if len(c.args) > 1 {
			err = v.CancelRun(c.ctx, c.thread(), c.args[1])
		} else {
			err = v.Cancel(c.ctx, c.thread())
		}
		if err != nil {
			return err
		}
		// Whoever holds the thread, or is needed to fold what has finished, cancels it later.
		return c.changed(c.thread(), "cancel is given")
	}
}
