package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/boxes"
)

// A memoryCommand works on the boxes of memory, beside the threads. It parses its arguments before it touches them.
type memoryCommand struct {
	args  string // as they are shown
	short string // one line of help
	run   func(c *call, args []string) error
}

// memoryCommands are all of them, by name.
var memoryCommands = map[string]memoryCommand{
	"audit":   {"list|verify|anchor -tenant TENANT", "who read and wrote what, whether the log is whole, how far it has come", (*call).audit},
	"compact": {"", "write the files of the stores anew, without what was deleted", (*call).compact},
	"erase":   {"USER", "erase all that there is of a user, and print a receipt", (*call).erase},
	"readmit": {"USER", "let a user in again who was erased", (*call).readmit},
	"why":     {`USER "WORDS"`, "explain why an agent did not remember what a user said", (*call).explain},
}

// A call is one of them on its way.
type call struct {
	ctx     context.Context
	o       *options
	name    string
	cmd     memoryCommand
	out     io.Writer
	threads checkpoint.Store // nil: there is no URL of one
	boxes   *boxes.Boxes
}

// errUsage is wrapped by errors of a command line that is none.
var errUsage = errors.New("usage")

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

// runMemory opens what the command works on, runs it, and returns the exit code.
func runMemory(ctx context.Context, o *options, args []string, stdout, stderr io.Writer) int {
	c := &call{ctx: ctx, o: o, name: args[0], cmd: memoryCommands[args[0]], out: stdout}
	var err error
	if !asksForHelp(args) { // which needs nothing that is opened
		err = c.open()
	}
	if err == nil {
		err = c.cmd.run(c, args[1:])
	}
	err = errors.Join(err, c.close())
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, "\nholdfast %s %s: %s\n", c.name, c.cmd.args, c.cmd.short)
		return 0
	}
	fmt.Fprintf(stderr, "holdfast: %v\n", err)
	if errors.Is(err, errUsage) || errors.Is(err, errNoStore) {
		return 2
	}
	return 1
}

// open opens the threads, where there is a URL for them, and the boxes: at the URLs of -memory, or else where the threads are.
func (c *call) open() error {
	url, memory := c.o.url(), c.o.memories()
	if url == "" && len(memory) == 0 {
		return errNoStore
	}
	if url != "" {
		threads, err := c.o.open(c.ctx)
		if err != nil {
			return err
		}
		c.threads = threads
	}
	var err error
	c.boxes, err = boxes.Open(c.ctx, memory...)
	return err
}

func (c *call) close() error {
	var errs []error
	if c.boxes != nil {
		errs = append(errs, c.boxes.Close())
	}
	if c.threads != nil {
		errs = append(errs, c.threads.Close())
	}
	return errors.Join(errs...)
}

// parse reads the flags of the command, before and behind its arguments, and returns the latter, of which there must be n.
func (c *call) parse(f *flag.FlagSet, args []string, n int) (rest []string, err error) {
	f.SetOutput(io.Discard)
	for len(args) > 0 {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				f.SetOutput(c.out)
				f.PrintDefaults()
				return nil, err
			}
			return nil, usagef("%s: %v", c.name, err)
		}
		if args = f.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	if len(rest) != n {
		return nil, usagef("%s takes %s", c.name, c.cmd.args)
	}
	return rest, nil
}

// memories are the URLs of the boxes: those of -memory, or else the one of the threads, unless that is of a store that keeps no boxes.
func (o *options) memories() []string {
	if len(o.memory) > 0 {
		return o.memory
	}
	if text := o.env("HOLDFAST_MEMORY"); text != "" {
		return strings.Split(text, ",")
	}
	if url := o.url(); url != "" && !strings.HasPrefix(url, "redis") {
		return []string{url}
	}
	return nil
}
