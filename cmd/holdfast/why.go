package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/internal/textwidth"
	"github.com/holdfast-go/holdfast/memory"
)

// labelFlag declares a flag that takes the name of a label.
func labelFlag(f *flag.FlagSet, name string, def memory.Label, usage string) *memory.Label {
	l := def
	f.Func(name, usage, func(s string) error {
		for _, known := range []memory.Label{memory.Public, memory.Internal, memory.Secret} {
			if s == known.String() {
				l = known
				return nil
			}
		}
		return fmt.Errorf("a label is public, internal or secret")
	})
	return &l
}

func (c *call) explain(args []string) error {
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	tenant, threads := userFlags(f)
	namespaces := f.String("agent-namespaces", "", "`namespaces` that the agent keeps memories in, separated by commas (required)")
	clearance := labelFlag(f, "clearance", memory.Secret, "`label` up to which you may see: public, internal or secret (default secret)")
	reader := labelFlag(f, "reader", memory.Secret, "`label` up to which the agent may see that did not remember (default secret)")
	asked := f.String("asked", "", "`text` that the memory should have come up for (default: the last message of the turn)")
	conversation := f.String("conversation", "", "`id` of the one in which it was missed (default: the latest)")
	chinese := f.Bool("zh", false, "explain in Chinese")
	asJSON := f.Bool("json", false, "print it as JSON")
	rest, err := c.parse(f, args, 2)
	if err != nil {
		return err
	}
	q := govern.Question{Words: rest[1], Asked: *asked, Conversation: *conversation}
	if q.Scope, err = memory.NewScope(*tenant, rest[0]); err != nil {
		return usagef("%v", err)
	}
	if *namespaces == "" {
		return usagef("why needs -agent-namespaces: those in which the agent keeps what it remembers")
	}
	if q.Agent, err = memory.NewAgent("holdfast", *clearance, strings.Split(*namespaces, ",")...); err != nil {
		return usagef("%v", err)
	}
	if q.Reader, err = memory.NewAgent("reader", *reader, q.Agent.Namespaces()...); err != nil {
		return usagef("%v", err)
	}
	e, err := govern.Boxes{Session: c.boxes.Session, Longterm: c.boxes.Longterm, Threads: c.threads, Tenant: *threads}.Why(c.ctx, q)
	if err != nil {
		return err
	}
	if *asJSON {
		return json.NewEncoder(c.out).Encode(e)
	}
	c.tell(e, *chinese)
	return nil
}

// columns is how wide an explanation is.
const columns = 80

// tell prints an explanation for people.
func (c *call) tell(e govern.Explanation, chinese bool) {
	line := func(head, text string) {
		head = textwidth.Pad(head, 11) + " "
		for _, l := range textwidth.Wrap(head+text, columns, strings.Repeat(" ", textwidth.Of(head))) {
			fmt.Fprintln(c.out, l)
		}
	}
	line(string(e.Cause)+":", e.Line(chinese))
	fmt.Fprintln(c.out)
	marks := map[govern.Verdict]string{govern.Passed: "+ ", govern.Stopped: "x ", govern.Unknown: "? ", govern.Beyond: "- "}
	told := map[string]bool{}
	for _, s := range e.Stages {
		text := s.English
		if chinese {
			text = s.Chinese
		}
		line(marks[s.Verdict]+string(s.Name), text)
		for _, f := range s.Found {
			var fresh []string
			for _, d := range detailsOf(f) {
				if !told[d] && !strings.Contains(text, d) {
					fresh, told[d] = append(fresh, d), true
				}
			}
			if len(fresh) > 0 {
				line("", strings.Join(fresh, ", "))
			}
		}
	}
	if p := e.Prompt; p != nil {
		fmt.Fprintln(c.out)
		line("prompt", fmt.Sprintf("run %s, step %d, %s; %d tokens of at most %d, %d if nothing had been left out", p.Run, p.Step,
			p.At.UTC().Format("2006-01-02 15:04:05"), p.After, p.Limit, p.Before))
		for _, r := range p.Read {
			line("read", fmt.Sprintf("%s: %d told, %d shortened, %d left out", r.Source, len(r.Kept), len(r.Shortened), len(r.Dropped)))
		}
	}
}

// detailsOf are the parts of a finding, without its id and where it stands.
func detailsOf(f govern.Finding) (parts []string) {
	add := func(is bool, format string, args ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(f.Text != "", "%q", textwidth.Clip(f.Text, 60))
	add(f.State != "", "%s", f.State)
	add(f.Reason != "", "%s", f.Reason)
	add(f.By != "", "then %s", f.By)
	add(f.Rank > 0, "rank %d of %d that were taken", f.Rank, f.Of)
	add(f.Score > 0, "score %.4f", f.Score)
	add(f.Cosine > 0, "cosine %.2f", f.Cosine)
	add(f.Rank > 0 && f.Coverage > 0, "has %.0f %% of the question", 100*f.Coverage)
	add(f.Rank > 0 && f.Decay > 0 && f.Decay < 1, "decay %.2f", f.Decay)
	add(f.Tokens > 0, "%d of %d tokens", f.Sent, f.Tokens)
	return parts
}
