package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"text/tabwriter"

	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
)

// userFlags declares the flags that complete a user.
func userFlags(f *flag.FlagSet) (tenant, threads *string) {
	return f.String("tenant", graph.SingleTenant, "`tenant` of the user"),
		f.String("threads", "", "`tenant` of the user's threads, if it is another")
}

// eachBox are those that are there, with threads in a tenant.
func (c *call) eachBox(threads string) (all []govern.Box) {
	if c.threads != nil {
		all = append(all, govern.Box{Name: "threads", Eraser: govern.Threads(c.threads, threads)})
	}
	if c.boxes.Session != nil {
		all = append(all, govern.Box{Name: "session", Eraser: c.boxes.Session})
	}
	if c.boxes.Longterm != nil {
		all = append(all, govern.Box{Name: "longterm", Eraser: c.boxes.Longterm})
	}
	if c.boxes.Audit != nil {
		all = append(all, govern.Box{Name: "audit", Eraser: c.boxes.Audit})
	}
	return all
}

func (c *call) erase(args []string) error {
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	tenant, threads := userFlags(f)
	yes := f.Bool("yes", false, "do it: there is no way back")
	asJSON := f.Bool("json", false, "print the receipt as JSON")
	rest, err := c.parse(f, args, 1)
	if err != nil {
		return err
	}
	sc, err := memory.NewScope(*tenant, rest[0])
	if err != nil {
		return usagef("%v", err)
	}
	if !*yes {
		return usagef("erase removes all that there is of %v, for good: say -yes", sc)
	}
	r, err := govern.Erase(c.ctx, sc, c.eachBox(*threads)...)
	if errors.Is(err, govern.ErrBoxes) {
		return errors.New("there is no box at these URLs")
	}
	return errors.Join(err, c.print(r, *asJSON))
}

func (c *call) print(r govern.Receipt, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(c.out).Encode(r)
	}
	const layout = "2006-01-02 15:04:05.000"
	fmt.Fprintf(c.out, "scope    %s\nstarted  %s\nended    %s\n\n", r.Scope, r.Started.Format(layout), r.Ended.Format(layout))
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "BOX\tFOUND\tLEFT\tERROR")
	for _, b := range r.Boxes {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", b.Box, b.Found, b.Left, b.Error)
	}
	return w.Flush()
}

func (c *call) readmit(args []string) error {
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	tenant, threads := userFlags(f)
	rest, err := c.parse(f, args, 1)
	if err != nil {
		return err
	}
	sc, err := memory.NewScope(*tenant, rest[0])
	if err != nil {
		return usagef("%v", err)
	}
	return govern.Readmit(c.ctx, sc, c.eachBox(*threads)...)
}

func (c *call) compact(args []string) error {
	if _, err := c.parse(flag.NewFlagSet(c.name, flag.ContinueOnError), args, 0); err != nil {
		return err
	}
	var all []govern.Compacter
	if s, ok := c.threads.(govern.Compacter); ok {
		all = append(all, s)
	}
	if b := c.boxes; b.Session != nil {
		all = append(all, b.Session)
	}
	if b := c.boxes; b.Longterm != nil {
		all = append(all, b.Longterm)
	}
	if b := c.boxes; b.Knowledge != nil {
		all = append(all, b.Knowledge)
	}
	if b := c.boxes; b.Audit != nil {
		all = append(all, b.Audit)
	}
	return govern.Compact(c.ctx, all...)
}
