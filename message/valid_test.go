package message_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/message"
)

func interim(c message.Call) message.Result {
	r := c.Done("at work")
	r.Interim = true
	return r
}

// report 12, report 13, report 16
func TestValidListsEveryViolation(t *testing.T) {
	t.Parallel()
	ask, end := message.User("hi"), message.Assistant("done")
	both := message.Assistant("", one, two)
	again := message.Assistant("", one)
	for name, test := range map[string]struct {
		history []message.Message
		want    string // index and rule of each violation
	}{
		"empty":                  {nil, ""},
		"plain":                  {[]message.Message{message.System("s"), ask, end}, ""},
		"results apart":          {[]message.Message{ask, both, message.Tool(two.Done("x")), message.Tool(one.Done("x")), end}, ""},
		"results together":       {[]message.Message{ask, both, message.Tool(one.Done("x"), two.Done("x"))}, ""},
		"open call":              {[]message.Message{ask, both, message.Tool(one.Done("x")), end}, "1 open"},
		"all open":               {[]message.Message{ask, both}, "1 open, 1 open"},
		"interim only":           {[]message.Message{ask, again, message.Tool(interim(one))}, "1 open"},
		"interim and final":      {[]message.Message{ask, again, message.Tool(interim(one)), message.Tool(one.Done("x"))}, "1 once"},
		"two results":            {[]message.Message{ask, again, message.Tool(one.Done("x"), one.Done("y"))}, "1 once"},
		"orphan":                 {[]message.Message{ask, message.Tool(one.Done("x")), end}, "1 orphan"},
		"result before call":     {[]message.Message{ask, message.Tool(one.Done("x")), again}, "1 orphan, 2 open"},
		"user between":           {[]message.Message{ask, again, message.User("hurry"), message.Tool(one.Done("x"))}, "3 place"},
		"assistant first":        {[]message.Message{message.System("s"), end}, "1 first"},
		"tool first":             {[]message.Message{message.Tool(one.Done("x"))}, "0 first, 0 orphan"},
		"message twice":          {[]message.Message{ask, ask}, "1 messageid"},
		"no id":                  {[]message.Message{{Role: message.RoleUser, Parts: ask.Parts}}, "0 messageid"},
		"call id used again":     {[]message.Message{ask, again, message.Tool(one.Done("x")), message.Assistant("", one), message.Tool(one.Done("y"))}, "3 callid"},
		"one call id, two names": {[]message.Message{ask, message.Assistant("", one, message.Call{ID: "c1", Name: "track", Args: "{}"}), message.Tool(message.Call{ID: "c1", Name: "track"}.Done("x"), one.Done("y"))}, "1 callid"},
		"call without an id":     {[]message.Message{ask, message.Assistant("", message.Call{Args: "{}"}), message.Tool(message.Call{}.Done("x"))}, "1 callid"},
		"arguments cut off":      {[]message.Message{ask, message.Assistant("", message.Call{ID: "c", Args: `{"a":`}), message.Tool(message.Call{ID: "c"}.Done("x"))}, "1 args"},
		"arguments no object":    {[]message.Message{ask, message.Assistant("", message.Call{ID: "c", Args: `[]`}), message.Tool(message.Call{ID: "c"}.Done("x"))}, "1 args"},
		"no parts":               {[]message.Message{ask, message.Assistant("")}, "1 empty"},
		"empty text":             {[]message.Message{message.User("")}, "0 empty"},
		"only white space":       {[]message.Message{message.User("\n\t ")}, "0 empty"},
		"failed without words":   {[]message.Message{ask, again, message.Tool(one.Ended(message.StatusError, ""))}, "2 empty"},
		"nothing to say":         {[]message.Message{ask, again, message.Tool(one.Done(""))}, ""},
		"unknown role":           {[]message.Message{ask, {ID: "1", Role: "robot", Parts: ask.Parts}}, "1 form"},
		"result names no tool":   {[]message.Message{ask, again, message.Tool(message.Result{CallID: "c1", Status: message.StatusOK})}, "2 form"},
		"call inside user text":  {[]message.Message{{ID: "1", Role: message.RoleUser, Parts: again.Parts}}, "0 form, 0 open"},
	} {
		var got []string
		err := message.Valid(test.history)
		if e, ok := errors.AsType[*message.InvalidError](err); ok {
			for _, v := range e.Violations {
				got = append(got, fmt.Sprint(v.Index, " ", v.Rule))
				if v.ID != test.history[v.Index].ID || !strings.Contains(e.Error(), v.Detail) {
					t.Errorf("%s: violation %+v in %v", name, v, e)
				}
			}
		}
		if strings.Join(got, ", ") != test.want || errors.Is(err, message.ErrInvalid) != (test.want != "") {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

func TestGroupsOfCalls(t *testing.T) {
	t.Parallel()
	ask, end := message.User("hi"), message.Assistant("done")
	for name, test := range map[string]struct {
		history []message.Message
		want    []int // sizes
	}{
		"none":                {nil, nil},
		"parallel calls":      {[]message.Message{ask, message.Assistant("", one, two), message.Tool(one.Done("x")), message.Tool(two.Done("x")), end}, []int{1, 3, 1}}, // report 15
		"late result":         {[]message.Message{ask, message.Assistant("", one), message.Tool(interim(one)), ask, end, message.Tool(one.Done("x")), end}, []int{1, 5, 1}},
		"interleaved":         {[]message.Message{message.Assistant("", one), message.Assistant("", two), message.Tool(one.Done("x")), message.Tool(two.Done("x"))}, []int{4}},
		"orphan":              {[]message.Message{message.Tool(one.Done("x")), ask}, []int{1, 1}},
		"open":                {[]message.Message{message.Assistant("", one), ask}, []int{1, 1}},
		"ids counted by turn": {[]message.Message{message.Assistant("", one), message.Tool(one.Done("x")), message.Assistant("", one), message.Tool(one.Done("x"))}, []int{2, 2}},
	} {
		var got []int
		for _, g := range message.Groups(test.history) {
			got = append(got, len(g.Messages))
		}
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: groups of %v, want %v", name, got, test.want)
		}
	}
}

// report 21
func TestACallIsOpenUntilItsFinalResult(t *testing.T) {
	t.Parallel()
	history := []message.Message{message.User("hi"), message.Assistant("", one, two), message.Tool(interim(one), two.Done("x"))}
	if open := message.Open(history); len(open) != 1 || open[0] != one {
		t.Errorf("open calls are %v, want %v", open, one)
	}
	history = append(history, message.Tool(one.Ended(message.StatusTimedOut, "too late")))
	if open := message.Open(history); open != nil {
		t.Errorf("open calls are %v after all results", open)
	}
}

// Appending to the messages of a group does not write into the history.
func TestGroupsDoNotShareTheirEnd(t *testing.T) {
	t.Parallel()
	history := []message.Message{message.User("a"), message.User("b")}
	_ = append(message.Groups(history)[0].Messages, message.User("c"))
	if history[1].Text() != "b" {
		t.Error("the history was overwritten")
	}
}
