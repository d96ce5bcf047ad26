package graphcli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/graph"
)

// Main runs the command line of the process on a View, closes the View, and exits with the code of Run. An interrupt or a
// SIGTERM stops a run resumably. Deferred functions of the caller do not run, which takes nothing from what is stored.
func Main(view *graph.View) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Run(ctx, view, os.Args, os.Stdin, os.Stdout, os.Stderr)
	stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := view.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// Run runs one command and returns its exit code. args are as in os.Args: the name of the program comes first, and is used in
// what is shown. The View stays open.
func Run(ctx context.Context, view *graph.View, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	name := "holdfast"
	if len(args) > 0 {
		name, args = filepath.Base(args[0]), args[1:]
	}
	c := &call{ctx: ctx, view: view, name: name, in: stdin, out: stdout}
	err := c.run(args)
	usage := (*usageError)(nil)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %s\n", name, safe(usage.text))
		fmt.Fprintf(stderr, "%s -h says how\n", strings.TrimSpace(name+" "+usage.command))
		return 2
	}
	fmt.Fprintf(stderr, "%s: %s\n", name, lines(err.Error()))
	return 1
}

// A usageError is a command line that is none.
type usageError struct{ command, text string }

func (e *usageError) Error() string { return e.text }

// A call is one command on its way.
type call struct {
	ctx  context.Context
	view *graph.View
	name string // of the program
	in   io.Reader
	out  io.Writer

	command *command
	flags   *flag.FlagSet
	args    []string
	json    bool
	tenant  string
	branch  string
}

func (c *call) run(args []string) error {
	if len(args) == 0 {
		return &usageError{"help", "say what to do"}
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "-help" || args[0] == "--help" {
		return c.help(args[1:])
	}
	cmd := find(args[0])
	switch {
	case cmd == nil:
		return &usageError{"help", fmt.Sprintf("there is no command %q", args[0])}
	case cmd.program && c.view.Bare():
		return fmt.Errorf("%s: %w", cmd.name, graph.ErrNoProgram)
	}
	do := c.prepare(cmd)
	switch err := c.parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return c.usage()
	case err != nil:
		return err
	}
	return do()
}

// prepare declares the flags of a command and returns what does it.
func (c *call) prepare(cmd *command) func() error {
	c.command, c.flags = cmd, flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	c.flags.SetOutput(io.Discard)
	c.flags.BoolVar(&c.json, "json", false, "one JSON object a line")
	return cmd.setup(c)
}

// parse takes flags before and behind the arguments; what follows "--" is arguments.
func (c *call) parse(args []string) error {
	for {
		if err := c.flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return err
			}
			return c.wrong("%v", err)
		}
		rest := c.flags.Args()
		if used := len(args) - len(rest); used > 0 && args[used-1] == "--" {
			c.args = append(c.args, rest...)
			break
		}
		if len(rest) == 0 {
			break
		}
		c.args, args = append(c.args, rest[0]), rest[1:]
	}
	if n := len(c.args); n < c.command.least || n > c.command.most {
		return c.wrong("it takes %s, and was given %d argument(s)", c.command.takes(), n)
	}
	return nil
}

// wrong is a usage error of the command.
func (c *call) wrong(format string, args ...any) error {
	return &usageError{c.command.name, c.command.name + ": " + fmt.Sprintf(format, args...)}
}

// threadFlags declares the flags that complete a thread's id.
func (c *call) threadFlags(branch bool) {
	c.flags.StringVar(&c.tenant, "tenant", graph.SingleTenant, "`tenant` of the thread")
	if branch {
		c.flags.StringVar(&c.branch, "branch", "", "`branch` of the thread; default: the active one")
	}
}

// thread is the one that the first argument names.
func (c *call) thread() graph.Thread {
	return graph.Thread{Tenant: c.tenant, ID: c.args[0], Branch: c.branch}
}
