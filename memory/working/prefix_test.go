package working_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/textwidth"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// In a hundred turns with memory written between them, rules and tools are the same bytes at the start of each request, and
// the hash says so. Within a turn, as long as nothing has to go, a request begins with all that the one before it had. // R45, report 170, report 171
func TestStablePrefix(t *testing.T) {
	t.Parallel()
	a, err := working.New(working.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	in := operations()
	in.History = nil
	var first working.Prompt
	for turn := range 100 {
		in.State = fmt.Sprintf("currentService: service-%d", turn)
		in.Recalled = append(in.Recalled, working.Item{
			Source: working.LongTerm, ID: fmt.Sprint("w", turn), Text: fmt.Sprint("written in turn ", turn), Score: float64(turn),
		})
		in.Notes = []working.Note{{ID: "n", Text: fmt.Sprint("note of turn ", turn)}}
		in.History = append(in.History, message.User(fmt.Sprint("question ", turn, strings.Repeat(" word", turn*10))))
		p := must(t, a, in)
		if turn == 0 {
			first = p
		}
		if p.Manifest.Prefix != first.Manifest.Prefix || marshal(t, p.Tools) != marshal(t, first.Tools) {
			t.Fatalf("turn %d: another prefix", turn)
		}
		for i, rule := range in.System {
			if p.Messages[0].Parts[i].Text != rule {
				t.Fatalf("turn %d: rule %d is %q", turn, i, p.Messages[0].Parts[i].Text)
			}
		}
		if got := common(marshal(t, p.Messages), marshal(t, first.Messages)); got < len(marshal(t, p.Messages[0].Parts[:len(in.System)])) {
			t.Fatalf("turn %d: only %d bytes are as in the first turn", turn, got)
		}
		call := message.Call{ID: fmt.Sprint("c", turn), Name: "query_logs", Args: "{}"}
		in.History = append(in.History, message.Assistant("", call), message.Tool(call.Done("found")))
		next := must(t, a, in)
		before := marshal(t, p.Messages)
		if turn < 40 && !strings.HasPrefix(marshal(t, next.Messages), before[:len(before)-1]) {
			t.Fatalf("turn %d: the second request does not begin as the first", turn)
		}
		in.History = append(in.History, message.Assistant("answer"))
	}
	for name, change := range map[string]func(*working.Input){
		"a rule":      func(in *working.Input) { in.System = []string{in.System[0], in.System[1] + " "} },
		"rules split": func(in *working.Input) { in.System = []string{in.System[0] + in.System[1]} },
		"a schema":    func(in *working.Input) { in.Tools = []working.Tool{in.Tools[0], {Name: "list_deploys"}} },
		"tool order":  func(in *working.Input) { in.Tools = []working.Tool{in.Tools[1], in.Tools[0]} },
	} {
		other := in
		change(&other)
		if must(t, a, other).Manifest.Prefix == first.Manifest.Prefix {
			t.Errorf("%s changed, and the hash did not", name)
		}
	}
}

func must(t testing.TB, a *working.Assembler, in working.Input) working.Prompt {
	t.Helper()
	p, err := a.Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func marshal[T any](t testing.TB, v T) string {
	t.Helper()
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// common is how many bytes two texts have in common at their start.
func common(x, y string) (n int) {
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// A manifest is plain data, and its table fits a terminal of 80 columns, whatever the ids.
func TestManifestAsText(t *testing.T) {
	t.Parallel()
	p := small()
	p.Name = strings.Repeat("配置", 60)
	in := crowded()
	in.Recalled = append(in.Recalled, in.Recalled[0], in.Recalled[1], in.Recalled[2])
	for i := range in.Recalled {
		in.Recalled[i].ID = strings.Repeat("编号\n", 30)
	}
	m := assemble(t, p, in).Manifest
	var again working.Manifest
	if err := json.Unmarshal([]byte(marshal(t, m)), &again); err != nil || marshal(t, again) != marshal(t, m) {
		t.Errorf("%v", err)
	}
	for line := range strings.Lines(m.String()) {
		if n := textwidth.Of(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	left := -20 // are listed
	for _, e := range m.Entries {
		if e.Outcome != working.Kept {
			left++
		}
	}
	if left <= 0 || !strings.Contains(m.String(), fmt.Sprint("and ", left, " more\n")) {
		t.Errorf("nothing says that more was left out:\n%s", m)
	}
	for i := range in.Recalled {
		in.Recalled[i].Text = "CONTENT"
	}
	if doc := marshal(t, assemble(t, p, in).Manifest); strings.Contains(doc, "CONTENT") {
		t.Errorf("the manifest has content: %s", doc)
	}
}

// The budget steers what is told and is not told itself. // R34
func TestTheBudgetIsNotTold(t *testing.T) {
	t.Parallel()
	p := working.Default()
	p.MaxInput, p.Reserve = 24_777, 1_213
	doc := marshal(t, assemble(t, p, crowded()).Messages)
	for _, n := range []string{"24777", "24,777", "1213", "1,213", "23564"} {
		if strings.Contains(doc, n) {
			t.Errorf("%s is in the prompt", n)
		}
	}
}
