package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

var scopeCases = []testCase{
	{"two tenants, many users, every verb", "T18, R88, R93", "one row of somebody else is a leak", everyVerb},
	{"removing against writing", "R17, R93", "a message without the fact that it confirms is half a write", removingWhileWriting},
	{"no scope", "R89, R93", "people who forgot to say who they are must not share a memory", noScope},
}

// verbs are the methods of a store that touch rows. Each gets a scope and what belongs to it, and returns what it saw.
var verbs = map[string]func(e *env, s memory.Scope, own memory.Result) (string, error){
	"Write": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		st, err := e.store.Write(e.Context(), s, conv, session.Write{})
		return shown(st), err
	},
	"State": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		st, err := e.store.State(e.Context(), s, conv)
		return shown(st), err
	},
	"Pins": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		ps, err := e.store.Pins(e.Context(), s, conv)
		return shown(ps), err
	},
	"FactHistory": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		h, err := e.store.FactHistory(e.Context(), s, conv, "currentService")
		return shown(h), err
	},
	"Messages": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		ms, err := e.store.Messages(e.Context(), s, conv, session.Page{})
		return shown(ms), err
	},
	"Conversations": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		cs, err := e.store.Conversations(e.Context(), s, session.Conversation{}, 0)
		return shown(cs), err
	},
	"PutResult": func(e *env, s memory.Scope, own memory.Result) (string, error) {
		return "", e.store.PutResult(e.Context(), s, own)
	},
	"Result": func(e *env, s memory.Scope, own memory.Result) (string, error) {
		r, err := e.store.Result(e.Context(), s, own.ID)
		return r.Name + string(r.Body), err
	},
	"DeleteMessages": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		_, err := e.store.DeleteMessages(e.Context(), s, conv, time.Now().Add(time.Hour))
		return "", err
	},
	"Delete": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		return "", e.store.Delete(e.Context(), s, conv)
	},
	"Count": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		n, err := e.store.Count(e.Context(), s)
		return shown(n), err
	},
	"Readmit": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		return "", e.store.Readmit(e.Context(), s)
	},
	"Erase": func(e *env, s memory.Scope, _ memory.Result) (string, error) {
		return "", e.store.Erase(e.Context(), s)
	},
}

// shown is what a verb returned, as JSON. The zero state is none.
func shown(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(doc)
}

// order is that in which they are called: what deletes goes last.
var order = []string{
	"Write", "State", "Pins", "FactHistory", "Messages", "Conversations", "PutResult", "Result", "DeleteMessages", "Delete", "Count", "Readmit", "Erase",
}

// checkVerbs fails if the store has a method that this file does not know.
func checkVerbs(e *env) {
	e.Helper()
	methods := []string{}
	for m := range reflect.TypeFor[*session.Store]().Methods() {
		if m.Name != "Close" && m.Name != "Compact" { // of all users
			methods = append(methods, m.Name)
		}
	}
	slices.Sort(methods)
	known := slices.Sorted(slices.Values(order))
	e.equal("methods that are tested for foreign rows", known, methods)
}

// A person has a scope and secret words in every kind of row.
type person struct {
	memory.Scope
	canary string
	own    memory.Result
}

// people are two tenants with fifty users each, or five with -short. The users of both have the same names, some of which are hostile, and all
// have the same ids for everything.
func people(e *env) []person {
	var out []person
	tenant := "tenant-" + uuid.NewString()
	for _, t := range []string{tenant, tenant + "'--"} {
		for i, u := range userNames() {
			s, err := memory.NewScope(t, u)
			e.ok(err)
			out = append(out, person{Scope: s, canary: fmt.Sprintf("canary-%d-%s", i, uuid.NewString())})
		}
	}
	return out
}

// userNames are hostile first, then near each other.
func userNames() []string {
	names := []string{"user", "user%", "user' or '1'='1", "用户🙂", strings.Repeat("u", 256)}
	if testing.Short() {
		return names
	}
	names = append(names, "User", "USER", " user", "user ", "us_r", "user/../user2", "\u00e9", "e\u0301", "us\u200ber", "$1", "user\\", `user"; drop table x; --`, "%", "*", "null")
	for i := range 50 - len(names) {
		names = append(names, fmt.Sprint("user", i))
	}
	return names
}

// fill writes a canary into every kind of row.
func (e *env) fill(p *person) {
	e.Helper()
	p.own = memory.Result{Conversation: conv, Call: "call", Name: p.canary, Body: []byte(p.canary)}
	p.own.ID = memory.ResultID(p.Scope, conv, "call", p.own.Body)
	_, err := e.store.Write(e.Context(), p.Scope, conv, session.Write{
		Messages: []message.Message{says("m1", p.canary)},
		Results:  []memory.Result{p.own},
		Set:      []session.Change{session.Set(session.CurrentService, session.Service{ID: p.canary}, session.FromUser("m1"))},
		Propose:  []session.Proposal{session.Propose(session.CurrentService, session.Service{ID: p.canary + "?"}, "m1", 0)},
		Pins: []pin.Pin{
			{ID: "p", Effect: pin.Deny, Text: p.canary, Message: "m1"}, {ID: "p", Effect: pin.Rule, Text: p.canary, Message: "m1", Standing: true},
		},
	})
	e.ok(err)
}

func everyVerb(e *env) {
	checkVerbs(e)
	all := people(e)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { e.fill(&all[i]) })
	}
	wg.Wait()
	for _, verb := range order {
		var wg sync.WaitGroup
		for _, p := range all {
			wg.Go(func() {
				saw, err := verbs[verb](e, p.Scope, p.own)
				if err != nil {
					e.Errorf("%s: %v", verb, err)
				}
				for _, q := range all {
					if q.Scope != p.Scope && strings.Contains(saw, q.canary) {
						e.Errorf("%s in %s saw what belongs to %s: %s", verb, p, q, saw)
					}
				}
				if q := strings.Contains(saw, p.canary); !q && slices.Contains([]string{"State", "Pins", "FactHistory", "Messages", "Result"}, verb) {
					e.Errorf("%s in %s did not see its own: %s", verb, p, saw)
				}
			})
		}
		wg.Wait()
	}
	e.othersKeep()
}

// othersKeep has each of some people delete everything, by every verb, and looks at the others.
func (e *env) othersKeep() {
	e.Helper()
	all := people(e)
	for i := range all {
		e.fill(&all[i])
	}
	kept := all[0]
	before := e.all(kept.Scope)
	for _, p := range all[1:] {
		_, err := e.store.Result(e.Context(), p.Scope, kept.own.ID)
		e.is(err, memory.ErrNoResult)
		for _, verb := range []string{"DeleteMessages", "Delete", "Erase"} {
			_, err := verbs[verb](e, p.Scope, p.own)
			e.ok(err)
		}
		_, err = e.store.State(e.Context(), p.Scope, conv) // it has none now: that of others looks as if it were not there
		e.is(err, session.ErrNotFound)
	}
	e.equal("what one user has after nine others deleted theirs", e.all(kept.Scope), before)
}

func noScope(e *env) {
	for _, verb := range order {
		_, err := verbs[verb](e, memory.Scope{}, memory.Result{ID: "r", Conversation: conv})
		e.is(err, memory.ErrScope)
	}
}

var strangeCases = []testCase{
	{"strange ids", "R93", "an id is never part of a statement", strangeIDs},
	{"contexts that end", "report 153", "a call that was given up is safe to repeat", contexts},
	{"a closed store", "-", "a late call must not panic", closed},
}

func strangeIDs(e *env) {
	hostile := []string{
		"'; drop table hfs_message; --", `"`, `\`, "%", "_", "$1", "{now}", "hfs_fact", "用户🙂", " ", "a/b", "null", "<script>", strings.Repeat("x", 256),
	}
	for i, id := range hostile {
		body := []byte(id)
		w := session.Write{
			Messages: []message.Message{says(id, id), ended("t"+fmt.Sprint(i), id, message.StatusOK)},
			Results:  []memory.Result{{ID: memory.ResultID(e.scope, id, id, body), Conversation: id, Call: id, Name: id, Body: body}},
			Set: []session.Change{
				session.Set(session.CurrentService, session.Service{ID: "x", Name: id}, session.FromTool(id)), session.Set(session.Env, "testing", session.FromUser(id)),
			},
			Pins: []pin.Pin{{ID: id, Effect: pin.Deny, Text: id, Targets: []string{id}, Message: id}},
		}
		for range 2 {
			st, err := e.store.Write(e.Context(), e.scope, id, w)
			e.ok(err)
			svc, _ := session.Get(st, session.CurrentService)
			if svc.Name != id || st.Conversation.ID != id || st.Pins[0].ID != id || st.Conversation.Messages != 2 {
				e.Fatalf("with the id %q: %+v", id, st)
			}
		}
	}
	cs, err := e.store.Conversations(e.Context(), e.scope, session.Conversation{}, 0)
	e.ok(err)
	e.equal("conversations", len(cs), len(hostile))

	for _, id := range []string{"", "a\x00b", "\n", "\xff", strings.Repeat("x", 257)} {
		_, write := e.store.Write(e.Context(), e.scope, id, session.Write{})
		_, state := e.store.State(e.Context(), e.scope, id)
		_, list := e.store.Messages(e.Context(), e.scope, id, session.Page{})
		_, msg := e.store.Write(e.Context(), e.scope, conv, session.Write{Messages: []message.Message{says(id, "text")}})
		for i, err := range []error{write, state, list, msg, e.store.Delete(e.Context(), e.scope, id)} {
			if err == nil {
				e.Errorf("call %d took the id %q", i, id)
			}
			e.is(err, session.ErrBadID)
		}
		_, err = e.store.FactHistory(e.Context(), e.scope, "%", id)
		e.ok(err)
		// A call may have any id; one that is no good id confirms nothing.
		e.write(session.Write{Messages: []message.Message{ended("t", strings.ToValidUTF8(id, "?"), message.StatusOK)}})
		e.ok(e.store.Delete(e.Context(), e.scope, conv))
	}
}

func contexts(e *env) {
	over, cancel := context.WithCancel(e.Context())
	cancel()
	_, write := e.store.Write(over, e.scope, conv, set("m0", "testing"))
	_, state := e.store.State(over, e.scope, conv)
	_, list := e.store.Conversations(over, e.scope, session.Conversation{}, 0)
	for _, err := range []error{write, state, list} {
		e.is(err, session.ErrUnavailable)
		e.is(err, context.Canceled)
	}
	const n = 40
	for i := range n { // contexts that end at any moment
		ctx, cancel := context.WithCancel(e.Context())
		var wg sync.WaitGroup
		wg.Go(cancel)
		w := set(fmt.Sprint("m-", i), "testing")
		_, err := e.store.Write(ctx, e.scope, conv, w)
		wg.Wait()
		if err != nil {
			e.is(err, session.ErrUnavailable)
			e.write(w)
		}
	}
	h, err := e.store.FactHistory(e.Context(), e.scope, conv, "env")
	e.ok(err)
	e.equal("facts", len(h), n)
	e.equal("messages", e.state().Conversation.Messages, n)
}

func closed(e *env) {
	e.write(session.Write{})
	e.ok(e.store.Close())
	e.ok(e.store.Close())
	for _, verb := range order {
		own := memory.Result{Conversation: conv, ID: memory.ResultID(e.scope, conv, "", nil)}
		_, err := verbs[verb](e, e.scope, own)
		e.is(err, session.ErrClosed)
	}
}

// removingWhileWriting erases a scope, and deletes a conversation, while its first write comes: all of that is there afterwards, or nothing.
func removingWhileWriting(e *env) {
	for i := range 30 {
		s, id := e.newScope(), fmt.Sprint("c", i)
		m := message.User("testing, please")
		var all sync.WaitGroup
		all.Go(func() {
			_, err := e.store.Write(e.Context(), s, id, session.Write{
				Messages: []message.Message{m}, Set: []session.Change{session.Set(session.Env, "testing", session.FromUser(m.ID))},
			})
			if err != nil && (i%2 == 0 || !errors.Is(err, memory.ErrErased)) {
				e.Errorf("round %d: write: %v", i, err)
			}
		})
		all.Go(func() {
			remove := e.store.Erase
			if i%2 == 0 {
				remove = func(ctx context.Context, s memory.Scope) error { return e.store.Delete(ctx, s, id) }
			}
			if err := remove(e.Context(), s); err != nil {
				e.Errorf("round %d: remove: %v", i, err)
			}
		})
		all.Wait()
		if i%2 == 1 { // whatever came first
			e.equal("rows after an erasure", e.count(s), 0)
			e.ok(e.store.Readmit(e.Context(), s))
			continue
		}
		st, err := e.store.State(e.Context(), s, id)
		if errors.Is(err, session.ErrNotFound) {
			continue
		}
		e.ok(err)
		list, err := e.store.Messages(e.Context(), s, id, session.Page{})
		e.ok(err)
		if len(list) != 1 || len(st.Facts) != 1 {
			e.Fatalf("round %d: %d messages and %d facts are left", i, len(list), len(st.Facts))
		}
	}
}
