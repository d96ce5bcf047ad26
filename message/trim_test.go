package message_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/message"
)

func TestTrim(t *testing.T) {
	t.Parallel()
	system, hi, found, next := message.System("s"), message.User("hi"), message.Assistant("found"), message.User("next")
	called := []message.Message{message.Assistant("", one), message.Tool(one.Done("x"))}
	open := []message.Message{message.Assistant("", two), message.Tool(interim(two))}
	orphan := message.Tool(message.Call{ID: "gone"}.Done("x"))
	for name, test := range map[string]struct {
		history []message.Message
		want    string
	}{
		"report 12: calls go with their results": {slices.Concat([]message.Message{hi}, called, []message.Message{next}), "user next"},
		"report 17: the user's latest message":   {slices.Concat([]message.Message{hi, next}, called), "user next"},
		"report 20, report 21: an open call":     {slices.Concat(open, []message.Message{hi, found, next, found}), "assistant track(c2); tool c2 ok at work...; user next"},
		"report 96: system messages":             {[]message.Message{system, hi, found, system, next}, "system s; system s; user next"},
		"an orphan":                              {[]message.Message{orphan, hi, orphan, next, orphan}, "user next"},
		"no user":                                {[]message.Message{found, orphan}, ""},
		"nothing":                                {nil, ""},
	} {
		kept, dropped := message.Trim(test.history, func(message.Group) bool { return true })
		if show(kept) != test.want || len(kept)+len(dropped) != len(test.history) {
			t.Errorf("%s: kept %s, want %s", name, show(kept), test.want)
		}
	}
}

// Whatever the history and whatever is to go: order and groups stay whole, and so do open calls, system messages and the
// user's latest message. All else goes if it is to go, orphans too.
// report 12, report 13, report 15, report 17, report 20, report 21, report 96
func TestTrimOfAnyHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		history := brokenHistory(t)
		must := map[string]bool{}
		for i := range history {
			history[i].ID = fmt.Sprint(i)
			if history[i].Role == message.RoleSystem {
				must[history[i].ID] = true
			}
		}
		for i := len(history) - 1; i >= 0; i-- {
			if history[i].Role == message.RoleUser {
				must[history[i].ID] = true
				break
			}
		}
		for _, g := range message.Groups(history) {
			for i, m := range g.Messages {
				if len(message.Open(g.Messages[i:i+1])) > 0 && len(message.Open(g.Messages)) > 0 {
					must[m.ID] = true
				}
			}
		}
		var asked []message.Group
		kept, dropped := message.Trim(history, func(g message.Group) bool { asked = append(asked, g); return true })
		var gone []message.Message
		for _, g := range asked {
			gone = append(gone, g.Messages...)
			for _, m := range g.Messages {
				if must[m.ID] {
					t.Fatalf("message %s of %s was to go", m.ID, show(history))
				}
			}
		}
		if !reflect.DeepEqual(gone, dropped) {
			t.Fatalf("dropped %s, not %s", show(dropped), show(gone))
		}
		left := slices.DeleteFunc(slices.Clone(history), func(m message.Message) bool {
			return slices.ContainsFunc(gone, func(g message.Message) bool { return g.ID == m.ID })
		})
		if len(left)+len(kept) > 0 && !reflect.DeepEqual(left, kept) {
			t.Fatalf("kept %s, not %s", show(kept), show(left))
		}
		for _, g := range message.Groups(kept) {
			holds := slices.ContainsFunc(g.Messages, func(m message.Message) bool { return must[m.ID] })
			if !holds {
				t.Fatalf("%s stays in %s for no reason", show(g.Messages), show(kept))
			}
		}
	})
}

// A repaired history that is trimmed breaks no rule, but that it may begin with the assistant and that its pending calls are
// open; none of them is lost. // report 12, report 13, report 20
func TestTrimAfterRepair(t *testing.T) {
	t.Parallel()
	many(t, 2000, func(t *rapid.T) {
		pending := func(c message.Call) bool { return c.ID == "a" }
		history, _ := message.Repair(calling(t), message.RepairOptions{Pending: pending})
		kept, _ := message.Trim(history, func(message.Group) bool { return rapid.Bool().Draw(t, "drop") })
		if open := message.Open(kept); !reflect.DeepEqual(open, message.Open(history)) {
			t.Fatalf("open calls are %v in %s, were in %s", open, show(kept), show(history))
		}
		if e, ok := errors.AsType[*message.InvalidError](message.Valid(kept)); ok {
			for _, v := range e.Violations {
				if v.Rule != message.RuleFirst && (v.CallID != "a" || v.Rule != message.RuleOpen && v.Rule != message.RuleCallID) {
					t.Fatalf("%s: %v", show(kept), v)
				}
			}
		}
	})
}
