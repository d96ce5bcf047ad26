package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/holdfast-go/holdfast/memory/audit"
)

// errNoAudit is returned where none of the places has a log.
var errNoAudit = errors.New("there is no audit log here: open one with memory/audit/sqlite or memory/audit/postgres, or name its place with -memory")

// audit lists entries of the audit log, verifies it, or says how far it has come.
func (c *call) audit(args []string) error {
	verbs := map[string]func([]string) error{"list": c.auditList, "verify": c.auditVerify, "anchor": c.auditAnchor}
	if len(args) > 0 && asksForHelp(args[:1]) {
		for _, name := range []string{"list", "verify", "anchor"} {
			fmt.Fprintf(c.out, "audit %s:\n", name)
			if err := verbs[name]([]string{"-h"}); !errors.Is(err, flag.ErrHelp) {
				return err
			}
		}
		return flag.ErrHelp
	}
	if len(args) == 0 || verbs[args[0]] == nil {
		return usagef("audit takes %s", c.cmd.args)
	}
	return verbs[args[0]](args[1:])
}

// auditFlags declares what all three take.
func auditFlags(tenant *string, asJSON *bool) *flag.FlagSet {
	f := flag.NewFlagSet("audit", flag.ContinueOnError)
	f.StringVar(tenant, "tenant", "", "whose log; required")
	f.BoolVar(asJSON, "json", false, "print one JSON object a line")
	return f
}

// auditLog parses the flags and returns the log.
func (c *call) auditLog(f *flag.FlagSet, args []string, tenant *string) (*audit.Log, error) {
	if _, err := c.parse(f, args, 0); err != nil {
		return nil, err
	}
	if *tenant == "" {
		return nil, usagef("audit: whose log? Say -tenant TENANT")
	}
	if c.boxes.Audit == nil {
		return nil, errNoAudit
	}
	return c.boxes.Audit, nil
}

func (c *call) auditList(args []string) error {
	var q audit.Filter
	var asJSON bool
	f := auditFlags(&q.Tenant, &asJSON)
	f.StringVar(&q.User, "user", "", "only this user")
	f.StringVar(&q.Agent, "agent", "", "only on behalf of this agent")
	f.StringVar(&q.Box, "box", "", "only session, longterm, knowledge, or audit for what was done to the log")
	f.StringVar(&q.Conversation, "conversation", "", "only in this conversation")
	f.StringVar(&q.Item, "item", "", "only what returned or wrote this `id`")
	f.Func("from", "only since this `time`: 2006-01-02 or 2006-01-02T15:04:05Z", timeFlag(&q.From))
	f.Func("to", "only before this `time`", timeFlag(&q.To))
	f.Int64Var(&q.After, "after", 0, "only behind the entry of this `number`")
	f.IntVar(&q.Limit, "limit", 100, "at most so many, up to 1000")
	log, err := c.auditLog(f, args, &q.Tenant)
	if err != nil {
		return err
	}
	entries, err := log.List(c.ctx, q)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(c.out, entries)
	}
	return printEntries(c.out, entries, q.Limit)
}

func timeFlag(to *time.Time) func(string) error {
	return func(s string) (err error) {
		if *to, err = time.Parse(time.RFC3339, s); err != nil {
			*to, err = time.Parse(time.DateOnly, s)
		}
		if err != nil {
			return errors.New("it is neither 2006-01-02 nor 2006-01-02T15:04:05Z")
		}
		return nil
	}
}

func printJSON[T any](out io.Writer, rows []T) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func printEntries(out io.Writer, entries []audit.Entry, limit int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "N\tAT\tUSER\tAGENT\tDID\tRESULT\tOF")
	for _, e := range entries {
		user, did := e.User, "reads"
		if user == "" && e.Token != "" {
			user = "(forgotten)"
		}
		if e.Write {
			did = "writes"
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s %s.%s\t%s\t%s\n", e.N, e.At.UTC().Format(time.DateTime), visible(user), visible(e.Agent), did,
			visible(e.Box), visible(e.Verb), visible(e.Result), visible(of(e)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(entries) > 0 && len(entries) >= min(max(limit, 1), 1000) {
		fmt.Fprintf(out, "there may be more: -after %d\n", entries[len(entries)-1].N)
	}
	return nil
}

// of is the conversation and the items of an entry.
func of(e audit.Entry) string {
	parts := append([]string(nil), e.Items...)
	if e.More > 0 {
		parts = append(parts, fmt.Sprintf("+%d", e.More))
	}
	text := strings.Join(parts, ", ")
	if e.Conversation != "" {
		text = strings.TrimSuffix(e.Conversation+": "+text, ": ")
	}
	return text
}

// visible is a text without what could act on a terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

func (c *call) auditVerify(args []string) error {
	var tenant string
	var asJSON bool
	var anchors []audit.Anchor
	f := auditFlags(&tenant, &asJSON)
	f.Func("anchor", "a `file` of anchors that the chain must go through, also several times", func(name string) error {
		more, err := readAnchors(name)
		anchors = append(anchors, more...)
		return err
	})
	log, err := c.auditLog(f, args, &tenant)
	if err != nil {
		return err
	}
	n, err := log.Verify(c.ctx, tenant, anchors...)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(c.out, []verified{{tenant, n, len(anchors)}})
	}
	fmt.Fprintf(c.out, "%d entries, whole\n", n)
	if len(anchors) == 0 {
		fmt.Fprintln(c.out, "without an anchor: who may write to the tables could have made the end anew")
	}
	return nil
}

// verified is what verify prints.
type verified struct {
	Tenant  string `json:"tenant"`
	Entries int64  `json:"entries"`
	Anchors int    `json:"anchors"`
}

func readAnchors(name string) (out []audit.Anchor, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var a audit.Anchor
		err := d.Decode(&a)
		switch {
		case err == io.EOF && len(out) > 0:
			return out, nil
		case err != nil || a.Tenant == "":
			return nil, fmt.Errorf("%s has no anchors as \"audit anchor\" prints them", name)
		}
		out = append(out, a)
	}
}

func (c *call) auditAnchor(args []string) error {
	var tenant string
	var asJSON bool // it always is
	log, err := c.auditLog(auditFlags(&tenant, &asJSON), args, &tenant)
	if err != nil {
		return err
	}
	a, err := log.Anchor(c.ctx, tenant)
	if err != nil {
		return err
	}
	return printJSON(c.out, []audit.Anchor{a})
}
