package memory_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A chat is one conversation as a runtime leads it: what is said and done goes into the session store at once, together with what
// it confirms; the working copy is trimmed and compacted; each prompt is assembled anew from what is known.
type chat struct {
	t         *testing.T
	scope     memory.Scope
	id        string
	store     *session.Store
	assembler *working.Assembler
	compactor *compact.Compactor
	system    []string
	tools     []working.Tool
	now       compact.State
	said      int
	calls     int
}

func scope(t testing.TB, tenant, user string) memory.Scope {
	t.Helper()
	s, err := memory.NewScope(tenant, user)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newStore(t testing.TB, fields ...session.Definition) *session.Store {
	t.Helper()
	s, err := session.NewMemory(session.Options{Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newChat(t *testing.T, store *session.Store, s memory.Scope, id string, p working.Profile, o compact.Options) *chat {
	t.Helper()
	counter := working.Cached(working.Estimate, 10_000)
	a, err := working.New(p, counter)
	if err != nil {
		t.Fatal(err)
	}
	c, err := compact.New(counter, store, o)
	if err != nil {
		t.Fatal(err)
	}
	return &chat{t: t, scope: s, id: id, store: store, assembler: a, compactor: c}
}

// add gives a message an id that a person can follow, and writes it with what it confirms.
func (c *chat) add(m message.Message, w session.Write) message.Message {
	c.t.Helper()
	c.said++
	m.ID = fmt.Sprint("m", c.said)
	w.Messages = append(w.Messages, m)
	if _, err := c.store.Write(c.t.Context(), c.scope, c.id, w); err != nil {
		c.t.Fatal(err)
	}
	c.now.History = append(slices.Clip(c.now.History), m)
	return m
}

// hears takes in what the user says, and what of it is to be pinned or lifted.
func (c *chat) hears(text string, w session.Write) message.Message {
	c.t.Helper()
	m := message.User(text)
	m.ID = fmt.Sprint("m", c.said+1)
	found := pin.Detect(m)
	for i, f := range found {
		if f.Effect != pin.Permit {
			w.Pins = append(w.Pins, f.Pin(fmt.Sprint("p", c.said+1, "-", i), m.ID, time.Unix(0, 0).UTC()))
		}
	}
	for _, p := range pin.Lift(c.pins(), found) {
		w.Lift = append(w.Lift, session.Lift{Pin: p.ID, Message: m.ID})
	}
	return c.add(m, w)
}

func (c *chat) says(text string) message.Message {
	c.t.Helper()
	return c.add(message.Assistant(text), session.Write{})
}

// runs has a tool called, unless the gate stops it; text is what the tool returns.
func (c *chat) runs(tool pin.Tool, args, text string, set func(call string) []session.Change) pin.Verdict {
	c.t.Helper()
	c.calls++
	call := message.Call{ID: fmt.Sprint("c", c.calls), Name: tool.Name, Args: args}
	c.add(message.Assistant("", call), session.Write{})
	v := pin.Gate(c.pins(), call, tool)
	if v.Decision != pin.Allow {
		c.add(message.Tool(call.Ended(message.StatusDenied, v.Reason)), session.Write{})
		return v
	}
	var w session.Write
	if set != nil {
		w.Set = set(call.ID)
	}
	c.add(message.Tool(call.Done(text)), w)
	trimmed, _, err := c.compactor.TrimResults(c.t.Context(), c.scope, c.id, c.now.History)
	if err != nil {
		c.t.Fatal(err)
	}
	c.now.History = trimmed
	return v
}

func (c *chat) pins() []pin.Pin {
	c.t.Helper()
	pins, err := c.store.Pins(c.t.Context(), c.scope, c.id)
	if err != nil {
		c.t.Fatal(err)
	}
	return pins
}

func (c *chat) state() session.State {
	c.t.Helper()
	s, err := c.store.State(c.t.Context(), c.scope, c.id)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// prompt is what the model would be told now.
func (c *chat) prompt(recalled ...working.Item) working.Prompt {
	c.t.Helper()
	history, _ := message.Repair(c.now.History, message.RepairOptions{Waiting: "Waiting for approval."})
	s := c.state()
	p, err := c.assembler.Assemble(working.Input{
		System: c.system, Tools: c.tools, State: s.Summary(), Pins: pin.Render(s.Pins),
		Summary: c.now.Summary, History: history, Recalled: recalled,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := message.Valid(p.Messages); err != nil {
		c.t.Fatal(err)
	}
	return p
}

// compacts is what a runtime does after the reply.
func (c *chat) compacts() compact.Report {
	c.t.Helper()
	next, report, err := c.compactor.Compact(c.t.Context(), c.scope, c.id, c.now)
	if err != nil {
		c.t.Fatal(err)
	}
	c.now = next
	return report
}

// text is all that a prompt says.
func text(p working.Prompt) string {
	var b bytes.Buffer
	for _, m := range p.Messages {
		fmt.Fprintf(&b, "=== %s (%s)\n", m.Role, m.ID)
		for i, part := range m.Parts {
			if i > 0 {
				fmt.Fprintln(&b, "--- next part")
			}
			switch part.Kind {
			case message.KindCall:
				fmt.Fprintf(&b, "call %s: %s %s\n", part.Call.ID, part.Call.Name, part.Call.Args)
			case message.KindResult:
				fmt.Fprintf(&b, "result %s (%s):\n%s\n", part.Result.CallID, part.Result.Status, part.Result.Text())
			default:
				fmt.Fprintln(&b, part.Text)
			}
		}
	}
	return b.String()
}

// A story collects prompts for a golden file.
type story struct{ bytes.Buffer }

func (s *story) tell(title string, p working.Prompt) {
	fmt.Fprintf(s, "################ %s\n%s\n%s\n", title, text(p), p.Manifest)
}

func (s *story) compare(t *testing.T, file string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, s.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.Bytes(), want) {
		t.Errorf("%s differs; run the test with -update and read the difference\ngot:\n%s", file, s)
	}
}
