package graphcli

import (
	"cmp"
	"flag"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// A command of the command line.
type command struct {
	name        string
	args        string // as they are shown
	least, most int    // how many
	short       string // one line of help
	program     bool   // it needs the program
	setup       func(*call) func() error
}

// many is more arguments than anybody gives.
const many = 1 << 20

// commands lists all, in the order in which help shows them.
func commands() []*command {
	return []*command{
		{"threads", "", 0, 0, "list threads", false, threads},
		{"runs", "[THREAD]", 0, 1, "list runs", false, runs},
		{"questions", "[THREAD]", 0, 1, "list questions over all threads, oldest first", false, questions},
		{"show", "THREAD", 1, 1, "show a thread: its state, what is next, what is open", false, show},
		{"history", "THREAD", 1, 1, "list a thread's entries, newest first", false, history},
		{"diff", "THREAD FROM [TO]", 2, 3, "show what changed in the state between two entries", false, diff},
		{"answer", "THREAD [QUESTION]", 1, 2, "answer a question", false, answer},
		{"fork", "THREAD [ENTRY]", 1, 2, "make a branch that begins with an entry", false, fork},
		{"edit", "THREAD [ENTRY]", 1, 2, "write to the state and say what comes next", false, edit},
		{"activate", "THREAD BRANCH", 2, 2, "make a branch the active one", false, activate},
		{"cancel", "THREAD [RUN]", 1, 2, "end a run for good", false, cancel},
		{"retain", "[THREAD]", 0, 1, "remove old entries", false, retain},
		{"delete", "THREAD", 1, 1, "remove a thread and all of it", false, remove},
		{"anchor", "THREAD...", 1, many, "print where the chains of signed threads end", false, anchor},
		{"verify", "[THREAD...]", 0, many, "check records, chains, MACs and anchors", false, verify},
		{"export", "THREAD", 1, 1, "print all of a thread as JSON lines", false, export},
		{"run", "THREAD", 1, 1, "start a run", true, run},
		{"resume", "THREAD", 1, 1, "continue a run", true, resume},
		{"recover", "", 0, 0, "continue what was left over", true, recoverAll},
		{"draw", "", 0, 0, "draw the graph", true, draw},
	}
}

func find(name string) *command {
	for _, c := range commands() {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (c *command) takes() string { return cmp.Or(c.args, "no argument") }

// help lists the commands, or explains one.
func (c *call) help(args []string) error {
	if len(args) > 0 {
		cmd := find(args[0])
		if cmd == nil {
			return &usageError{"help", fmt.Sprintf("there is no command %q", args[0])}
		}
		c.prepare(cmd)
		return c.usage()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s COMMAND [FLAGS] [ARGUMENTS]\n\n", c.name)
	for _, cmd := range commands() {
		if !cmd.program || !c.view.Bare() {
			fmt.Fprintf(&b, "  %-10s %s\n", cmd.name, cmd.short)
		}
	}
	fmt.Fprintf(&b, "\n%s COMMAND -h explains one.\nExit codes: 0 done, 1 refused or failed, 2 usage.\n", c.name)
	_, err := fmt.Fprint(c.out, b.String())
	return err
}

// usage explains the command.
func (c *call) usage() error {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n%s\n\n", strings.TrimSpace(c.name+" "+c.command.name+" [FLAGS] "+c.command.args), c.command.short)
	c.flags.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		head := "-" + strings.TrimSpace(f.Name+" "+value)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
			text += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		for _, line := range textwidth.Wrap(text, columnsWide-24, "") {
			fmt.Fprintf(&b, "  %s  %s\n", textwidth.Pad(head, 20), line)
			head = ""
		}
	})
	_, err := fmt.Fprint(c.out, b.String())
	return err
}
