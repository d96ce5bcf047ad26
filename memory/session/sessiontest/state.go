package sessiontest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

var stateCases = []testCase{
	{"typed fields", "R13, R21", "a field has a type, and a fact says what confirmed it and when", typedFields},
	{"what a field does not allow", "R13", "an unknown field or value would be rendered as confirmed", badValues},
	{"own fields", "R13", "every product has fields of its own", ownFields},
	{"one transaction", "R17", "a fact without the message that confirmed it cannot be explained", oneTransaction},
	{"patches merge", "R18", "parallel tools confirm different fields", patchesMerge},
	{"one field, many writers", "R18", "versions must have no gap and the last one is current", oneField},
	{"repeated writes", "R18", "a retry after a crash must not bring back what was corrected since", repeated},
	{"no messages", "R19, R20, R31", "the state does not depend on the history", noMessages},
	{"corrections", "R22, R117", "a correction holds at once, and the history stays", corrections},
	{"two conversations", "R28, T20", "a second task must not see the first one's state", twoConversations},
	{"limits of the state", "T31", "the state is in every prompt, in the part that is never cut", stateLimits},
}

func typedFields(e *env) {
	before := time.Now()
	e.write(session.Write{
		Messages: []message.Message{says("m1", "payment-api in testing"), ended("m2", "call-1", message.StatusOK)},
		Set: []session.Change{
			session.Set(session.CurrentService, session.Service{ID: "svc-7", Name: "payment-api"}, session.FromTool("call-1")),
			session.Set(session.Env, "testing", session.FromUser("m1")),
		},
	})
	st := e.state()
	svc, ok := session.Get(st, session.CurrentService)
	e.equal("service", fmt.Sprint(svc, ok), "{svc-7 payment-api} true")
	e.equal("environment", e.env(), "testing")
	for field, want := range map[string]session.Source{"env": session.FromUser("m1"), "currentService": session.FromTool("call-1")} {
		f, ok := st.Fact(field)
		if !ok || f.Source != want || f.Version != 1 || f.At.Before(before.Add(-time.Minute)) || f.At.After(time.Now().Add(time.Minute)) {
			e.Errorf("fact %+v; want one from %+v", f, want)
		}
	}
	if st.Conversation.ID != conv || st.Conversation.Scope != e.scope || st.Conversation.Messages != 2 || st.Conversation.Created.IsZero() {
		e.Errorf("conversation %+v", st.Conversation)
	}
}

func badValues(e *env) {
	m := []message.Message{says("m1", "text")}
	u := session.FromUser("m1")
	for _, c := range []session.Change{
		session.Set(session.Env, "prod", u),
		session.Set(session.Env, "", u),
		session.Set(session.CurrentService, session.Service{Name: "no id"}, u),
		{Field: "env", Value: json.RawMessage(`7`), Source: u},
		{Field: "env", Value: json.RawMessage(`"testing" "production"`), Source: u},
		{Field: "env", Value: json.RawMessage(``), Source: u},
		{Field: "currentService", Value: json.RawMessage(`{"id":"a","owner":"b"}`), Source: u},
	} {
		err := e.refused(session.ErrInvalidValue, session.Write{Messages: m, Set: []session.Change{c}})
		if f, ok := errors.AsType[*session.FieldError](err); !ok || f.Field != c.Field || f.Reason == "" {
			e.Errorf("%s = %s: %v", c.Field, c.Value, err)
		}
	}
	other := session.NewField[string]("tier")
	err := e.refused(session.ErrUnknownField, session.Write{Messages: m, Set: []session.Change{session.Set(other, "gold", u)}})
	if !strings.Contains(err.Error(), "currentService, env") {
		e.Errorf("the error does not say what there is: %v", err)
	}
	e.refused(session.ErrUnknownField, session.Write{Messages: m, Propose: []session.Proposal{session.Propose(other, "gold", "m1", 0)}})
	e.refused(session.ErrInvalidValue, session.Write{Messages: m, Propose: []session.Proposal{session.Propose(session.Env, "prod", "m1", 0)}})
}

func ownFields(e *env) {
	order := session.NewField("order", func(n int) error {
		if n <= 0 {
			return errors.New("an order number is above 0")
		}
		return nil
	})
	e.store = e.open(e.T, session.Options{Fields: []session.Definition{order}})
	st := e.write(session.Write{
		Messages: []message.Message{says("m1", "order 1042")},
		Set:      []session.Change{session.Set(order, 1042, session.FromUser("m1"))},
	})
	n, ok := session.Get(st, order)
	e.equal("order", fmt.Sprint(n, ok), "1042 true")
	if _, ok := session.Get(st, session.NewField[string]("order")); ok {
		e.Error("a number was read as a text")
	}
	e.refused(session.ErrInvalidValue, session.Write{Set: []session.Change{session.Set(order, -1, session.FromUser("m1"))}})
	e.refused(session.ErrUnknownField, session.Write{Set: []session.Change{session.Set(session.Env, "testing", session.FromUser("m1"))}})
}

func oneTransaction(e *env) {
	e.write(set("m1", "testing"))
	bad := set("m2", "production")
	bad.Set = append(bad.Set, session.Set(session.CurrentService, session.Service{ID: "x"}, session.FromTool("never ran")))
	e.refused(session.ErrUnconfirmed, bad)
	e.equal("environment", e.env(), "testing")
	bad.Set = bad.Set[:1]
	e.write(bad)
	e.equal("environment", e.env(), "production")
}

func patchesMerge(e *env) {
	const n = 64
	var fields []session.Definition
	for i := range n {
		fields = append(fields, session.NewField[int](fmt.Sprint("field-", i)))
	}
	e.store = e.open(e.T, session.Options{Fields: fields})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			id := fmt.Sprint("m-", i)
			w := session.Write{
				Messages: []message.Message{says(id, "text")},
				Set:      []session.Change{session.Set(session.NewField[int](fmt.Sprint("field-", i)), i, session.FromUser(id))},
			}
			if _, err := e.store.Write(e.Context(), e.scope, conv, w); err != nil {
				e.Errorf("field %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	st := e.state()
	e.equal("facts", len(st.Facts), n)
	for i := range n {
		if v, ok := session.Get(st, session.NewField[int](fmt.Sprint("field-", i))); !ok || v != i {
			e.Errorf("field %d is %d, %v", i, v, ok)
		}
	}
	e.equal("messages", st.Conversation.Messages, n)
}

func oneField(e *env) {
	const n = 32
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := e.store.Write(e.Context(), e.scope, conv, set(fmt.Sprint("m-", i), []string{"testing", "production"}[i%2])); err != nil {
				e.Error(err)
			}
		})
	}
	wg.Wait()
	h, err := e.store.FactHistory(e.Context(), e.scope, conv, "env")
	e.ok(err)
	e.equal("facts", len(h), n)
	for i, f := range h {
		e.equal("version", f.Version, i+1)
	}
	current, _ := e.state().Fact("env")
	e.equal("the current fact", current, h[n-1])
}

func repeated(e *env) {
	w := set("m1", "testing")
	w.Messages = append(w.Messages, ended("m2", "call-1", message.StatusOK))
	w.Set = append(w.Set, session.Set(session.CurrentService, session.Service{ID: "a"}, session.FromTool("call-1")))
	w.Propose = []session.Proposal{session.Propose(session.Env, "production", "m2", 0)}
	e.write(w)
	e.again(w)
	e.write(set("m3", "production"))
	e.again(w) // what was corrected since stays corrected
	e.equal("environment", e.env(), "production")
	e.again(session.Write{})
}

func noMessages(e *env) {
	e.write(session.Write{
		Messages: []message.Message{says("m1", "look at payment-api"), ended("m2", "call-1", message.StatusOK)},
		Set:      []session.Change{session.Set(session.CurrentService, session.Service{ID: "svc-7", Name: "payment-api"}, session.FromTool("call-1"))},
	})
	before := e.state()
	n, err := e.store.DeleteMessages(e.Context(), e.scope, conv, time.Now().Add(time.Hour))
	e.ok(err)
	e.equal("deleted messages", n, 2)
	ms, err := e.store.Messages(e.Context(), e.scope, conv, session.Page{})
	e.ok(err)
	e.equal("messages", len(ms), 0)
	st := e.state()
	e.equal("the state without messages", st, before)
	svc, _ := session.Get(st, session.CurrentService)
	e.equal("service", svc, session.Service{ID: "svc-7", Name: "payment-api"})
	if s := st.Summary(); !strings.Contains(s, `{"id":"svc-7","name":"payment-api"}`) {
		e.Errorf("summary:\n%s", s)
	}
	// What is gone confirms nothing, and numbers are not given out again.
	e.refused(session.ErrUnconfirmed, session.Write{Set: []session.Change{session.Set(session.Env, "testing", session.FromUser("m1"))}})
	e.refused(session.ErrUnconfirmed, session.Write{Set: []session.Change{session.Set(session.Env, "testing", session.FromTool("call-1"))}})
	e.write(session.Write{Messages: []message.Message{says("m3", "its log")}})
	ms, err = e.store.Messages(e.Context(), e.scope, conv, session.Page{})
	e.ok(err)
	e.equal("the next message's place", ms[0].Seq, 3)
	n, err = e.store.DeleteMessages(e.Context(), e.scope, conv, ms[0].At)
	e.ok(err)
	e.equal("messages before the only one", n, 0)
}

func corrections(e *env) {
	e.write(set("m1", "testing"))
	st := e.write(set("m2", "production"))
	v, _ := session.Get(st, session.Env)
	e.equal("environment", v, "production")
	if s := st.Summary(); !strings.Contains(s, "production") || strings.Contains(s, "testing") {
		e.Errorf("summary after a correction:\n%s", s)
	}
	st = e.write(session.Write{
		Messages: []message.Message{says("m3", "forget the environment")},
		Set:      []session.Change{session.Unset(session.Env, session.FromUser("m3"))},
	})
	if _, ok := session.Get(st, session.Env); ok || st.Summary() != "" {
		e.Errorf("a withdrawn field is still there: %+v", st)
	}
	e.write(set("m4", "testing"))
	h, err := e.store.FactHistory(e.Context(), e.scope, conv, "env")
	e.ok(err)
	var got []string
	for _, f := range h {
		got = append(got, fmt.Sprintf("%d %s %s", f.Version, f.Value, f.Ref))
	}
	e.equal("history", strings.Join(got, ", "), `1 "testing" m1, 2 "production" m2, 3  m3, 4 "testing" m4`)
	h, err = e.store.FactHistory(e.Context(), e.scope, conv, "unknown")
	e.ok(err)
	e.equal("history of no field", len(h), 0)
}

func twoConversations(e *env) {
	e.write(set("m1", "testing"))
	_, err := e.store.Write(e.Context(), e.scope, "second", session.Write{})
	e.ok(err)
	st, err := e.store.State(e.Context(), e.scope, "second")
	e.ok(err)
	e.equal("facts of a new conversation", len(st.Facts), 0)
	_, err = e.store.Write(e.Context(), e.scope, "second", session.Write{Set: []session.Change{session.Set(session.Env, "production", session.FromUser("m1"))}})
	e.is(err, session.ErrUnconfirmed) // said elsewhere
	_, err = e.store.Write(e.Context(), e.scope, "second", set("m1", "production"))
	e.ok(err)
	e.equal("environment of the first", e.env(), "testing")
}

func stateLimits(e *env) {
	note := session.NewField[string]("note")
	e.store = e.open(e.T, session.Options{Fields: []session.Definition{note, session.Env}, Candidates: 2, MessageBytes: 10_000, ResultBytes: 10, Batch: 3})
	e.write(set("m1", "testing"))
	for _, w := range []session.Write{
		{Set: []session.Change{session.Set(note, strings.Repeat("很长", 1000), session.FromUser("m1"))}},
		{Propose: []session.Proposal{session.Propose(note, strings.Repeat("long ", 2000), "m1", 0)}},
		{Propose: []session.Proposal{
			session.Propose(note, "a", "m1", 0), session.Propose(note, "b", "m1", 0), session.Propose(note, "c", "m1", 0),
		}},
		{Messages: []message.Message{says("m2", strings.Repeat("x", 10_001))}},
		{Lift: make([]session.Lift, 4)},
	} {
		err := e.refused(session.ErrTooLarge, w)
		if l, ok := errors.AsType[*session.TooLargeError](err); !ok || l.Size <= l.Limit || l.What == "" {
			e.Errorf("error %v", err)
		}
	}
	e.write(session.Write{Set: []session.Change{session.Set(note, strings.Repeat("很", 200), session.FromUser("m1"))}})
}
