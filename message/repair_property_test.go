package message_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/message"
)

// many checks a property for n histories, a hundred at a time; for the thirtieth part of them in short mode.
func many(t *testing.T, n int, property func(*rapid.T)) {
	rounds := n / 100
	if testing.Short() { // in which rapid checks 20 at a time
		rounds = max(rounds*3/20, 1)
	}
	for range rounds {
		rapid.Check(t, property)
	}
}

func TestRepairOfAnyHistory(t *testing.T) {
	t.Parallel()
	many(t, 10_000, repairHolds)
}

func FuzzRepair(f *testing.F) { f.Fuzz(rapid.MakeFuzz(repairHolds)) }

// Whatever the history: it becomes valid, is left alone the second time, comes out the same elsewhere, loses nothing that is
// not reported and nothing of the user, and the one that was given is untouched.
// report 1, report 2, report 9, report 12, report 13, report 16
func repairHolds(t *rapid.T) {
	history := brokenHistory(t)
	o := anyOptions(t)
	before := clone(history)
	got, fixes := message.Repair(history, o)
	checkOpen(t, got, o)
	if !reflect.DeepEqual(history, before) {
		t.Fatalf("the history that was given is now %s", show(history))
	}
	if elsewhere, same := message.Repair(before, o); !reflect.DeepEqual(got, elsewhere) || !reflect.DeepEqual(fixes, same) {
		t.Fatalf("%s elsewhere became %s", show(got), show(elsewhere))
	}
	if again, more := message.Repair(got, o); len(more) > 0 || len(got) > 0 && &again[0] != &got[0] {
		t.Fatalf("%s\nbecame %s\nand then %s [%s]", show(history), show(got), show(again), rules(more))
	}
	if len(fixes) == 0 && len(history) > 0 && &got[0] != &history[0] {
		t.Fatalf("nothing was fixed, and yet %s is another slice", show(got))
	}
	checkLosses(t, history, got, fixes)
	checkShared(t, history, got, fixes)
}

// anyOptions draws what is known of the calls.
func anyOptions(t *rapid.T) message.RepairOptions {
	var o message.RepairOptions
	if rapid.Bool().Draw(t, "outcomes") {
		status := rapid.SampledFrom([]message.Status{message.StatusCancelled, message.StatusOK, "", "fine"}).Draw(t, "outcome")
		words := rapid.SampledFrom([]string{"", "so it ended", "\xff"}).Draw(t, "words")
		o.Outcome = func(c message.Call) message.Result { return c.Ended(status, words) }
	}
	if rapid.Bool().Draw(t, "questions") {
		o.Pending = func(c message.Call) bool { return c.ID == "c1" || c.Name == "pay" }
		o.Waiting = rapid.SampledFrom([]string{"", "waiting", "\xff"}).Draw(t, "waiting")
	}
	return o
}

// checkOpen fails if a history breaks a rule, other than by calls that are to stay open. // report 20, report 21
func checkOpen(t *rapid.T, history []message.Message, o message.RepairOptions) {
	err := message.Valid(history)
	if o.Pending == nil || o.Waiting != "" {
		if err != nil {
			t.Fatalf("%s: %v", show(history), err)
		}
		return
	}
	open := map[string]bool{}
	for _, c := range message.Open(history) {
		open[c.ID] = true
		if !o.Pending(c) {
			t.Fatalf("%s: call %q is not pending and yet open", show(history), c.ID)
		}
	}
	e, _ := errors.AsType[*message.InvalidError](err)
	if e == nil {
		return
	}
	for _, v := range e.Violations {
		if !open[v.CallID] || !slices.Contains([]message.Rule{message.RuleOpen, message.RuleCallID, message.RuleArgs}, v.Rule) {
			t.Fatalf("%s: %v", show(history), v)
		}
	}
}

var mark = regexp.MustCompile(`t\d+\.`)

func marks(t *rapid.T, v any) []string {
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return mark.FindAllString(string(doc), -1)
}

// checkLosses fails if a marked text is neither in the history nor in what was reported, or a text of the user not in the
// history, in its place.
func checkLosses(t *rapid.T, history, got []message.Message, fixes []message.Fix) {
	left := append(marks(t, got), marks(t, fixes)...)
	for _, m := range marks(t, history) {
		if !slices.Contains(left, m) {
			t.Fatalf("%s was lost from %s", m, show(history))
		}
	}
	var nobodys []string // of messages whose role is none, and becomes the user's
	for _, m := range history {
		if m.Role == "" || m.Role == "robot" {
			nobodys = append(nobodys, marks(t, m)...)
		}
	}
	said, still := userMarks(history), userMarks(got)
	for _, m := range said {
		if !slices.Contains(still, m) {
			t.Fatalf("the user no longer says %s in %s", m, show(got))
		}
	}
	ordered := func(said, others []string) []string {
		return slices.DeleteFunc(slices.Clone(said), func(m string) bool { return !slices.Contains(others, m) || slices.Contains(nobodys, m) })
	}
	if a, b := ordered(said, still), ordered(still, said); !slices.Equal(a, b) {
		t.Fatalf("the user said %q, and is said to have said %q\n%s\n%s", a, b, show(history), show(got))
	}
}

// userMarks returns the marks of what users say, each where it comes first.
func userMarks(history []message.Message) []string {
	var said []string
	for _, m := range history {
		for _, p := range m.Parts {
			if m.Role != message.RoleUser || p.Kind == message.KindReasoning {
				continue
			}
			for _, s := range mark.FindAllString(p.Text, -1) {
				if !slices.Contains(said, s) {
					said = append(said, s)
				}
			}
		}
	}
	return said
}

// checkShared fails if a message of which no fix tells does not come back as it was, sharing its parts. Results are named
// anew with their calls, so those of tools are left out.
func checkShared(t *rapid.T, history, got []message.Message, fixes []message.Fix) {
	for i, m := range history {
		told := slices.ContainsFunc(fixes, func(f message.Fix) bool { return f.Index == i })
		if told || m.Role == message.RoleTool {
			continue
		}
		same := func(g message.Message) bool {
			return g.ID == m.ID && &g.Parts[0] == &m.Parts[0] && reflect.DeepEqual(g, m)
		}
		if !slices.ContainsFunc(got, same) {
			t.Fatalf("message %d of %s is not in %s [%s]", i, show(history), show(got), rules(fixes))
		}
	}
}

// Each call has the result that it had in the history, if it was final; the calls are all there, in their order.
// report 6, report 11, report 21
func TestRepairKeepsResultsWithTheirCalls(t *testing.T) {
	t.Parallel()
	many(t, 2000, func(t *rapid.T) {
		history := calling(t)
		got, _ := message.Repair(history, message.RepairOptions{})
		want := finals(history)
		calls := 0
		for _, m := range got {
			for _, c := range m.Calls() {
				if calls == len(want) {
					t.Fatalf("%s has become %s", show(history), show(got))
				}
				r := resultOf(got, c.ID)
				if w := want[calls]; w == nil && r.Status != message.StatusCrashed || w != nil && (r.Text() != w.Text() || r.Status != w.Status) {
					t.Fatalf("%s has become\n%s: call %d has %v, want %v", show(history), show(got), calls, r, w)
				}
				calls++
			}
		}
		if calls != len(want) {
			t.Fatalf("%s has become %s", show(history), show(got))
		}
	})
}

// finals returns for each call of a history its first final result, or nil: it stands behind it and before the next call with the same id.
func finals(history []message.Message) []*message.Result {
	var results []*message.Result
	for i, m := range history {
		for _, c := range m.Calls() {
			results = append(results, finalAfter(history[i+1:], c.ID))
		}
	}
	return results
}

func finalAfter(history []message.Message, id string) *message.Result {
	for _, m := range history {
		for _, c := range m.Calls() {
			if c.ID == id {
				return nil
			}
		}
		for _, r := range m.Results() {
			if r.CallID == id && !r.Interim {
				return &r
			}
		}
	}
	return nil
}

func resultOf(history []message.Message, id string) message.Result {
	for _, m := range history {
		for _, r := range m.Results() {
			if r.CallID == id {
				return r
			}
		}
	}
	return message.Result{}
}

// A pending call is found by its result when that comes, however often the history was repaired and stored meanwhile.
// report 5, report 20, report 21
func TestRepairWaitsForPendingCalls(t *testing.T) {
	t.Parallel()
	many(t, 2000, func(t *rapid.T) {
		history := brokenHistory(t)
		ask := message.Call{ID: rapid.SampledFrom([]string{"c1", "x", "ask"}).Draw(t, "id"), Name: "approve", Args: "{}"}
		pending := func(c message.Call) bool { return c.Name == "approve" }
		stored := append(history, message.User("do it"), message.Assistant("", ask))
		for range rapid.IntRange(1, 3).Draw(t, "turns") {
			if rapid.Bool().Draw(t, "progress") {
				stored = append(stored, message.Tool(interim(ask)))
			}
			stored = append(stored, message.User("and?"))
			stored, _ = message.Repair(stored, message.RepairOptions{Pending: pending})
			if open := message.Open(stored); len(open) != 1 || open[0] != ask {
				t.Fatalf("open calls are %v in %s", open, show(stored))
			}
			prompt, _ := message.Repair(stored, message.RepairOptions{Pending: pending, Waiting: "waiting"})
			if err := message.Valid(prompt); err != nil {
				t.Fatal(err)
			}
		}
		stored = append(stored, message.Tool(ask.Done("approved")))
		got, _ := message.Repair(stored, message.RepairOptions{Pending: pending})
		if err := message.Valid(got); err != nil {
			t.Fatal(err)
		}
		var answers []string
		for _, m := range got {
			for _, r := range m.Results() {
				if r.Name == "approve" {
					answers = append(answers, r.Text())
				}
			}
		}
		if !slices.Equal(answers, []string{"approved"}) {
			t.Fatalf("the question is answered %q in %s", answers, show(got))
		}
	})
}

// The same accident is repaired in the same way after the history has grown: what a provider has cached stays.
func TestRepairOfAGrowingHistory(t *testing.T) {
	t.Parallel()
	many(t, 2000, func(t *rapid.T) {
		history := calling(t)
		history = append(history, message.User("next"))
		short, _ := message.Repair(history, message.RepairOptions{})
		long, _ := message.Repair(append(history, message.Assistant("", one), message.Tool(one.Done("x"), one.Done("y"))), message.RepairOptions{})
		if len(long) != len(short)+2 || !reflect.DeepEqual(long[:len(short)], short) {
			t.Fatalf("%s\nhas become %s", show(short), show(long))
		}
	})
}

// Many accidents of one kind take linear time: with quadratic time this would take minutes.
func TestRepairOfALongHistory(t *testing.T) {
	t.Parallel()
	const n = 50_000
	var history []message.Message
	for range n {
		history = append(history, message.Message{ID: "same", Role: message.RoleAssistant, Parts: []message.Part{message.Text(fmt.Sprint(len(history)))}})
	}
	calls, results := make([]message.Call, n), make([]message.Result, n)
	for i := range n {
		calls[i].Name = "look"
		results[i] = calls[i].Done("x")
	}
	history = append(history, message.Assistant("", calls...), message.Tool(results...), message.Tool(results...))
	got, _ := message.Repair(history, message.RepairOptions{})
	if err := message.Valid(got); err != nil {
		t.Error(strings.SplitN(err.Error(), "\n", 3)[:2])
	}
	if len(got) != n+3 { // and the user at the beginning
		t.Errorf("%d messages are left", len(got))
	}
}
