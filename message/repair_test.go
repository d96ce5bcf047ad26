package message_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/message"
)

func named(id string, m message.Message) message.Message {
	m.ID = id
	return m
}

func partial(m message.Message) message.Message {
	m.Partial = true
	return m
}

// show writes a history as one line a person can read: "user hi; assistant search(c1); tool c1 ok found".
func show(history []message.Message) string {
	var lines []string
	for _, m := range history {
		words := []string{string(m.Role)}
		for _, p := range m.Parts {
			words = append(words, showPart(p))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "; ")
}

func showPart(p message.Part) string {
	switch {
	case p.Kind == message.KindCall && p.Call != nil:
		return fmt.Sprintf("%s(%s)", p.Call.Name, p.Call.ID)
	case p.Kind == message.KindResult && p.Result != nil:
		text := fmt.Sprintf("%s %s %s", p.Result.CallID, p.Result.Status, p.Result.Text())
		if p.Result.Interim {
			text += "..."
		}
		return text
	case p.Kind == message.KindImage && p.Image != nil:
		return "image " + p.Image.URL + p.Image.MediaType
	}
	return p.Text
}

// rules writes the rule and message of each fix.
func rules(fixes []message.Fix) string {
	var words []string
	for _, f := range fixes {
		words = append(words, fmt.Sprint(f.Index, " ", f.Rule))
	}
	return strings.Join(words, ", ")
}

const (
	unknown  = "crashed The call was interrupted. Its outcome is not known: do not assume that it ran, or that it did not."
	stopped  = "cancelled The call was stopped before it was done."
	cutShort = "cancelled The call was cut off while it was written. It did not run."
)

type broken struct {
	name    string
	history []message.Message
	want    string // as show writes it
	fixes   string // as rules writes them
	options message.RepairOptions
}

func (b broken) check(t *testing.T) {
	t.Helper()
	before := clone(b.history)
	got, fixes := message.Repair(b.history, b.options)
	if show(got) != b.want || rules(fixes) != b.fixes {
		t.Errorf("%s:\n got %s [%s]\nwant %s [%s]", b.name, show(got), rules(fixes), b.want, b.fixes)
	}
	if !reflect.DeepEqual(b.history, before) {
		t.Errorf("%s: the history that was given is now %s", b.name, show(b.history))
	}
	if open := b.options.Pending != nil && b.options.Waiting == ""; !open {
		if err := message.Valid(got); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
	again, more := message.Repair(got, b.options)
	if len(more) > 0 || !reflect.DeepEqual(again, got) {
		t.Errorf("%s: the second time it became %s [%s]", b.name, show(again), rules(more))
	}
	for _, f := range fixes {
		if f.ID != b.history[f.Index].ID || f.Detail == "" || !strings.Contains(f.String(), f.Detail) {
			t.Errorf("%s: fix %+v", b.name, f)
		}
	}
}

func clone(history []message.Message) []message.Message {
	copied := slices.Clone(history)
	for i := range copied {
		copied[i] = copied[i].Clone()
	}
	return copied
}

// The stories of the reports: what broke the history, and the next thing that the user says.
func TestRepairOfReports(t *testing.T) {
	t.Parallel()
	hi, next := message.User("hi"), message.User("next")
	both := message.Assistant("", one, two)
	cancel := message.RepairOptions{Outcome: func(message.Call) message.Result { return message.Result{Status: message.StatusCancelled} }}
	waiting := message.RepairOptions{Pending: func(c message.Call) bool { return c.ID == "c2" }, Waiting: "Waiting for approval."}
	kept := message.RepairOptions{Pending: waiting.Pending}
	for _, b := range []broken{
		{"report 1: a tool is cancelled", []message.Message{hi, both, message.Tool(one.Done("x")), next},
			"user hi; assistant search(c1) track(c2); tool c1 ok x; tool c2 " + stopped + "; user next", "1 open", cancel},
		{"report 2: two calls, one result", []message.Message{hi, both, message.Tool(two.Done("x")), next},
			"user hi; assistant search(c1) track(c2); tool c2 ok x; tool c1 " + unknown + "; user next", "1 open", message.RepairOptions{}},
		{"report 5: cancelled while a person was asked", []message.Message{hi, message.Assistant("", two), message.Tool(interim(two)), next},
			"user hi; assistant track(c2); tool c2 cancelled at work\nThe call was stopped before it was done.; user next", "1 open", cancel},
		{"report 6: the result has another id", []message.Message{hi, message.Assistant("", one), message.Tool(message.Call{ID: "other", Name: "search"}.Done("x")), next},
			"user hi; assistant search(c1); tool c1 " + unknown + "; user next", "1 open, 2 orphan", message.RepairOptions{}},
		{"report 9: stopped before the first result", []message.Message{hi, both},
			"user hi; assistant search(c1) track(c2); tool c1 " + stopped + "; tool c2 " + stopped, "1 open, 1 open", cancel},
		{"report 10: the user speaks after the tool", []message.Message{hi, message.Assistant("", one), next, message.Tool(one.Done("x"))},
			"user hi; assistant search(c1); tool c1 ok x; user next", "3 place", message.RepairOptions{}},
		{"report 11: a late result of a cancelled call", []message.Message{hi, message.Assistant("", one), message.Tool(one.Ended(message.StatusCancelled, "stop")), next, message.Tool(one.Done("x"))},
			"user hi; assistant search(c1); tool c1 cancelled stop; user next", "4 once", message.RepairOptions{}},
		{"report 12: a trim took the call", []message.Message{message.Tool(one.Done("x")), message.Assistant("found"), next},
			"user (The conversation begins here.); assistant found; user next", "0 orphan, 1 first", message.RepairOptions{}},
		{"report 13: a trim turned the order", []message.Message{hi, message.Assistant("", one), message.Assistant("", two), message.Tool(two.Done("y")), message.Tool(one.Done("x"))},
			"user hi; assistant search(c1); tool c1 ok x; assistant track(c2); tool c2 ok y", "4 place", message.RepairOptions{}},
		{"report 15: a summary between two results", []message.Message{hi, both, message.Tool(one.Done("x")), message.User("summary"), message.Tool(two.Done("y"))},
			"user hi; assistant search(c1) track(c2); tool c1 ok x; tool c2 ok y; user summary", "4 place", message.RepairOptions{}},
		{"report 16: tool messages twice", []message.Message{hi, named("a", both), named("b", message.Tool(one.Done("x"))), named("c", message.Tool(two.Done("y"))),
			named("b", message.Tool(one.Done("x"))), named("c", message.Tool(two.Done("y"))), named("a", both)},
			"user hi; assistant search(c1) track(c2); tool c1 ok x; tool c2 ok y", "4 once, 5 once, 6 messageid", message.RepairOptions{}},
		{"report 17: the user's message is gone", []message.Message{message.System("s"), message.Assistant("", one), message.Tool(one.Done("x"))},
			"system s; user (The conversation begins here.); assistant search(c1); tool c1 ok x", "1 first", message.RepairOptions{}},
		{"report 20: a question is out, in a prompt", []message.Message{hi, both, message.Tool(one.Done("x")), next, message.Assistant("yes?")},
			"user hi; assistant search(c1) track(c2); tool c1 ok x; tool c2 ok Waiting for approval.; user next; assistant yes?", "1 open", waiting},
		{"report 20: a question is out, in the store", []message.Message{hi, both, next, message.Tool(one.Done("x")), message.Assistant("yes?")},
			"user hi; assistant search(c1) track(c2); tool c1 ok x; user next; assistant yes?", "3 place", kept},
		{"report 20: the question is answered", []message.Message{hi, message.Assistant("", two), next, message.Assistant("yes?"), message.Tool(two.Done("paid"))},
			"user hi; assistant track(c2); tool c2 ok paid; user next; assistant yes?", "4 place", waiting},
		{"report 21: an interim result, in a prompt", []message.Message{hi, message.Assistant("", two), message.Tool(interim(two)), next},
			"user hi; assistant track(c2); tool c2 ok at work; user next", "1 open", waiting},
		{"report 21: an interim result, in the store", []message.Message{hi, message.Assistant("", two), message.Tool(interim(two)), next},
			"user hi; assistant track(c2); tool c2 ok at work...; user next", "", kept},
		{"report 21: an interim result that stays, late", []message.Message{hi, message.Assistant("", two), next, message.Tool(interim(two))},
			"user hi; assistant track(c2); tool c2 ok at work...; user next", "3 place", kept},
		{"report 20: one of two calls with one id is pending", []message.Message{hi, named("a", message.Assistant("", two, message.Call{ID: "c2", Name: "track", Args: "{}"}))},
			"user hi; assistant track(0e1433f9-8260-5b38-82f6-5888c378419a) track(c2); tool 0e1433f9-8260-5b38-82f6-5888c378419a " + unknown, "1 open, 1 callid",
			message.RepairOptions{Pending: func(c message.Call) bool { return c.Args == "{}" }}},
		{"report 20: a pending call, an older one with its id", []message.Message{hi, message.Assistant("", two), next, message.Assistant("", two)},
			"user hi; assistant track(c2); tool c2 " + unknown + "; user next; assistant track(c2)", "1 open", kept},
		{"report 5: the cause of a call, an older one with its id", []message.Message{hi, named("a", message.Assistant("", one)), next, named("b", message.Assistant("", one))},
			"user hi; assistant search(c1); tool c1 " + unknown + "; user next; assistant search(17913007-c5f9-5f91-a89d-9b52523f34a5); tool 17913007-c5f9-5f91-a89d-9b52523f34a5 " + stopped, "1 open, 3 open, 3 callid", cancel},
		{"report 21: the final result", []message.Message{hi, message.Assistant("", two), message.Tool(interim(two)), next, message.Tool(two.Done("done"))},
			"user hi; assistant track(c2); tool c2 ok done; user next", "2 once, 4 place", waiting},
	} {
		b.check(t)
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	hi, end := message.User("hi"), message.Assistant("done")
	bare := func(role message.Role, parts ...message.Part) message.Message {
		return named("m", message.Message{Role: role, Parts: parts})
	}
	search, track := message.Call{Name: "search", Args: "{}"}, message.Call{Name: "track", Args: "{}"}
	for _, b := range []broken{
		{"nothing wrong", []message.Message{hi, message.Assistant("", one), message.Tool(one.Done("x")), end},
			"user hi; assistant search(c1); tool c1 ok x; assistant done", "", message.RepairOptions{}},
		{"cut off while it was written", []message.Message{hi, partial(message.Assistant("let me", message.Call{ID: "c1", Name: "search", Args: `{"q":`}))},
			"user hi; assistant let me search(c1); tool c1 " + cutShort, "1 open, 1 args", message.RepairOptions{}},
		{"cut off behind the first call", []message.Message{hi, partial(message.Assistant("", one, two))}, // R78: nobody knows that it did not run
			"user hi; assistant search(c1) track(c2); tool c1 " + unknown + "; tool c2 " + cutShort, "1 open, 1 open", message.RepairOptions{}},
		{"cut off, and yet the tool was at work", []message.Message{hi, partial(message.Assistant("", one)), message.Tool(interim(one))}, // R78
			"user hi; assistant search(c1); tool c1 crashed at work\n" + strings.TrimPrefix(unknown, "crashed "), "1 open", message.RepairOptions{}},
		{"a greeting", []message.Message{end, hi}, "user (The conversation begins here.); assistant done; user hi", "0 first", message.RepairOptions{}},
		{"only orphans", []message.Message{message.Tool(one.Done("x"), two.Done("y"))}, "", "0 orphan, 0 orphan", message.RepairOptions{}},
		{"a result before its call", []message.Message{hi, message.Tool(one.Done("x")), message.Assistant("", one)},
			"user hi; assistant search(c1); tool c1 " + unknown, "1 orphan, 2 open", message.RepairOptions{}},
		{"interim results", []message.Message{hi, message.Assistant("", one), message.Tool(interim(one)), message.Tool(interim(one)), message.Tool(one.Done("x"), interim(one))},
			"user hi; assistant search(c1); tool c1 ok x", "2 once, 3 once, 4 once", message.RepairOptions{}},
		{"providers without ids", []message.Message{hi, named("a", message.Assistant("", search, track, track)), message.Tool(track.Done("1"), track.Done("2"), track.Done("3"), search.Done("4"))},
			"user hi; assistant search(c6d744cb-3f13-5d6f-9c58-50a3183266c7) track(46ab14bb-cd43-57bd-8057-6e4b9fff0d14) track(20800c24-1186-5153-bb52-052d43cf7cc0); " +
				"tool 46ab14bb-cd43-57bd-8057-6e4b9fff0d14 ok 1 20800c24-1186-5153-bb52-052d43cf7cc0 ok 2 c6d744cb-3f13-5d6f-9c58-50a3183266c7 ok 4",
			"1 callid, 1 callid, 1 callid, 2 once", message.RepairOptions{}},
		{"ids that each turn counts anew", []message.Message{hi, message.Assistant("", one), message.Tool(one.Done("x")), named("a", message.Assistant("", one)), message.Tool(one.Done("y"))},
			"user hi; assistant search(c1); tool c1 ok x; assistant search(be9530a7-5057-5c72-b98b-1388b66ca64c); tool be9530a7-5057-5c72-b98b-1388b66ca64c ok y", "3 callid", message.RepairOptions{}},
		{"a result names another tool", []message.Message{hi, message.Assistant("", one), message.Tool(message.Result{CallID: "c1", Name: "find", Status: message.StatusOK})},
			"user hi; assistant search(c1); tool c1 ok ", "2 form", message.RepairOptions{}},
		{"results of two turns in one message", []message.Message{hi, message.Assistant("", one), message.Assistant("", two), message.Tool(one.Done("x"), two.Done("y"))},
			"user hi; assistant search(c1); tool c1 ok x; assistant track(c2); tool c2 ok y", "3 place, 3 messageid", message.RepairOptions{}},
		{"results in a user's message", []message.Message{hi, message.Assistant("", one), bare(message.RoleUser, message.Tool(one.Done("x")).Parts[0], message.Text("and?"))},
			"user hi; assistant search(c1); tool c1 ok x; user and?", "2 form, 2 messageid", message.RepairOptions{}},
		{"a result in the message of its call", []message.Message{hi, bare(message.RoleAssistant, append(message.Assistant("", one).Parts, message.Tool(one.Done("x")).Parts...)...)},
			"user hi; assistant search(c1); tool c1 ok x", "1 form, 1 messageid", message.RepairOptions{}},
		{"a call in a user's message", []message.Message{bare(message.RoleUser, message.Text("hi"), message.Assistant("", one).Parts[0]), message.Tool(one.Done("x"))},
			"user hi", "0 form, 1 orphan", message.RepairOptions{}},
		{"text in a tool's message", []message.Message{hi, message.Assistant("", one), bare(message.RoleTool, message.Tool(one.Done("x")).Parts[0], message.Text("more"))},
			"user hi; assistant search(c1); tool c1 ok x\nmore", "2 form", message.RepairOptions{}},
		{"unknown roles", []message.Message{bare("human", message.Text("hi")), bare("ai", message.Assistant("", one).Parts...), bare("function", message.Tool(one.Done("x")).Parts...), bare("developer")},
			"user hi; assistant search(c1); tool c1 ok x", "0 form, 1 form, 1 messageid, 2 form, 2 messageid, 3 form", message.RepairOptions{}},
		{"parts that say nothing of their kind", []message.Message{{ID: "1", Role: message.RoleUser, Parts: []message.Part{{Text: "hi", Image: &message.Image{URL: "u"}}, {Kind: "video"}}}},
			"user hi image u", "0 form", message.RepairOptions{}},
		{"half an image", []message.Message{message.User("hi", message.ImageData("", []byte{1}), message.Part{Kind: message.KindImage, Image: &message.Image{URL: "u", MediaType: "image/png"}})},
			"user hi (An image that cannot be shown.) image u", "0 form", message.RepairOptions{}},
		{"no UTF-8", []message.Message{message.User("h\xffi"), message.Assistant("", message.Call{ID: "c\xff", Name: "t", Args: "{}"}), message.Tool(message.Call{ID: "c\xff", Name: "t"}.Done("\xff"))},
			"user h\ufffdi; assistant t(c\ufffd); tool c\ufffd ok \ufffd", "0 form, 1 form, 2 form", message.RepairOptions{}},
		{"a signature that is no UTF-8", []message.Message{hi, bare(message.RoleAssistant, message.Reasoning("hm", "\xff"), message.Text("a"))},
			"user hi; assistant a", "1 form", message.RepairOptions{}},
		{"a status that is none", []message.Message{hi, message.Assistant("", one), message.Tool(message.Result{CallID: "c1", Name: "search"})},
			"user hi; assistant search(c1); tool c1 ok ", "2 form", message.RepairOptions{}},
		{"a partial user", []message.Message{partial(message.User("hi"))}, "user hi", "0 form", message.RepairOptions{}},
		{"messages of nothing", []message.Message{message.User(""), hi, message.Assistant(""), message.Tool()}, "user hi", "0 empty, 2 empty, 3 empty", message.RepairOptions{}},
		{"an image without words", []message.Message{message.User("", message.ImageURL("u"))}, "user image u", "0 empty", message.RepairOptions{}},
		{"one id for all", []message.Message{named("m", hi), named("m", end), named("m", hi), named("m", message.User("hi!"))},
			"user hi; assistant done; user hi!", "1 messageid, 2 messageid, 3 messageid", message.RepairOptions{}},
		{"no ids", []message.Message{named("", hi), named("", hi)}, "user hi; user hi", "0 messageid, 1 messageid", message.RepairOptions{}},
		{"a caller that knows no such status", []message.Message{hi, message.Assistant("", one)}, "user hi; assistant search(c1); tool c1 " + unknown, "1 open",
			message.RepairOptions{Outcome: func(c message.Call) message.Result { return c.Ended("fine", "x") }}},
		{"a caller's own words", []message.Message{hi, message.Assistant("", one, two)}, "user hi; assistant search(c1) track(c2); tool c1 denied 不行; tool c2 timed_out 超时", "1 open, 1 open",
			message.RepairOptions{Outcome: func(c message.Call) message.Result {
				return map[string]message.Result{"c1": c.Ended(message.StatusDenied, "不行"), "c2": c.Ended(message.StatusTimedOut, "超时")}[c.ID]
			}}},
	} {
		b.check(t)
	}
}

// The ids of what is added or renamed are part of what is stored: no later version may give others.
func TestRepairGivesTheSameIDsEverywhere(t *testing.T) {
	t.Parallel()
	history := []message.Message{
		named("a", message.Assistant("", one)),
		named("a", message.User("hi")),
		{Role: message.RoleUser, Parts: []message.Part{message.Text("next")}},
	}
	got, _ := message.Repair(history, message.RepairOptions{})
	var ids []string
	for _, m := range got {
		ids = append(ids, m.ID)
	}
	want := []string{
		"20c0280b-3450-535f-9202-a013945d2674", // of the user before the assistant
		"a",
		"aedcc3c0-ba0a-5626-955d-1e9e4eca0a02", // of the result
		"a461312e-bccf-5fae-88a5-3fb458828114",
		"dba89a65-f0f0-5d0f-8d25-394d32d4dfa8",
	}
	if !slices.Equal(ids, want) {
		t.Errorf("the ids are %q, want %q", ids, want)
	}
}

// What is dropped is in the report, whole. // report 11
func TestFixesHoldWhatWasDropped(t *testing.T) {
	t.Parallel()
	late, orphan := one.Done("late"), two.Done("orphan")
	history := []message.Message{message.User("hi"), message.Assistant("", one), message.Tool(one.Done("x")), message.Tool(late, orphan)}
	_, fixes := message.Repair(history, message.RepairOptions{})
	var dropped []message.Part
	for _, f := range fixes {
		dropped = append(dropped, f.Dropped...)
	}
	if want := message.Tool(late, orphan).Parts; !reflect.DeepEqual(dropped, want) {
		t.Errorf("the report has %v, want %v", dropped, want)
	}
}
