package longtermtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/message"
)

// A testCase proves one rule.
type testCase struct {
	name string
	line string // of the specification
	why  string // the rule exists
	o    longterm.Options
	run  func(*env)
}

// Run runs every case against stores made by open, in parallel, each with a store of its own. open cleans up after itself with
// t.Cleanup. A case closes its store at most once more.
func Run(t *testing.T, open func(t *testing.T, o longterm.Options) *longterm.Store) {
	t.Helper()
	for _, c := range slices.Concat(itemCases, gateCases, versionCases, searchCases, vectorCases, outboxCases, scopeCases) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("rule %s: %s", c.line, c.why)
				}
			})
			e := &env{T: t, open: func(t *testing.T, o longterm.Options) *longterm.Store {
				o.OpTimeout = time.Minute // no case is about how fast a machine is
				return open(t, o)
			}}
			e.store, e.scope, e.agent = e.open(t, c.o), e.newScope(), e.newAgent("writer", memory.Secret, ns)
			c.run(e)
		})
	}
}

// An env is what a case works with.
type env struct {
	*testing.T
	open  func(*testing.T, longterm.Options) *longterm.Store
	store *longterm.Store
	scope memory.Scope
	agent memory.Agent
}

// The conversation and the namespace that most cases use.
const (
	conv = "conversation"
	ns   = "shop"
)

// day is long ago, so that what is said on it and after it has been said.
var day = time.Now().Add(-100 * 24 * time.Hour).UTC().Truncate(time.Second)

// newScope is one that no other case uses.
func (e *env) newScope() memory.Scope {
	e.Helper()
	s, err := memory.NewScope("tenant-"+uuid.NewString(), "user")
	e.ok(err)
	return s
}

func (e *env) newAgent(name string, l memory.Label, namespaces ...string) memory.Agent {
	e.Helper()
	a, err := memory.NewAgent(name, l, namespaces...)
	e.ok(err)
	return a
}

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

// said is a message, some hours after day.
func said(id string, hours int) longterm.Source {
	return longterm.Source{Conversation: conv, Message: id, At: day.Add(time.Duration(hours) * time.Hour)}
}

// fact is a draft of something that the user said in a message, some hours after day.
func fact(text, id string, hours int) longterm.Draft {
	return longterm.Draft{Kind: longterm.Semantic, Text: text, Origin: longterm.FromUser, Source: said(id, hours)}
}

// about is a fact with a key.
func about(key, text, id string, hours int) longterm.Draft {
	d := fact(text, id, hours)
	d.Key = key
	return d
}

// add must succeed.
func (e *env) add(ds ...longterm.Draft) []longterm.Outcome {
	e.Helper()
	out, err := e.store.Add(e.Context(), e.scope, e.agent, ds...)
	e.ok(err)
	if len(out) != len(ds) {
		e.Fatalf("%d outcomes of %d drafts", len(out), len(ds))
	}
	return out
}

// fates adds drafts, which must have these fates, and returns the ids of the items.
func (e *env) fates(ds []longterm.Draft, want ...longterm.Fate) []string {
	e.Helper()
	var ids []string
	var got []longterm.Fate
	for _, o := range e.add(ds...) {
		ids, got = append(ids, o.ID), append(got, o.Fate)
	}
	e.equal("fates", got, want)
	return ids
}

// one adds a draft, which must have this fate, and returns the id of the item.
func (e *env) one(d longterm.Draft, want longterm.Fate) string {
	e.Helper()
	return e.fates([]longterm.Draft{d}, want)[0]
}

// refused must be refused, and change nothing.
func (e *env) refused(want error, ds ...longterm.Draft) error {
	e.Helper()
	before := e.all()
	_, err := e.store.Add(e.Context(), e.scope, e.agent, ds...)
	e.is(err, want)
	e.equal("all that is stored after refused drafts", e.all(), before)
	return err
}

func (e *env) get(id string) longterm.Item {
	e.Helper()
	i, err := e.store.Get(e.Context(), e.scope, e.agent, id)
	e.ok(err)
	return i
}

func (e *env) list(p longterm.Page) []longterm.Item {
	e.Helper()
	out, err := e.store.List(e.Context(), e.scope, e.agent, p)
	e.ok(err)
	return out
}

// all is everything that can be read of the case's user, as JSON.
func (e *env) all() string {
	e.Helper()
	jobs, err := e.store.Jobs(e.Context(), e.scope, e.agent, "", 0)
	e.ok(err)
	return e.json(e.list(longterm.Page{Past: true, Inferred: true, Limit: 1000})) + e.json(jobs)
}

// history is the texts of a fact, oldest first.
func (e *env) history(id string) []string {
	e.Helper()
	var texts []string
	for _, i := range e.versions(id) {
		texts = append(texts, i.Text)
	}
	return texts
}

func (e *env) versions(id string) []longterm.Item {
	e.Helper()
	out, err := e.store.History(e.Context(), e.scope, e.agent, id)
	e.ok(err)
	return out
}

func (e *env) search(q longterm.Query) []longterm.Hit {
	e.Helper()
	out, err := e.store.Search(e.Context(), e.scope, e.agent, q)
	e.ok(err)
	return out
}

// texts searches, and returns the texts that were found.
func (e *env) texts(q longterm.Query) []string {
	e.Helper()
	return texts(e.search(q))
}

func texts(hits []longterm.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.Text)
	}
	return out
}

// finds fails unless a question finds these texts, in any order.
func (e *env) finds(question string, want ...string) {
	e.Helper()
	got := e.texts(longterm.Query{Text: question, Limit: 20})
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		e.Fatalf("%q finds %q; want %q", question, got, want)
	}
}

// An extractor is a function that is one.
type extractor func(ctx context.Context, texts []longterm.Text, known []longterm.Item) ([]longterm.Draft, error)

func (f extractor) Extract(ctx context.Context, ts []longterm.Text, known []longterm.Item) ([]longterm.Draft, error) {
	return f(ctx, ts, known)
}

// noted makes a fact of each line of a text that begins with "note ", and one about a key of "note key: text".
func noted(_ context.Context, ts []longterm.Text, _ []longterm.Item) (out []longterm.Draft, err error) {
	for _, t := range ts {
		for line := range strings.Lines(t.Text) {
			text, ok := strings.CutPrefix(strings.TrimSpace(line), "note ")
			if !ok {
				continue
			}
			d := longterm.Draft{Kind: longterm.Semantic, Text: text, Words: text, Origin: t.Origin, Source: t.Source}
			if key, _, ok := strings.Cut(text, ":"); ok {
				d.Key = key
			}
			out = append(out, d)
		}
	}
	return out, nil
}

// says is a message of the user with an id.
func says(id, text string) message.Message {
	m := message.User(text)
	m.ID = id
	return m
}

// exchange is one in which the user says something.
func exchange(id, text string) longterm.Exchange {
	return longterm.Exchange{Conversation: conv, Messages: []message.Message{says(id, text)}}
}

func (e *env) remember(x longterm.Exchange) {
	e.Helper()
	e.ok(e.store.Remember(e.Context(), e.scope, e.agent, x))
}

// drain works until the jobs of the case are as they should be.
func (e *env) drain(until func([]longterm.Job) bool) []longterm.Job {
	e.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		_, err := e.store.Drain(e.Context())
		e.ok(err)
		if jobs := e.jobs(); until(jobs) {
			return jobs
		}
		if time.Now().After(end) {
			e.Fatalf("the jobs do not get there: %s", e.json(e.jobs()))
		}
	}
}

func (e *env) jobs() []longterm.Job {
	e.Helper()
	jobs, err := e.store.Jobs(e.Context(), e.scope, e.agent, "", 0)
	e.ok(err)
	return jobs
}

// all reports whether jobs are in a state.
func all(state longterm.JobState) func([]longterm.Job) bool {
	return func(jobs []longterm.Job) bool {
		return !slices.ContainsFunc(jobs, func(j longterm.Job) bool { return j.State != state })
	}
}

// spin calls f until it is true, for some time.
func (e *env) spin(what string, f func() bool) {
	e.Helper()
	for end := time.Now().Add(30 * time.Second); !f(); runtime.Gosched() {
		if time.Now().After(end) {
			e.Fatalf("it never came: %s", what)
		}
	}
}

func name(i int) string { return fmt.Sprintf("m-%d", i) }
