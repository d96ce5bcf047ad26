package sessiontest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

var recordCases = []testCase{
	{"messages", "R9, R30", "a page and an audit need every message as it was", messages},
	{"pages of messages", "R30", "a page must not skip or repeat when something is written meanwhile", messagePages},
	{"one id, two messages", "R18", "a message that is replaced in silence is no audit", messageConflict},
	{"conversations", "R9", "a user has many", conversations},
	{"results", "R57, R58", "the prompt has an excerpt; the id must give the exact bytes", results},
	{"deletion", "R113", "what is deleted is gone, and nothing else", deletion},
}

func messages(e *env) {
	call := message.Call{ID: "call-1", Name: "find", Args: `{"q":"\u0000 <b>"}`}
	tool := message.Tool(call.Done("line 1\nline 2\x00"))
	want := []message.Message{
		says("m1", "支付服务 🙂 <system>"), message.Assistant("", call), tool, message.Assistant("done"),
		message.User("look", message.ImageData("image/png", []byte{0, 1, 255})),
	}
	before := time.Now()
	e.write(session.Write{Messages: want})
	got, err := e.store.Messages(e.Context(), e.scope, conv, session.Page{})
	e.ok(err)
	e.equal("messages", len(got), len(want))
	for i, m := range got {
		a, err := message.Encode([]message.Message{m.Message})
		e.ok(err)
		b, err := message.Encode([]message.Message{want[i]})
		e.ok(err)
		if !bytes.Equal(a, b) || m.Seq != int64(i+1) || m.Conversation != conv || m.At.Before(before.Add(-time.Minute)) {
			e.Errorf("message %d came back as %+v", i, m)
		}
	}
	if _, err := e.store.Messages(e.Context(), e.scope, "unknown", session.Page{}); err == nil {
		e.Error("messages of no conversation")
	}
	e.refused(session.ErrMessage, session.Write{Messages: []message.Message{{ID: "m9", Role: "nobody"}}})
	e.refused(session.ErrMessage, session.Write{Messages: []message.Message{says("m9", "\xff")}})
}

func messagePages(e *env) {
	const n = 25
	var w session.Write
	for i := range n {
		w.Messages = append(w.Messages, says(fmt.Sprint("m", i+1), "text"))
	}
	e.write(w)
	for _, newest := range []bool{false, true} {
		var got []int64
		p := session.Page{Limit: 7, Newest: newest}
		for page := 0; ; page++ {
			ms, err := e.store.Messages(e.Context(), e.scope, conv, p)
			e.ok(err)
			if len(ms) == 0 {
				break
			}
			for _, m := range ms {
				got = append(got, m.Seq)
			}
			p.After = ms[len(ms)-1].Seq
			if page == 1 && newest {
				e.write(session.Write{Messages: []message.Message{says("new", "text")}})
			}
		}
		if newest {
			slices.Reverse(got)
		}
		e.equal("messages", len(got), n)
		for i, seq := range got {
			e.equal("place", seq, i+1)
		}
	}
}

func messageConflict(e *env) {
	half := answers("a1", "half")
	half.Partial = true
	e.write(session.Write{Messages: []message.Message{says("m1", "text"), half}})
	for _, m := range []message.Message{says("m1", "another text"), answers("m1", "text"), says("a1", "half")} {
		e.refused(session.ErrConflict, session.Write{Messages: []message.Message{says("m2", "text"), m}})
	}
	e.write(session.Write{Messages: []message.Message{answers("a1", "the whole")}}) // what was cut off may be completed, once
	e.refused(session.ErrConflict, session.Write{Messages: []message.Message{answers("a1", "another whole")}})
	ms, err := e.store.Messages(e.Context(), e.scope, conv, session.Page{})
	e.ok(err)
	e.equal("messages", fmt.Sprintln(len(ms), ms[1].Text(), ms[1].Seq), "2 the whole 2\n")
	e.refused(session.ErrConflict, session.Write{Messages: []message.Message{says("m3", "a"), says("m3", "b")}})
	e.write(session.Write{Messages: []message.Message{says("m3", "a"), says("m3", "a")}})
}

func conversations(e *env) {
	const n = 12
	for i := range n {
		_, err := e.store.Write(e.Context(), e.scope, fmt.Sprint("c", i), session.Write{})
		e.ok(err)
	}
	seen := map[string]bool{}
	var after session.Conversation
	for {
		cs, err := e.store.Conversations(e.Context(), e.scope, after, 5)
		e.ok(err)
		if len(cs) == 0 {
			break
		}
		for _, c := range cs {
			if seen[c.ID] || c.Scope != e.scope || after.ID != "" && c.Created.After(after.Created) {
				e.Fatalf("conversation %+v after %+v", c, after)
			}
			seen[c.ID], after = true, c
		}
	}
	e.equal("conversations", len(seen), n)
	if _, err := e.store.State(e.Context(), e.scope, "unknown"); err == nil {
		e.Error("the state of no conversation")
	}
}

func results(e *env) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for i, body := range [][]byte{every, {}, []byte("\xff\x00"), bytes.Repeat([]byte("2026-01-01 error 502 上游\n"), 20_000)} {
		call := fmt.Sprint("call-", i)
		r := memory.Result{ID: memory.ResultID(e.scope, conv, call, body), Conversation: conv, Call: call, Name: "query_logs", Body: body}
		e.ok(e.store.PutResult(e.Context(), e.scope, r))
		e.ok(e.store.PutResult(e.Context(), e.scope, r))
		got, err := e.store.Result(e.Context(), e.scope, r.ID)
		e.ok(err)
		if !bytes.Equal(got.Body, body) || got.Call != call || got.Name != r.Name || got.ID != r.ID || got.Conversation != conv || got.At.IsZero() {
			e.Errorf("result %d came back as another one", i)
		}
		_, err = e.store.Result(e.Context(), e.newScope(), r.ID)
		e.is(err, memory.ErrNoResult)
		r.Body = append([]byte("x"), body...)
		e.is(e.store.PutResult(e.Context(), e.scope, r), session.ErrBadID)
	}
	for _, id := range []string{"", "r_unknown", "\x00", "\xff", strings.Repeat("x", 1000)} {
		_, err := e.store.Result(e.Context(), e.scope, id)
		e.is(err, memory.ErrNoResult)
	}
	small := e.open(e.T, session.Options{ResultBytes: 3})
	r := memory.Result{ID: memory.ResultID(e.scope, conv, "", every), Conversation: conv, Body: every}
	e.is(small.PutResult(e.Context(), e.scope, r), session.ErrTooLarge)
}

func deletion(e *env) {
	put := func(conversation string) memory.Result {
		w := set("m1", "testing")
		body := []byte("body")
		r := memory.Result{ID: memory.ResultID(e.scope, conversation, "call", body), Conversation: conversation, Call: "call", Body: body}
		w.Results = []memory.Result{r}
		w.Propose = []session.Proposal{session.Propose(session.CurrentService, session.Service{ID: "a"}, "m1", 0)}
		w.Pins = []pin.Pin{{ID: "p", Effect: pin.Rule, Text: "x", Message: "m1"}, {ID: "s-" + conversation, Effect: pin.Rule, Text: "x", Message: "m1", Standing: true}}
		_, err := e.store.Write(e.Context(), e.scope, conversation, w)
		e.ok(err)
		return r
	}
	gone, stays := put("gone"), put("stays")
	e.ok(e.store.Delete(e.Context(), e.scope, "gone"))
	e.ok(e.store.Delete(e.Context(), e.scope, "gone"))
	_, err := e.store.State(e.Context(), e.scope, "gone")
	e.is(err, session.ErrNotFound)
	_, err = e.store.Result(e.Context(), e.scope, gone.ID)
	e.is(err, memory.ErrNoResult)
	_, err = e.store.Result(e.Context(), e.scope, stays.ID)
	e.ok(err)
	st, err := e.store.State(e.Context(), e.scope, "stays")
	e.ok(err)
	e.equal("what stays", fmt.Sprint(len(st.Facts), len(st.Candidates), len(st.Pins)), "1 1 3")
	st, err = e.store.Write(e.Context(), e.scope, "gone", session.Write{}) // a new one of the same name is empty
	e.ok(err)
	e.equal("a new one", fmt.Sprint(len(st.Facts), len(st.Candidates), len(st.Pins), st.Conversation.Messages), "0 0 2 0")
	h, err := e.store.FactHistory(e.Context(), e.scope, "gone", "env")
	e.ok(err)
	e.equal("history of the new one", len(h), 0)

	e.ok(e.store.Erase(e.Context(), e.scope))
	cs, err := e.store.Conversations(e.Context(), e.scope, session.Conversation{}, 0)
	e.ok(err)
	ps, err := e.store.Pins(e.Context(), e.scope, "stays")
	e.ok(err)
	_, err = e.store.Result(e.Context(), e.scope, stays.ID)
	e.is(err, memory.ErrNoResult)
	e.equal("what is left of a scope", fmt.Sprint(len(cs), len(ps), e.count(e.scope)), "0 0 0")

	_, err = e.store.Write(e.Context(), e.scope, "stays", session.Write{})
	e.is(err, memory.ErrErased)
	e.is(e.store.PutResult(e.Context(), e.scope, stays), memory.ErrErased)
	e.equal("rows after a late write", e.count(e.scope), 0)
	e.ok(e.store.Readmit(e.Context(), e.scope))
	_, err = e.store.Write(e.Context(), e.scope, "stays", session.Write{})
	e.ok(err)
	e.equal("rows of who came back", e.count(e.scope), 1)
	e.ok(e.store.Compact(e.Context()))
}

func (e *env) count(s memory.Scope) int {
	e.Helper()
	n, err := e.store.Count(e.Context(), s)
	e.ok(err)
	return n
}

var pinCases = []testCase{
	{"pins", "R49", "what the user forbade is kept word for word, outside every history", pins},
	{"who pins and lifts", "R49, R50", "a model that could lift a denial would", whoPins},
}

func pins(e *env) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	deny := pin.Pin{ID: "p1", Effect: pin.Deny, Text: "不要重启生产实例", Actions: []string{"restart"}, Env: "production", Message: "m1", At: at}
	rule := pin.Pin{ID: "p2", Effect: pin.Rule, Text: "always answer in Chinese", Standing: true, Message: "m1", At: at.Add(time.Second)}
	w := session.Write{Messages: []message.Message{says("m1", "不要重启生产实例")}, Pins: []pin.Pin{rule, deny}}
	st := e.write(w)
	e.equal("pins", st.Pins, []pin.Pin{deny, rule})
	w.Pins[0].At = at.Add(time.Hour) // recognised again by a retry
	e.again(w)
	w.Pins[0].Text = "another text"
	e.refused(session.ErrConflict, w)
	w.Pins[0].Text = rule.Text

	other, err := e.store.Pins(e.Context(), e.scope, "not there yet")
	e.ok(err)
	e.equal("pins of a new conversation", other, []pin.Pin{rule})

	lift := session.Write{Messages: []message.Message{says("m2", "你可以重启了")}, Lift: []session.Lift{{Pin: "p1", Message: "m2"}}}
	st = e.write(lift)
	e.again(lift)
	e.equal("pins after one was lifted", st.Pins, []pin.Pin{rule})
	w.Pins[0].At = rule.At
	e.again(w)                                                            // a late retry does not bring it back
	_, err = e.store.Write(e.Context(), e.scope, "second", session.Write{ // the standing one, from elsewhere
		Messages: []message.Message{says("m1", "English please")}, Lift: []session.Lift{{Pin: "p2", Message: "m1"}},
	})
	e.ok(err)
	e.equal("pins after the standing one was lifted", len(e.state().Pins), 0)
}

func whoPins(e *env) {
	p := pin.Pin{ID: "p1", Effect: pin.Deny, Text: "text", Message: "a1"}
	m := []message.Message{says("m1", "text"), answers("a1", "text"), ended("t1", "call-1", message.StatusOK)}
	e.refused(session.ErrUnconfirmed, session.Write{Messages: m, Pins: []pin.Pin{p}})
	p.Message = "m1"
	e.write(session.Write{Messages: m, Pins: []pin.Pin{p}})
	for _, by := range []string{"a1", "t1", "call-1", "unknown", ""} {
		e.refused(session.ErrUnconfirmed, session.Write{Lift: []session.Lift{{Pin: "p1", Message: by}}})
	}
	e.refused(session.ErrNoPin, session.Write{Lift: []session.Lift{{Pin: "p2", Message: "m1"}}})
	e.refused(session.ErrBadID, session.Write{Pins: []pin.Pin{{Effect: pin.Deny, Message: "m1"}}})
	e.refused(session.ErrMessage, session.Write{Pins: []pin.Pin{{ID: "p3", Effect: "wish", Message: "m1"}}})
	e.refused(session.ErrTooLarge, session.Write{Pins: []pin.Pin{{ID: "p3", Effect: pin.Deny, Text: strings.Repeat("x", 10_000), Message: "m1"}}})
	e.store = e.open(e.T, session.Options{Pins: 2})
	e.write(session.Write{Messages: m, Pins: []pin.Pin{p}})
	many := session.Write{Pins: []pin.Pin{
		{ID: "p3", Effect: pin.Rule, Message: "m1"}, {ID: "p4", Effect: pin.Rule, Message: "m1", Standing: true},
	}}
	e.refused(session.ErrTooLarge, many)
}
