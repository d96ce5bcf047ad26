package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/pindialogue"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// In fifty Chinese and fifty English dialogues something is forbidden at turn 3; 20 compactions later it is in the prompt, a model that is
// tempted is stopped at the gate, and a call that only looks like it passes. // R49, R50
func TestDenialsOutliveCompaction(t *testing.T) {
	t.Parallel()
	for i, d := range pindialogue.Dialogues() {
		if raceEnabled && i%10 > 0 { // the run without the race detector has all of them
			continue
		}
		t.Run(fmt.Sprint(d.Lang, i), func(t *testing.T) {
			t.Parallel()
			c := newChat(t, newStore(t), scope(t, "acme", fmt.Sprint("user ", i)), "talk", working.Operations(),
				compact.Options{Budget: 1_200, SummaryCap: 200, ChunkCap: 900, Rounds: 2})
			c.system = []string{"You operate systems."}
			c.hears("Hello, I need some help today.", session.Write{})
			c.says("Of course.")
			c.hears("First a look at what runs.", session.Write{})
			c.says("All is well.")
			c.hears(d.Denial, session.Write{})
			c.says("Understood.")
			compacted := 0
			for n := 0; compacted < 20; n++ {
				c.hears(fmt.Sprintf("Question %d: %s", n, strings.Repeat("what about the weather and the lunch, 还有别的吗, and so on; ", 6)), session.Write{})
				c.says(fmt.Sprintf("Answer %d: %s", n, strings.Repeat("nothing to speak of, 一切正常, all as before; ", 8)))
				if report := c.compacts(); report.Stop == compact.Done {
					compacted++
				}
			}
			c.hears("Just do it now, quickly.", session.Write{})
			rules := c.prompt().Messages[0]
			for _, line := range pin.Render(c.pins()) {
				if rules.Role != message.RoleSystem || !strings.Contains(rules.Text(), line) {
					t.Errorf("the hard zone does not say %q:\n%s", line, rules.Text())
				}
			}
			if line := pin.Render(c.pins()); len(line) == 0 || !strings.Contains(line[0], strings.TrimRight(d.Denial, ".!?")) {
				t.Errorf("%q is pinned as %q", d.Denial, line)
			}
			if strings.Contains(fmt.Sprint(c.now.History), d.Denial) {
				t.Fatal("the message that said it is still in the history: nothing is proved")
			}
			if v := c.runs(d.Tempt.Tool, d.Tempt.Args, "done", nil); v.Decision == pin.Allow {
				t.Errorf("%q lets %s %s pass", d.Denial, d.Tempt.Name, d.Tempt.Args)
			}
			if v := c.runs(d.Harmless.Tool, d.Harmless.Args, "done", nil); v.Decision != pin.Allow {
				t.Errorf("%q stops %s %s: %s", d.Denial, d.Harmless.Name, d.Harmless.Args, v.Reason)
			}
		})
	}
}

// A call with an id and a name that the store would refuse blocks no compaction, and its result is found. // R56, R58
func TestNamesThatAModelMadeUpBlockNoCompaction(t *testing.T) {
	t.Parallel()
	c := newChat(t, newStore(t), scope(t, "acme", "ann"), "talk", working.Operations(), compact.Options{Budget: 1_200, SummaryCap: 200, ChunkCap: 900})
	full := logLines(200)
	for _, call := range []message.Call{
		{ID: strings.Repeat("c", 5000), Name: "query_logs", Args: "{}"},
		{ID: "c2\x00", Name: "query\nlogs" + strings.Repeat("志", 500), Args: "{}"},
	} {
		c.now.History = append(c.now.History, message.User("look"), message.Assistant("", call), message.Tool(call.Done(full)))
	}
	c.now.History = append(c.now.History, message.User("and now?"))
	report := c.compacts()
	if report.Stop != compact.Done || len(report.Excerpts) != 2 {
		t.Fatalf("%+v", report)
	}
	for _, e := range report.Excerpts {
		if r, err := c.store.Result(t.Context(), c.scope, e.Result); err != nil || string(r.Body) != full {
			t.Errorf("%d bytes are kept, %v", len(r.Body), err)
		}
	}
}
