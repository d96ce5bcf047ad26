package graphcli

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// A shown is a thread as show prints it.
type shown struct {
	*graph.ThreadInfo
	Graph  string             `json:"graph"`
	Holder *checkpoint.Holder `json:"holder,omitzero"` // who works on it
	Lost   bool               `json:"lost,omitzero"`   // and has not renewed the lease
	Inbox  []commandRow       `json:"inbox,omitzero"`  // what waits for whoever goes on with it
}

// A commandRow is a command that waits: an input, a cancel or a drain.
type commandRow struct {
	N    int64      `json:"n"`
	Kind string     `json:"kind"`
	Run  string     `json:"run,omitzero"` // that is to start, or to end
	By   string     `json:"by,omitzero"`
	At   *time.Time `json:"at,omitzero"`
}

// commandRows reads an inbox. What this release does not know has its letter.
func commandRows(cmds []checkpoint.Command) (out []commandRow) {
	names := map[checkpoint.CommandKind]string{
		checkpoint.CommandInput: "input", checkpoint.CommandCancel: "cancel", checkpoint.CommandDrain: "drain",
	}
	for i := range cmds {
		m := &cmds[i]
		row := commandRow{N: m.N, Kind: cmp.Or(names[m.Kind], string(rune(m.Kind))), At: stamp(m.At)}
		var b struct{ Run, By string }
		if json.Unmarshal(newBody(m.Body).JSON, &b) == nil {
			row.Run, row.By = b.Run, b.By
		}
		out = append(out, row)
	}
	return out
}

// entryArg is the entry that an argument names; -1, the head, without one.
func (c *call) entryArg(i int) (int64, error) {
	if i >= len(c.args) {
		return -1, nil
	}
	return c.entry(c.args[i])
}

func (c *call) entry(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, c.wrong("%q is no entry; history lists them", text)
	}
	return n, nil
}

func show(c *call) func() error {
	c.threadFlags(true)
	at := c.flags.Int64("at", -1, "the state at this `entry`; default: the head")
	return func() error {
		st, err := c.view.StateAt(c.ctx, c.thread(), *at)
		if err != nil {
			return err
		}
		out := &shown{ThreadInfo: st}
		if err := c.complete(out); err != nil {
			return err
		}
		if c.json {
			return c.emit(out)
		}
		return c.print("%s", out.text())
	}
}

// complete adds what the head says.
func (c *call) complete(out *shown) error {
	s, err := c.store()
	if err != nil {
		return err
	}
	th := c.thread()
	l, err := headOf(c.ctx, s, checkpoint.Key{Tenant: th.Tenant, Thread: th.ID})
	if err != nil {
		return err
	}
	out.Graph, out.Lost, out.Inbox = l.Head.Graph, l.Head.Expired, commandRows(l.Inbox)
	if l.Head.Held() {
		out.Holder = &l.Head.Holder
	}
	return nil
}

// text is a thread for people.
func (s *shown) text() string {
	var f facts
	name := s.Thread.String()
	if s.Thread.Branch != "" {
		name += " branch " + s.Thread.Branch
	}
	f.say("thread", name)
	f.say("graph", s.Graph)
	status := s.Status.String()
	if s.Reason != "" {
		status += " (" + s.Reason + ")"
	}
	f.say("status", status)
	if h := s.Holder; h != nil {
		f.add("holder", "process %d on %s%s", h.PID, h.Host, map[bool]string{true: ", which has not renewed its lease"}[s.Lost])
	}
	f.add("entry", "%d, step %d of run %s", s.Entry, s.Step, s.Run)
	for _, fact := range [][2]string{{"owner", s.Owner}, {"meta", meta(s.Meta)}, {"error", s.Error}} {
		if fact[1] != "" {
			f.say(fact[0], fact[1])
		}
	}
	describeWork(&f, s.ThreadInfo)
	for _, m := range s.Inbox {
		f.say("inbox", strings.TrimSpace(fmt.Sprintf("%s of run %s %s", m.Kind, m.Run, map[bool]string{true: "by " + m.By}[m.By != ""])))
	}
	for _, k := range s.Children {
		f.say("child", childText(k))
	}
	for _, b := range s.Branches {
		f.say("branch", branchText(b))
	}
	text := f.String() + "\n" + stateText(s.JSON)
	for _, k := range s.Children {
		text += "\n" + safe(strings.Join(k.Path, "/")) + ":\n" + stateText(k.State)
	}
	return text
}

// childText is a child graph in one line, with the name that -child takes.
func childText(k graph.ChildInfo) string {
	in, err := json.Marshal(k.In)
	if err != nil { // strings always encode
		panic(err)
	}
	text := fmt.Sprintf("%s, entry %d, -child '%s'", strings.Join(k.Path, "/"), k.Entry, in)
	for _, t := range k.Next {
		text += ", next " + taskText(t)
	}
	return text
}

// describeWork says what is next and what is open.
func describeWork(f *facts, st *graph.ThreadInfo) {
	for _, t := range st.Next {
		f.say("next", taskText(t))
	}
	for _, q := range st.Questions {
		f.say("question", questionText(q))
	}
	for _, j := range st.Joins {
		f.add("join", "%s has %s, waits for %s", j.To, strings.Join(j.Have, ", "), strings.Join(j.Missing, ", "))
	}
	if len(st.Unknown) > 0 {
		f.say("unknown", strings.Join(st.Unknown, ", "))
	}
}

// questionText is an open question in one line.
func questionText(q graph.Question) string {
	name := strings.Join(append(slices.Clip(q.Path), q.Name), "/")
	switch {
	case q.Expired:
		name += " (expired)"
	case !q.Expires.IsZero():
		name += " (until " + when(q.Expires) + ")"
	}
	if q.NotBy != "" {
		name += " (not by " + q.NotBy + ")"
	}
	if q.Refused != "" {
		name += " (refused: " + q.Refused + ")"
	}
	return fmt.Sprintf("%s %s %s: %s", q.ID, short(hex.EncodeToString(q.Shown)), name, q.Text())
}

func branchText(b graph.BranchInfo) string {
	text := b.Name
	if b.Active {
		text += " (active)"
	}
	if b.From != "" {
		text += ", " + b.Reason + " of " + b.From
	}
	return text
}

func taskText(t graph.TaskInfo) string {
	text := t.Node + " (task " + t.ID + ")"
	switch {
	case t.Error != "":
		text += " failed: " + t.Error
	case t.Done:
		text += " done"
	case t.Waiting:
		text += " waits for an answer"
	case t.Deferred:
		text += " deferred"
	}
	if len(t.Arg) > 0 {
		text += " with " + string(t.Arg)
	}
	return text
}

// stateText is a state on as many lines as it needs.
func stateText(doc json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		return safe(string(doc)) + "\n"
	}
	var out strings.Builder
	for line := range strings.SplitSeq(b.String(), "\n") {
		text := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(text)]
		for i, part := range textwidth.Wrap(safe(text), max(columnsWide/2, columnsWide-len(indent)-len(noteIndent)), "") {
			if i > 0 {
				part = noteIndent + part
			}
			out.WriteString(indent + part + "\n")
		}
	}
	return out.String()
}

// An entryRow is an entry as history prints it.
type entryRow struct {
	graph.EntryInfo
	Changes []change `json:"changes,omitzero"` // with -diff: against the entry before
}

func history(c *call) func() error {
	c.threadFlags(true)
	limit := c.flags.Int("limit", pageRows, "at most `n` entries; 0: all")
	before := c.flags.Int64("before", 0, "only entries before this `entry`")
	changed := c.flags.Bool("diff", false, "show also what each entry changed in the state")
	wide := c.flags.Bool("wide", false, "cut no cells")
	in := c.childFlag()
	return func() error {
		if *changed && len(*in) > 0 {
			return c.wrong("-diff and -child do not go together")
		}
		h := &historian{call: c, diffs: *changed, table: table{head: []string{"ENTRY", "STEP", "KIND", "AT", "RAN", "NEXT"}, wide: *wide}}
		n := 0
		for e, err := range c.entries(*in) {
			if err != nil {
				return err
			}
			if *before > 0 && e.Pos >= *before {
				continue
			}
			if n++; *limit > 0 && n > *limit {
				h.more = true
				break
			}
			h.entries = append(h.entries, e)
		}
		return h.print()
	}
}

// entries is the history of the thread, or of one of its child graphs.
func (c *call) entries(in []string) iter.Seq2[graph.EntryInfo, error] {
	if len(in) > 0 {
		return c.view.ChildHistory(c.ctx, c.thread(), in)
	}
	return c.view.History(c.ctx, c.thread())
}

// childFlag declares which child graph is meant.
func (c *call) childFlag() *[]string {
	in := new([]string)
	c.flags.Func("child", "of this child graph, as show names it: a `JSON` list", func(s string) error {
		if json.Unmarshal([]byte(s), in) != nil || len(*in) == 0 {
			return fmt.Errorf("want a JSON list of names")
		}
		return nil
	})
	return in
}

// A historian prints entries.
type historian struct {
	*call
	diffs   bool
	more    bool // there are older ones
	entries []graph.EntryInfo
	table   table
}

func (h *historian) print() error {
	for i, e := range h.entries {
		row := entryRow{EntryInfo: e}
		if h.diffs {
			var err error
			if row.Changes, err = h.since(i); err != nil {
				return err
			}
		}
		if h.json {
			if err := h.emit(row); err != nil {
				return err
			}
			continue
		}
		h.table.add(strconv.FormatInt(e.Pos, 10), strconv.FormatInt(e.Step, 10), kindText(e), when(e.At), strings.Join(e.Tasks, ","), strings.Join(e.Next, ","))
		for _, d := range row.Changes {
			h.table.note(d.String())
		}
	}
	if h.json {
		return nil
	}
	if err := h.call.print("%s", h.table.String()); err != nil || !h.more {
		return err
	}
	return h.call.print("more: -before %d\n", h.entries[len(h.entries)-1].Pos)
}

// since is what an entry of the list changed.
func (h *historian) since(i int) ([]change, error) {
	now, err := h.view.StateAt(h.ctx, h.thread(), h.entries[i].Pos)
	if err != nil {
		return nil, err
	}
	before := int64(-1)
	if i+1 < len(h.entries) {
		before = h.entries[i+1].Pos
	} else if before, err = h.entryBefore(h.entries[i].Pos); err != nil {
		return nil, err
	}
	if before < 0 {
		return changes(nil, now.JSON)
	}
	then, err := h.view.StateAt(h.ctx, h.thread(), before)
	if err != nil {
		return nil, err
	}
	return changes(then.JSON, now.JSON)
}

// entryBefore is the entry before a position; -1 if there is none.
func (c *call) entryBefore(pos int64) (int64, error) {
	for e, err := range c.view.History(c.ctx, c.thread()) {
		if err != nil || e.Pos < pos {
			return e.Pos, err
		}
	}
	return -1, nil
}

// kindText names the kind of an entry, and what a branch was made from.
func kindText(e graph.EntryInfo) string {
	name := map[checkpoint.Kind]string{
		checkpoint.KindInput: "input", checkpoint.KindEntry: "step", checkpoint.KindEdit: "edit", checkpoint.KindSettle: "settle", checkpoint.KindSeal: "branch",
	}[e.Kind]
	if e.From != nil {
		name = fmt.Sprintf("%s of %s", e.From.Reason, e.From.Branch)
	}
	return name
}

func diff(c *call) func() error {
	c.threadFlags(true)
	return func() error {
		from, err := c.entry(c.args[1])
		if err != nil {
			return err
		}
		to, err := c.entryArg(2)
		if err != nil {
			return err
		}
		a, err := c.view.StateAt(c.ctx, c.thread(), from)
		if err != nil {
			return err
		}
		b, err := c.view.StateAt(c.ctx, c.thread(), to)
		if err != nil {
			return err
		}
		list, err := changes(a.JSON, b.JSON)
		if err != nil {
			return err
		}
		return c.showChanges(list)
	}
}

func (c *call) showChanges(list []change) error {
	for i := range list {
		if c.json {
			if err := c.emit(list[i]); err != nil {
				return err
			}
			continue
		}
		for j, line := range textwidth.Wrap(safe(list[i].String()), columnsWide-4, "") {
			if j > 0 {
				line = "    " + line
			}
			if err := c.print("%s\n", line); err != nil {
				return err
			}
		}
	}
	if len(list) == 0 && !c.json {
		return c.print("nothing changed\n")
	}
	return nil
}
