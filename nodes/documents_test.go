package nodes_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/nodes"
)

func newDocuments(t testing.TB, o knowledge.Options, docs ...knowledge.Document) nodes.Documents {
	t.Helper()
	s, err := knowledge.NewMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for i := range docs {
		docs[i].Version = "1"
		if docs[i].Roles == nil {
			docs[i].Roles = []string{knowledge.Everyone}
		}
	}
	if err := s.Index(t.Context(), "acme", docs...); err != nil {
		t.Fatal(err)
	}
	return nodes.Documents{Store: s}
}

var returns = knowledge.Document{ID: "returns", Title: "Returns", Text: "Goods can be returned within 30 days of delivery. The customer pays the postage."}

// R107: the model is told what documents say, with their names, and what they do not say; half an answer is told as that.
func TestDocumentsAnswerOrRefuse(t *testing.T) {
	t.Parallel()
	b := newBench(t, nodes.Config{Knowledge: newDocuments(t, knowledge.Options{}, returns), Agent: agentOf(t, memory.Public, "shop")},
		tells("30 days."), tells("It does not say."), tells("Half."))
	b.hears("Within how many days can goods be returned?")
	if got := b.last(); !strings.Contains(got, "[official document | rag returns@1#1") || !strings.Contains(got, "> Goods can be returned within 30 days") ||
		strings.Contains(got, "documents say nothing") {
		t.Errorf("of an answer the model is told %s", got)
	}
	b.hears("Who won the football match?")
	if got := b.last(); strings.Contains(got, "30 days of delivery") || !strings.Contains(got, `The documents say nothing about "Who won the football match`) {
		t.Errorf("of a miss the model is told %s", got)
	}
	b.hears("Within how many days can goods be returned, and who won the football match?")
	if got := b.last(); !strings.Contains(got, "> Goods can be returned within 30 days") || !strings.Contains(got, "documents say nothing about") {
		t.Errorf("of half an answer the model is told %s", got)
	}
}

// R94, R99, R11: four chunks at most, in an agent without long-term memory.
func TestDocumentsInAPrompt(t *testing.T) {
	t.Parallel()
	var docs []knowledge.Document
	for _, n := range []string{"Lyon", "Paris", "Nice", "Lille", "Brest", "Metz"} {
		docs = append(docs, knowledge.Document{ID: n, Text: "The warehouse in " + n + " ships within two days."})
	}
	b := newBench(t, nodes.Config{Knowledge: newDocuments(t, knowledge.Options{}, docs...), Agent: agentOf(t, memory.Public, "shop")}, tells("Two days."))
	b.hears("Within how many days does the warehouse ship?")
	if n := strings.Count(b.last(), "[official document"); n == 0 || n > 4 {
		t.Errorf("%d documents are told: %s", n, b.last())
	}
}

// R62, R61, T27: where a document and a preference are about one subject both are told, the document as binding, the preference as overruled
// by it; the prompt says that what the user asks now counts more than a preference.
func TestDocumentAgainstPreference(t *testing.T) {
	t.Parallel()
	a := agentOf(t, memory.Public, "ops")
	rule := knowledge.Document{ID: "deploys", Text: "Deployments go to staging before production.", Subjects: []string{"deploy.order"},
		Effective: time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC)}
	m := newMemories(t, longterm.Options{Rules: likes})
	b := newBench(t, nodes.Config{LongTerm: m, Knowledge: newDocuments(t, knowledge.Options{}, rule), Agent: a}, tells("To staging first."))
	id := keep(t, m, b.scope, a, preference("deploy.order", "I want deployments to go to production directly."))[0]
	b.hears("Do deployments go to staging or to production?")
	got := b.last()
	for _, want := range []string{
		"[official document | rag deploys@1#1 | since 2025-01-02 | binding]\n> Deployments go to staging", "[user preference | ltm " + id + " | ",
		" | overruled by deploys@1#1]\n> I want deployments", "what the user asks now count more than a recalled preference",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}

// R4: what erases the documents leaves the memories, and the reverse.
func TestBoxesAreApart(t *testing.T) {
	t.Parallel()
	a := agentOf(t, memory.Public, "shop")
	m, d := newMemories(t, longterm.Options{Rules: likes}), newDocuments(t, knowledge.Options{}, returns)
	scope := scopeOf(t, "ann")
	keep(t, m, scope, a, fact("Goods are returned to Lyon."))
	q := nodes.Query{Scope: scope, Agent: a, Text: "Within how many days can goods be returned?"}
	found := func() (memories, documents int) {
		items, err := m.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		r, err := d.Retrieve(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return len(items), len(r.Items)
	}
	if ms, ds := found(); ms != 1 || ds != 1 {
		t.Fatalf("found are %d memories and %d documents", ms, ds)
	}
	if err := d.Store.Erase(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	if ms, ds := found(); ms != 1 || ds != 0 {
		t.Errorf("without documents found are %d memories and %d documents", ms, ds)
	}
	if err := d.Store.Index(t.Context(), "acme", knowledge.Document{ID: "returns", Version: "2", Text: returns.Text, Roles: []string{knowledge.Everyone}}); err != nil {
		t.Fatal(err)
	}
	if err := m.Store.Erase(t.Context(), scope); err != nil {
		t.Fatal(err)
	}
	if ms, ds := found(); ms != 0 || ds != 1 {
		t.Errorf("without memories found are %d memories and %d documents", ms, ds)
	}
}

// R105, R35: who may read what is asked for each turn; a user without the role, and one of another tenant, find nothing, and a failure of whoever
// knows the roles is no permission.
func TestDocumentsOfARole(t *testing.T) {
	t.Parallel()
	secret := returns
	secret.Roles = []string{"staff"}
	d := newDocuments(t, knowledge.Options{}, secret)
	away := errors.New("away")
	d.Roles = func(_ context.Context, sc memory.Scope) ([]string, error) {
		switch sc.User() {
		case "ann":
			return []string{"staff"}, nil
		case "eve":
			return []string{"staff"}, away
		}
		return nil, nil
	}
	other, err := memory.NewScope("other", "ann")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		scope memory.Scope
		found int
		err   error
	}{"staff": {scopeOf(t, "ann"), 1, nil}, "a customer": {scopeOf(t, "bob"), 0, nil}, "another tenant": {other, 0, nil}, "nobody knows": {scopeOf(t, "eve"), 0, away}} {
		r, err := d.Retrieve(t.Context(), nodes.Query{Scope: tc.scope, Text: "Within how many days can goods be returned?"})
		if len(r.Items) != tc.found || !errors.Is(err, tc.err) || err == nil && (len(r.Missing) == 0) != (tc.found > 0) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// R109, R110: paths of relations are told as facts of a graph where the profile uses them, and not otherwise.
func TestPathsOfAGraph(t *testing.T) {
	t.Parallel()
	a := agentOf(t, memory.Public, "ops")
	d := newDocuments(t, knowledge.Options{Hops: 3}, knowledge.Document{ID: "map", Text: "Which service needs which."})
	if err := d.Store.Relate(t.Context(), "acme", "map",
		knowledge.Relation{From: "web", Name: "depends on", To: "checkout", Document: "map"},
		knowledge.Relation{From: "checkout", Name: "depends on", To: "payment-api", Document: "map"}); err != nil {
		t.Fatal(err)
	}
	path := "web --depends on--> checkout --depends on--> payment-api"
	for _, p := range []working.Profile{working.Operations(), working.Assistant()} {
		b := newBench(t, nodes.Config{Knowledge: d, Agent: a, Profile: p}, tells("web and checkout."))
		b.hears("Who is affected when payment-api fails?")
		if got := b.last(); strings.Contains(got, path) != p.Uses(working.Graph) {
			t.Errorf("with the profile %s the model is told %s", p.Name, got)
		}
	}
}
