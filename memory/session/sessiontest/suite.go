package sessiontest

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

// A testCase proves one rule.
type testCase struct {
	name string
	line string // of the specification
	why  string // the rule exists
	run  func(*env)
}

// Run runs every case against stores made by open, in parallel, each with a store of its own. open cleans up after itself with
// t.Cleanup. A case closes its store at most once more.
func Run(t *testing.T, open func(t *testing.T, o session.Options) *session.Store) {
	t.Helper()
	for _, c := range slices.Concat(stateCases, trustCases, candidateCases, recordCases, pinCases, scopeCases, strangeCases) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("rule %s: %s", c.line, c.why)
				}
			})
			e := &env{T: t, open: open}
			e.store, e.scope = open(t, session.Options{}), e.newScope()
			c.run(e)
		})
	}
}

// An env is what a case works with.
type env struct {
	*testing.T
	open  func(*testing.T, session.Options) *session.Store
	store *session.Store
	scope memory.Scope
}

// newScope is one that no other case uses.
func (e *env) newScope() memory.Scope {
	e.Helper()
	s, err := memory.NewScope("tenant-"+uuid.NewString(), "user")
	e.ok(err)
	return s
}

// conv is the conversation that most cases use.
const conv = "conversation"

func (e *env) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatalf("unexpected error: %v", err)
	}
}

// is fails the case unless the error is the one that is wanted.
func (e *env) is(err, want error) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Fatalf("error %v; want %v", err, want)
	}
}

// equal compares two values as JSON.
func (e *env) equal(what string, got, want any) {
	e.Helper()
	if g, w := e.json(got), e.json(want); g != w {
		e.Fatalf("%s:\n got %.2000s\nwant %.2000s", what, g, w)
	}
}

func (e *env) json(v any) string {
	e.Helper()
	doc, err := json.Marshal(v)
	e.ok(err)
	return string(doc)
}

// write must succeed.
func (e *env) write(w session.Write) session.State {
	e.Helper()
	st, err := e.store.Write(e.Context(), e.scope, conv, w)
	e.ok(err)
	e.equal("the state that is read after a write", e.state(), st)
	return st
}

// refused must be refused, and change nothing.
func (e *env) refused(want error, w session.Write) error {
	e.Helper()
	before := e.all(e.scope)
	_, err := e.store.Write(e.Context(), e.scope, conv, w)
	e.is(err, want)
	e.equal("all that is stored after a refused write", e.all(e.scope), before)
	return err
}

// again repeats a write, which must change nothing.
func (e *env) again(w session.Write) {
	e.Helper()
	before := e.all(e.scope)
	_, err := e.store.Write(e.Context(), e.scope, conv, w)
	e.ok(err)
	e.equal("all that is stored after a repeated write", e.all(e.scope), before)
}

func (e *env) state() session.State {
	e.Helper()
	st, err := e.store.State(e.Context(), e.scope, conv)
	e.ok(err)
	return st
}

// all is everything that can be read in a scope.
func (e *env) all(s memory.Scope) string {
	e.Helper()
	out := ""
	cs, err := e.store.Conversations(e.Context(), s, session.Conversation{}, 0)
	e.ok(err)
	for _, c := range cs {
		st, err := e.store.State(e.Context(), s, c.ID)
		e.ok(err)
		ms, err := e.store.Messages(e.Context(), s, c.ID, session.Page{Limit: 1000})
		e.ok(err)
		out += e.json(st) + e.json(ms)
		for _, f := range []string{"env", "currentService"} {
			h, err := e.store.FactHistory(e.Context(), s, c.ID, f)
			e.ok(err)
			out += e.json(h)
		}
	}
	return out
}

// env is the confirmed environment, or "".
func (e *env) env() string {
	e.Helper()
	v, _ := session.Get(e.state(), session.Env)
	return v
}

// says is a message of the user with an id.
func says(id, text string) message.Message {
	m := message.User(text)
	m.ID = id
	return m
}

func answers(id, text string) message.Message {
	m := message.Assistant(text)
	m.ID = id
	return m
}

// ended is the message of a tool whose call ended in some way.
func ended(id, call string, s message.Status) message.Message {
	m := message.Tool(message.Call{ID: call, Name: "find"}.Ended(s, "text"))
	m.ID = id
	return m
}

// set is a user's message and the environment that it confirms.
func set(id, environment string) session.Write {
	return session.Write{
		Messages: []message.Message{says(id, "use "+environment)},
		Set:      []session.Change{session.Set(session.Env, environment, session.FromUser(id))},
	}
}
