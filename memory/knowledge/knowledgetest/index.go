package knowledgetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

var indexCases = []testCase{
	{"a document has an id, a version, a text and roles", "R5", "what a person said has none of these, and must not get among the documents", func(e *env) {
		good := rule("1", 30)
		for _, spoil := range []func(*knowledge.Document){
			func(d *knowledge.Document) { d.ID = "" },
			func(d *knowledge.Document) { d.Version = " " },
			func(d *knowledge.Document) { d.Roles = nil },
			func(d *knowledge.Document) { d.Roles = []string{"staff", ""} },
			func(d *knowledge.Document) { d.Text = "\n " },
			func(d *knowledge.Document) { d.Text = "a\xff" },
			func(d *knowledge.Document) { d.Subjects = []string{"\xff"} },
			func(d *knowledge.Document) { d.ID = "a\x00" },
			func(d *knowledge.Document) { d.ID = strings.Repeat("x", 300) },
			func(d *knowledge.Document) { d.Effective = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC) },
		} {
			bad := rule("1", 30)
			spoil(&bad)
			e.refused(knowledge.ErrDocument, bad)
			e.refused(knowledge.ErrDocument, good, bad) // all or nothing
		}
		e.is(e.store.Index(e.Context(), "", good), knowledge.ErrTenant)
	}},
	{"a document is what was indexed", "R106", "people check what the answers are made of", func(e *env) {
		want := rule("1", 30)
		want.Roles = []string{"staff", "managers", "staff"}
		want.Effective = time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.FixedZone("", 3600))
		e.index(want)
		want.Roles, want.Effective = []string{"managers", "staff"}, want.Effective.UTC().Truncate(time.Microsecond)
		got, err := e.store.Document(e.Context(), e.reader("staff"), "returns")
		e.ok(err)
		e.equal("the document", got, want)
		want.Text = ""
		page, err := e.store.Documents(e.Context(), e.reader("managers"), "", 0)
		e.ok(err)
		e.equal("the list", page, []knowledge.Document{want})
	}},
	{"the same again changes nothing", "R106", "a pipeline repeats what it does not know the end of", func(e *env) {
		e.index(rule("1", 30), doc("other", "A zebra has stripes."))
		before := e.all()
		e.index(rule("1", 30))
		e.index(doc("other", "A zebra has stripes."), rule("1", 30))
		e.index()
		e.equal("all that is stored", e.all(), before)
		e.refused(knowledge.ErrConflict, rule("1", 31))
		e.refused(knowledge.ErrConflict, doc("new", "A zebra."), rule("1", 31))
		other := rule("1", 30)
		other.Roles = []string{"staff", "managers"}
		e.refused(knowledge.ErrConflict, other)
	}},
	{"withdrawn documents are gone", "R4", "what must not be read any more is found nowhere", func(e *env) {
		e.index(rule("1", 30), doc("other", "A zebra has stripes."))
		before := e.all()
		e.index(doc("third", "A kettle and a zebra."))
		e.ok(e.store.Relate(e.Context(), e.tenant, "third", knowledge.Relation{From: "a", Name: "eats", To: "payment-db"}))
		e.ok(e.store.Withdraw(e.Context(), e.tenant, "third", "unknown"))
		e.ok(e.store.Withdraw(e.Context(), e.tenant, "third"))
		e.equal("all that is stored", e.all(), before)
		e.index(doc("third", "Something else.")) // nothing remembers the version
		e.ok(e.store.Withdraw(e.Context(), e.tenant, "returns"))
		if a := e.ask(howLong); !a.Refused {
			e.Fatalf("a withdrawn document answers: %s", e.json(a))
		}
	}},
	{"erase leaves nothing of a tenant, and everything of the others", "R4", "tenants leave", func(e *env) {
		other := *e
		other.tenant += "2"
		other.index(rule("1", 14))
		before := other.all()
		e.index(rule("1", 30))
		e.ok(e.store.Erase(e.Context(), e.tenant))
		e.ok(e.store.Erase(e.Context(), e.tenant))
		e.equal("what is left", e.all(), (&env{e.T, e.open, e.store, e.tenant + "3"}).all())
		e.equal("what the other has", other.all(), before)
		e.index(rule("1", 31))
		if !says(e.ask(howLong), 31) {
			e.Fatal("an erased tenant cannot begin again")
		}
	}},
	{"names may have any characters", "R105", "an id is not a pattern, and not a part of a statement", func(e *env) {
		names := []string{"a'b", `a"b`, "a%", "a_", "a;--", "{now}", "$1", "a@1", "a#1", "政策 一", "a\\", "hfk_document", "\u00e9", "e\u0301"}
		var docs []knowledge.Document
		for i, n := range names {
			docs = append(docs, knowledge.Document{ID: n, Version: n, Text: fmt.Sprintf("The zebra number%d.", i), Roles: []string{n}, Subjects: []string{n}})
		}
		e.index(docs...)
		for i, n := range names {
			a := e.askAs(e.reader(n), knowledge.Query{Text: fmt.Sprintf("zebra number%d", i), Limit: 50})
			e.equal("documents of role "+n, found(a), []string{n + "@" + n})
			got, err := e.store.Document(e.Context(), e.reader(n), n)
			e.ok(err)
			e.equal("the document", got, docs[i])
		}
		page, err := e.store.Documents(e.Context(), e.reader(names...), "", 0)
		e.ok(err)
		if len(page) != len(names) {
			e.Fatalf("%d documents of %d", len(page), len(names))
		}
	}},
	{"documents are listed by pages", "R105", "a company has more than fit one screen", func(e *env) {
		var docs []knowledge.Document
		for i := range 25 {
			docs = append(docs, doc(fmt.Sprintf("d%02d", i), fmt.Sprint("text ", i)))
		}
		e.index(docs...)
		var got []string
		for after := ""; ; {
			page, err := e.store.Documents(e.Context(), e.reader("staff"), after, 10)
			e.ok(err)
			if len(page) == 0 {
				break
			}
			for _, d := range page {
				got, after = append(got, d.ID), d.ID
			}
		}
		want := make([]string, len(docs))
		for i, d := range docs {
			want[i] = d.ID
		}
		e.equal("the ids", got, want)
	}},
	{"many index at once", "R106", "two runs of a pipeline overlap", func(e *env) {
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				if err := e.store.Index(e.Context(), e.tenant, doc(fmt.Sprint("d", i%6), fmt.Sprintf("The zebra number%d.", i%6))); err != nil {
					e.Error(err)
				}
			})
		}
		wg.Wait()
		for i := range 6 {
			e.equal("what is found", found(e.askAs(e.reader("staff"), knowledge.Query{Text: fmt.Sprintf("zebra number%d", i), Limit: 1})), []string{fmt.Sprint("d", i, "@1")})
		}
	}},
	{"a closed store says so", "R106", "who uses it later has a fault", func(e *env) {
		e.ok(e.store.Close())
		e.ok(e.store.Close())
		e.is(e.store.Index(e.Context(), e.tenant, rule("1", 30)), knowledge.ErrClosed)
		_, err := e.store.Retrieve(e.Context(), e.reader(), knowledge.Query{Text: "a"})
		e.is(err, knowledge.ErrClosed)
	}},
	{"a call that ran out of time is unavailable", "R106", "it may be repeated", func(e *env) {
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		e.is(e.store.Index(ctx, e.tenant, rule("1", 30)), knowledge.ErrUnavailable)
		_, err := e.store.Retrieve(ctx, e.reader("staff"), knowledge.Query{Text: "a"})
		e.is(err, knowledge.ErrUnavailable)
		e.index(rule("1", 30))
	}},
}
