package compact_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/message"
)

func find(history []message.Message, id string) (message.Message, bool) {
	i := slices.IndexFunc(history, func(m message.Message) bool { return m.ID == id })
	if i < 0 {
		return message.Message{}, false
	}
	return history[i], true
}

// System messages, open calls and calls with only an interim result outlast any number of compactions, and their results find
// them. report 20, report 21, report 96
func TestOpenCallsAndSystemMessagesAreHeld(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 2000, SummaryCap: 200, ChunkCap: 1000})
	pay, build := message.Call{ID: "pay", Name: "pay", Args: `{"n":1}`}, message.Call{ID: "build", Name: "build", Args: "{}"}
	at := build.Done("at work")
	at.Interim = true
	held := []message.Message{message.System("be kind"), message.User("pay it"), message.Assistant("", pay), message.Assistant("", build), message.Tool(at)}
	st := compact.State{History: slices.Concat(held[:1], talk(2), held[1:], []message.Message{message.System("and brief")})}
	for range 10 {
		st.History = append(st.History, talk(8)...)
		st, _ = do(t, c, scope, st)
	}
	for i, m := range held {
		if got, ok := find(st.History, m.ID); !ok || !reflect.DeepEqual(got, m) {
			t.Errorf("message %d became %v", i, got)
		}
	}
	if open := message.Open(st.History); len(open) != 2 || st.History[1].Text() != "pay it" {
		t.Errorf("%d calls are open, the first message is %q", len(open), st.History[1].Text())
	}
	st.History = append(st.History, message.Tool(pay.Done("paid"), build.Done("built")))
	if len(message.Open(st.History)) != 0 {
		t.Error("a call is open after its result")
	}
}

// The latest user message stays as it is, whatever its size; if it is above the budget alone, the report says so and all
// else is as small as it may be. R56, T3, T10, report 17, report 98, report 99
func TestLatestUserMessageStays(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, 3000, 200000} {
		s, scope := &shelf{}, scopeOf(t, "li")
		c := newCompactor(t, s, compact.Options{Budget: 4000})
		call := message.Call{ID: "c1", Name: "logs", Args: "{}"}
		ask := message.User(words(size, false))
		history := slices.Concat(talk(12), []message.Message{ask, message.Assistant("", call), message.Tool(call.Done(logOf(2000)))})
		st, report := do(t, c, scope, compact.State{History: history})
		if got, ok := find(st.History, ask.ID); !ok || !reflect.DeepEqual(got, ask) {
			t.Errorf("%d: the message is gone or another", size)
		}
		if over := tokens(ask.Text()) > 4000; over != (report.Stop == compact.Held) || !over && report.After > 4000 {
			t.Errorf("%d: %+v", size, report)
		}
		if err := message.Valid(st.History); err != nil || !strings.Contains(st.History[len(st.History)-1].Text(), "full text: result r_") {
			t.Errorf("%d: %v", size, err)
		}
	}
}

// One turn of many steps that is longer than the budget goes on: its oldest steps are taken out, the newest stay. R56, R59
func TestOneLongTurnGoesOn(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 3000, SummaryCap: 200, ChunkCap: 1000})
	ask := message.User("Find the slow query.")
	st := compact.State{History: []message.Message{ask}}
	for i := range 60 {
		call := message.Call{ID: fmt.Sprint("c", i), Name: "logs", Args: "{}"}
		st.History = append(st.History, message.Assistant("", call), message.Tool(call.Done(logOf(40))))
		var report compact.Report
		if st, report = do(t, c, scope, st); report.After > 2400 || st.History[0].ID != ask.ID || message.Valid(st.History) != nil {
			t.Fatalf("step %d: %+v", i, report)
		}
		if got := st.History[len(st.History)-1].Text(); got != logOf(40) && tokens(got) < 300 {
			t.Fatalf("step %d: the newest result is %q", i, got)
		}
	}
}

// What the user says while a tool is at work leaves a history that begins with the user. report 17, report 96
func TestWordsBetweenACallAndItsResult(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 2000, SummaryCap: 200, ChunkCap: 1000})
	call := message.Call{ID: "c1", Name: "look", Args: "{}"}
	history := append(talk(6), message.User("look"))
	for range 4 {
		history = append(history, message.Assistant(words(400, false)))
	}
	between := message.User("and hurry")
	history = append(history, message.Assistant("", call), between, message.Tool(call.Done(words(300, false))))
	st, report := do(t, c, scope, compact.State{History: history})
	if _, ok := find(st.History, between.ID); !ok || report.Stop != compact.Done || len(report.Evicted) == 0 || st.History[0].Text() != "look" {
		t.Errorf("%+v: it begins with %s %.40q", report, st.History[0].Role, st.History[0].Text())
	}
}

// A history of tool traffic alone, with results that answer no call, is compacted like any other. report 97
func TestOrphansDoNotBlock(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 2000, SummaryCap: 200, ChunkCap: 1000})
	var history []message.Message
	for i := range 30 {
		history = append(history, message.Tool(message.Call{ID: fmt.Sprint("x", i), Name: "logs"}.Done("REF-"+fmt.Sprint(5000+i)+" "+words(150, false))))
	}
	st, report := do(t, c, scope, compact.State{History: history})
	if report.Stop != compact.Done || report.After > 1000 || len(report.Evicted)+len(st.History) != 30 {
		t.Errorf("%+v", report)
	}
	if !strings.Contains(reads(t, s, scope, st, "REF-5000"), "REF-5000") {
		t.Error("the first result is out of reach")
	}
}

// anyHistory makes turns with parallel calls, late, interim, missing and orphaned results, Chinese and messages of up to a
// megabyte. Now and then it is one that any provider takes.
func anyHistory(t *rapid.T) []message.Message {
	text := rapid.OneOf(
		rapid.StringN(1, 40, -1),
		rapid.SampledFrom([]string{"好的。", "😀 e\u0301", "Order ORD-77123 was approved.", "默认环境改为生产。", words(100, true), words(400, false), logOf(100), "Full text of 3 earlier messages: result r_00000000000000000000"}),
		rapid.Map(rapid.IntRange(0, 300), func(n int) string {
			if n == 0 {
				return strings.Repeat("大", 350000)
			}
			return words(n, n%2 == 0)
		}),
	)
	history := []message.Message{message.System("be kind")}
	strict, n := rapid.Bool().Draw(t, "strict"), 0
	for range rapid.IntRange(1, 14).Draw(t, "turns") {
		history = append(history, message.User(text.Draw(t, "ask")))
		for range rapid.IntRange(0, 2).Draw(t, "steps") {
			var calls []message.Call
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				n++
				calls = append(calls, message.Call{ID: fmt.Sprint("c", n), Name: "look", Args: "{}"})
			}
			history = append(history, message.Assistant(rapid.SampledFrom([]string{"", "let me look"}).Draw(t, "say"), calls...))
			for _, c := range calls {
				r := c.Done(text.Draw(t, "result"))
				if kind := rapid.IntRange(0, 9).Draw(t, "kind"); !strict && kind == 0 {
					continue // open
				} else if !strict && kind == 1 {
					r.Interim = true
				} else if !strict && kind == 2 {
					r.CallID = "orphan"
				}
				history = append(history, message.Tool(r))
			}
		}
		if strict || rapid.Bool().Draw(t, "answers") {
			history = append(history, message.Assistant(text.Draw(t, "answer")))
		}
	}
	return history
}

// For any history: groups whole and in order, each id once, the latest user message and system messages as they were, open
// calls open, a valid history valid, the summary below its cap, the size below the budget unless what is held is above it,
// and every message that was taken out or cut found in the results. Doing it again changes nothing.
// R47, R49, R52, R56, R58, T9, T10, T11, T12, report 15, 16, 17, 20, 21, 96, 97, 99, 103
func TestAnyHistoryIsCompactedSafely(t *testing.T) {
	t.Parallel()
	tb := t
	rapid.Check(t, func(t *rapid.T) {
		s := &shelf{}
		scope := scopeOf(tb, "li")
		o := compact.Options{Budget: rapid.SampledFrom([]int{1000, 3000, 8000}).Draw(t, "budget"), SummaryCap: 128, ChunkCap: 800,
			Rounds: rapid.IntRange(1, 6).Draw(t, "rounds")}
		c, err := compact.New(counter{}, s, o)
		if err != nil {
			t.Fatal(err)
		}
		given := compact.State{History: anyHistory(t)}
		before := fmt.Sprint(given)
		st, report, err := c.Compact(tb.Context(), scope, "talk", given)
		if err != nil || fmt.Sprint(given) != before {
			t.Fatalf("error %v, or the history that was given has changed", err)
		}
		checkKept(t, given.History, st.History)
		checkFound(t, s, given.History, st, report)
		if report.SummaryTokens > 128 || report.Stop == compact.Done && report.After > o.Budget || report.Stop == compact.Held && report.After <= o.Budget {
			t.Fatalf("%+v", report)
		}
		again, second, err := c.Compact(tb.Context(), scope, "talk", st)
		if err != nil || second.Stop == compact.Below && fmt.Sprint(again) != fmt.Sprint(st) || second.After > report.After {
			t.Fatalf("again: %v, %+v after %+v", err, second, report)
		}
	})
}

// checkKept compares what is left with what was given.
func checkKept(t *rapid.T, given, left []message.Message) {
	if message.Valid(given) == nil {
		if err := message.Valid(left); err != nil {
			t.Fatalf("a valid history became invalid: %v", err)
		}
	}
	if a, b := message.Open(given), message.Open(left); !reflect.DeepEqual(a, b) {
		t.Fatalf("open calls were %v and are %v", a, b)
	}
	at := 0
	for _, m := range slices.Backward(given) {
		if m.Role == message.RoleUser {
			if got, ok := find(left, m.ID); !ok || !reflect.DeepEqual(got, m) {
				t.Fatal("the latest user message is gone or another")
			}
			break
		}
	}
	for _, g := range message.Groups(given) {
		kept := 0
		for _, m := range g.Messages {
			if at < len(left) && left[at].ID == m.ID {
				kept, at = kept+1, at+1
			}
		}
		if kept != 0 && kept != len(g.Messages) || kept == 0 && g.Messages[0].Role == message.RoleSystem {
			t.Fatalf("%d messages are left of a group of %d", kept, len(g.Messages))
		}
	}
	if at != len(left) {
		t.Fatalf("%d messages are left, %d of them in order", len(left), at)
	}
}

// checkFound looks for every text that is no longer in the history in the results.
func checkFound(t *rapid.T, s *shelf, given []message.Message, st compact.State, report compact.Report) {
	var stored strings.Builder
	for _, byID := range s.kept {
		for _, r := range byID {
			stored.Write(r.Body)
			stored.WriteByte('\n')
		}
	}
	gone := map[string]bool{}
	for _, id := range report.Evicted {
		gone[id] = true
	}
	for _, m := range given {
		left, ok := find(st.History, m.ID)
		if ok == gone[m.ID] {
			t.Fatalf("message %s is left: %v, reported gone: %v", m.ID, ok, gone[m.ID])
		}
		if (!ok || left.Text() != m.Text()) && !strings.Contains(stored.String(), m.Text()) {
			t.Fatalf("a message of role %s is nowhere: %.200q", m.Role, m.Text())
		}
	}
	if !slices.Equal(st.Summary.Covers, report.Evicted) {
		t.Fatalf("the summary covers %v of %v", st.Summary.Covers, report.Evicted)
	}
}
