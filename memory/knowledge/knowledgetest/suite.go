package knowledgetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// A testCase proves one rule.
type testCase struct {
	name string
	line string // of the specification
	why  string // the rule exists
	run  func(*env)
}

// Run runs every case against stores made by open over one database, in parallel. open cleans up after itself with t.Cleanup. A case closes its store
// at most once more.
func Run(t *testing.T, open func(t *testing.T, o knowledge.Options) *knowledge.Store) {
	t.Helper()
	for _, c := range slices.Concat(indexCases, versionCases, readerCases, retrieveCases, vectorCases, relationCases) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("rule %s: %s", c.line, c.why)
				}
			})
			e := &env{T: t, open: open, tenant: "tenant-" + uuid.NewString()}
			e.store = open(t, knowledge.Options{})
			c.run(e)
		})
	}
}

// An env is what a case works with.
type env struct {
	*testing.T
	open   func(*testing.T, knowledge.Options) *knowledge.Store
	store  *knowledge.Store
	tenant string
}

// with is the same env over another store.
func (e *env) with(o knowledge.Options) *env {
	return &env{e.T, e.open, e.open(e.T, o), e.tenant}
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

func (e *env) reader(roles ...string) knowledge.Reader {
	e.Helper()
	r, err := knowledge.NewReader(e.tenant, roles...)
	e.ok(err)
	return r
}

func (e *env) index(docs ...knowledge.Document) {
	e.Helper()
	e.ok(e.store.Index(e.Context(), e.tenant, docs...))
}

// refused must be refused, and change nothing.
func (e *env) refused(want error, docs ...knowledge.Document) {
	e.Helper()
	before := e.all()
	e.is(e.store.Index(e.Context(), e.tenant, docs...), want)
	e.equal("all that is stored after a refused index", e.all(), before)
}

// ask asks as somebody who has all roles of these cases.
func (e *env) ask(question string) knowledge.Answer {
	e.Helper()
	return e.askAs(e.reader("staff", "managers"), knowledge.Query{Text: question})
}

func (e *env) askAs(r knowledge.Reader, q knowledge.Query) knowledge.Answer {
	e.Helper()
	a, err := e.store.Retrieve(e.Context(), r, q)
	e.ok(err)
	if a.Refused != (len(a.Chunks) == 0 && len(a.Paths) == 0) {
		e.Fatalf("an answer that is neither: %s", e.json(a))
	}
	return a
}

// found are the documents and versions of the chunks of an answer.
func found(a knowledge.Answer) []string {
	out := []string{}
	for _, c := range a.Chunks {
		out = append(out, c.Document+"@"+c.Version)
	}
	return out
}

// all is what can be read of the documents of the case, as somebody who may read everything.
func (e *env) all() string {
	e.Helper()
	r := e.reader("staff", "managers")
	docs, err := e.store.Documents(e.Context(), r, "", 1000)
	e.ok(err)
	out := e.json(docs)
	for _, d := range docs {
		full, err := e.store.Document(e.Context(), r, d.ID)
		e.ok(err)
		out += e.json(full)
	}
	for _, q := range []string{"how long may I return a kettle?", "zebra", "payment-db"} {
		out += e.json(e.ask(q))
		paths, err := e.store.Paths(e.Context(), r, q, true, 8)
		e.ok(err)
		out += e.json(paths)
	}
	return out
}

// rule is a document that says how long a kettle can be returned.
func rule(version string, days int) knowledge.Document {
	return knowledge.Document{
		ID: "returns", Version: version, Title: "Shop rules", Roles: []string{"staff"}, Subjects: []string{"returns.window", "returns.kettle"},
		Source: "https://example.com/returns", Text: fmt.Sprintf("# Returns\n\nA kettle can be returned within %d days.\n\n# Care\n\nClean it with vinegar.", days),
	}
}

// doc is a document with a text.
func doc(id, text string, roles ...string) knowledge.Document {
	if roles == nil {
		roles = []string{"staff"}
	}
	return knowledge.Document{ID: id, Version: "1", Text: text, Roles: roles}
}

const howLong = "How long may I return a kettle?"

// days reports whether an answer has the number of days of a rule.
func says(a knowledge.Answer, days int) bool {
	return len(a.Chunks) > 0 && strings.Contains(a.Chunks[0].Text, fmt.Sprintf(" %d days", days))
}
