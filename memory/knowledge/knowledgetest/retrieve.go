package knowledgetest

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

var retrieveCases = []testCase{
	{"a chunk says where it is from", "R101", "people check an answer at its source", func(e *env) {
		d := on("7", 30, ago(3))
		e.index(d)
		a := e.ask(howLong)
		if len(a.Chunks) != 1 {
			e.Fatalf("%s", e.json(a))
		}
		c := a.Chunks[0]
		e.equal("the chunk", []any{c.ID, c.Document, c.Version, c.Title, c.Text, c.Source, c.Subject, c.Effective.Equal(d.Effective.UTC().Truncate(1000))}, []any{
			"returns@7#1", "returns", "7", "Shop rules > Returns", "A kettle can be returned within 30 days.", d.Source, "returns.kettle", true,
		})
		if c.Coverage < 0.6 || c.Coverage > 1 || c.Score <= 0 || !strings.Contains(strings.Join(c.Terms, " "), "kettl") {
			e.Errorf("coverage %v, score %v, terms %q", c.Coverage, c.Score, c.Terms)
		}
		e.equal("the aspects", a.Aspects, []knowledge.Aspect{{Text: howLong, Coverage: c.Coverage, Chunk: c.ID}})
	}},
	{"what the documents do not say is refused", "R107", "an invented rule costs money", func(e *env) {
		none := e.ask(howLong)
		if !none.Refused || len(none.Near) > 0 || len(none.Chunks) > 0 {
			e.Errorf("an empty store answers: %s", e.json(none))
		}
		e.index(rule("1", 30))
		for _, q := range []string{"How long may I return a bicycle?", "What does a kettle cost?", "How much does a kettle cost at most?", "Who is the president of France?", "自行车多久可以退？", "", "?"} {
			if a := e.ask(q); !a.Refused || len(a.Chunks) > 0 {
				e.Errorf("%q is answered: %s", q, e.json(a))
			}
		}
		if a := e.ask("How long may I return a bicycle?"); len(a.Near) == 0 || a.Near[0].Document != "returns" {
			e.Errorf("nothing came near: %s", e.json(a))
		}
	}},
	{"a question is covered aspect by aspect", "T28", "half an answer must not pass for a whole one", func(e *env) {
		e.index(doc("ship", "# Shipping\n\nShipping takes 3 days."), doc("care", "# 保养\n\n水壶每月除垢一次，需要10分钟。"))
		a := e.ask("How long does shipping take, and what does it cost?")
		if a.Refused || len(a.Aspects) != 2 || a.Aspects[0].Chunk == "" || a.Aspects[1].Chunk != "" {
			e.Errorf("the first half is covered, the second is not: %s", e.json(a))
		}
		a = e.ask("水壶多久除垢一次，保修期是几年？")
		if a.Refused || len(a.Aspects) != 2 || a.Aspects[0].Chunk == "" || a.Aspects[1].Chunk != "" {
			e.Errorf("the first half is covered, the second is not: %s", e.json(a))
		}
		e.index(doc("price", "# Shipping\n\nShipping costs 5 yuan."))
		a = e.ask("How long does shipping take, and what does it cost?")
		if len(a.Aspects) != 2 || a.Aspects[0].Chunk == "" || a.Aspects[1].Chunk == "" || len(a.Chunks) < 2 {
			e.Errorf("both halves are covered: %s", e.json(a))
		}
	}},
	{"what says the same is told once", "R108", "room in a prompt is scarce", func(e *env) {
		e.index(doc("a", "A zebra sleeps for 3 hours at noon."), doc("b", "A zebra sleeps for 3 hours, at noon."), doc("c", "A zebra sleeps for 4 hours at noon."),
			doc("d", "A zebra never sleeps for 3 hours at noon."), doc("e", "Elephants like water."))
		a := e.askAs(e.reader("staff"), knowledge.Query{Text: "How long does a zebra sleep at noon?", Limit: 50})
		if got := found(a); len(got) != 3 || strings.Contains(fmt.Sprint(got), "e@") {
			e.Errorf("found %q", got)
		}
		long := "A giraffe that works at night in one of the zoos of the company rests for %s hours in the shade of the old trees, and %s be woken by visitors or by their children."
		e.index(doc("f", fmt.Sprintf(long, "5", "may")), doc("g", fmt.Sprintf(long, "6", "may")), doc("h", fmt.Sprintf(long, "5", "may not")), doc("i", fmt.Sprintf(long, "5", "may")))
		a = e.askAs(e.reader("staff"), knowledge.Query{Text: "How long does a giraffe rest?", Limit: 50})
		if got := found(a); len(got) != 3 {
			e.Errorf("of those that differ in a number or a negation, found %q", got)
		}
	}},
	{"what is left out of the limit is the worst", "R108", "the best comes first", func(e *env) {
		var docs []knowledge.Document
		for i := range 30 {
			docs = append(docs, doc(fmt.Sprint("d", i), fmt.Sprintf("The zebra likes number %d of the %s.", i, strings.Repeat("grass ", i))))
		}
		e.index(docs...)
		all := e.askAs(e.reader("staff"), knowledge.Query{Text: "what does the zebra like?", Limit: 30})
		if len(all.Chunks) != 30 {
			e.Fatalf("%d chunks", len(all.Chunks))
		}
		few := e.ask("what does the zebra like?")
		e.equal("the first four", found(few), found(all)[:4])
	}},
	{"what it may stand for helps", "T21", "\"how long does it take?\" has no words of its own", func(e *env) {
		e.index(doc("ship", "Shipping takes 3 days."), doc("repair", "A repair takes 9 days."))
		a := e.askAs(e.reader("staff"), knowledge.Query{Text: "How long does it take?", Also: []string{"the repair"}})
		e.equal("what is found", found(a), []string{"repair@1"})
		if a := e.ask("How long does it take?"); !a.Refused {
			e.Errorf("nobody knows what it is: %s", e.json(a))
		}
		e.index(doc("kettle", "The cleaning of a kettle takes 3 days."), doc("lamp", "The cleaning of a lamp takes 4 days."))
		a = e.askAs(e.reader("staff"), knowledge.Query{Text: "How long does its cleaning take?", Also: []string{"the kettle"}})
		if len(a.Chunks) == 0 || a.Chunks[0].Document != "kettle" || len(a.Chunks) > 1 && a.Chunks[1].Coverage >= a.Chunks[0].Coverage {
			e.Errorf("the kettle was meant: %s", e.json(a))
		}
	}},
	{"a rule of a subject is found by it", "T27", "where a preference and a document meet, both are told", func(e *env) {
		a, b := doc("format", "Every statement goes out as PDF."), doc("zebra", "A zebra has stripes.")
		a.Subjects, b.Subjects = []string{"report.format", "report.language"}, []string{"animal"}
		e.index(a, b)
		got := e.askAs(e.reader("staff"), knowledge.Query{Text: "Please do the usual for the customer.", Subjects: []string{"report.language", "unknown"}})
		e.equal("what is found", found(got), []string{"format@1"})
		e.equal("the subject", got.Chunks[0].Subject, "report.language")
	}},
	{"a large library is searched", "R106", "an index has more than one block", func(e *env) {
		var b strings.Builder
		n := 2500
		if e.short() {
			n = 1100
		}
		for i := range n {
			fmt.Fprintf(&b, "## Part %d\n\nThe zebra has number%d.\n\n", i, i)
		}
		e.index(doc("zebra", b.String()), doc("ant", "The ant has number0."))
		for _, i := range []int{0, 1023, 1024, n - 1} {
			a := e.ask(fmt.Sprintf("Which zebra has number%d?", i))
			if a.Refused || a.Chunks[0].Document != "zebra" || !strings.HasSuffix(a.Chunks[0].Text, fmt.Sprintf("number%d.", i)) {
				e.Errorf("number %d: %s", i, e.json(a))
			}
		}
		e.ok(e.store.Withdraw(e.Context(), e.tenant, "zebra"))
		if a := e.ask("Which zebra has number1024?"); !a.Refused {
			e.Errorf("%s", e.json(a))
		}
	}},
}
