package knowledgetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// depends makes relations "a depends on b" of "a b" lines.
func depends(lines ...string) (out []knowledge.Relation) {
	for _, l := range lines {
		f := strings.Fields(l)
		out = append(out, knowledge.Relation{From: f[0], Name: "depends on", To: f[1]})
	}
	return out
}

func (e *env) relate(document string, rs ...knowledge.Relation) {
	e.Helper()
	e.ok(e.store.Relate(e.Context(), e.tenant, document, rs...))
}

// paths are those from a node, as text.
func (e *env) paths(node string, backwards bool, hops int, roles ...string) []string {
	e.Helper()
	ps, err := e.store.Paths(e.Context(), e.reader(roles...), node, backwards, hops)
	e.ok(err)
	out := []string{}
	for _, p := range ps {
		out = append(out, strings.ReplaceAll(p.String(), " --depends on-->", " >"))
	}
	return out
}

var relationCases = []testCase{
	{"who is hit when something fails", "R110", "the answer goes over several hops, and shows them", func(e *env) {
		e.index(doc("services", "What depends on what."))
		e.relate("services", depends("web checkout", "app checkout", "checkout payment-api", "payment-api payment-db", "payment-api vault", "search search-db")...)
		e.equal("who is hit", e.paths("Payment-DB ", true, 8, "staff"), []string{
			"payment-api > payment-db", "checkout > payment-api > payment-db", "app > checkout > payment-api > payment-db", "web > checkout > payment-api > payment-db",
		})
		e.equal("at most two hops", e.paths("payment-db", true, 2, "staff"), []string{"payment-api > payment-db", "checkout > payment-api > payment-db"})
		e.equal("what it needs", e.paths("checkout", false, 8, "staff"), []string{
			"checkout > payment-api", "checkout > payment-api > payment-db", "checkout > payment-api > vault",
		})
		e.equal("nobody knows it", e.paths("unknown", true, 8, "staff"), []string{})
	}},
	{"a circle ends", "R110", "services depend on each other", func(e *env) {
		e.index(doc("services", "What depends on what."))
		e.relate("services", depends("a b", "b c", "c a", "a a", "c d")...)
		e.equal("from a", e.paths("a", false, 8, "staff"), []string{"a > b", "a > b > c", "a > b > c > d"})
		for _, hops := range []int{-1, 0, 9} {
			_, err := e.store.Paths(e.Context(), e.reader("staff"), "a", false, hops)
			e.is(err, knowledge.ErrTooLarge)
		}
	}},
	{"a relation is as secret as its document", "R105", "a path must not lead through what may not be read", func(e *env) {
		e.index(doc("open", "Open services.", "staff"), doc("secret", "Secret services.", "managers"))
		e.relate("open", depends("a b", "c d")...)
		e.relate("secret", depends("b c")...)
		e.equal("what staff see", e.paths("a", false, 8, "staff"), []string{"a > b"})
		e.equal("what managers see", e.paths("a", false, 8, "managers"), []string{})
		e.equal("what both see", e.paths("a", false, 8, "managers", "staff"), []string{"a > b", "a > b > c", "a > b > c > d"})
		other := *e
		other.tenant += "2"
		e.equal("what another tenant sees", other.paths("a", false, 8, "staff", "managers"), []string{})
	}},
	{"relations come and go with their document", "R106", "an old graph misleads", func(e *env) {
		e.index(rule("1", 30))
		old, lasting := depends("a b")[0], depends("a c")[0]
		old.Version = "1"
		coming := depends("a d")[0]
		coming.Version = "2"
		e.relate("returns", old, lasting, coming, lasting)
		e.equal("of version 1", e.paths("a", false, 8, "staff"), []string{"a > b", "a > c"})
		e.index(rule("2", 40))
		e.equal("of version 2", e.paths("a", false, 8, "staff"), []string{"a > c", "a > d"})
		e.relate("returns", depends("a e")...)
		e.equal("in place of all before", e.paths("a", false, 8, "staff"), []string{"a > e"})
		e.relate("returns")
		e.equal("none", e.paths("a", false, 8, "staff"), []string{})
		e.relate("returns", depends("a e")...)
		e.ok(e.store.Withdraw(e.Context(), e.tenant, "returns"))
		e.index(rule("2", 40))
		e.equal("gone with the document", e.paths("a", false, 8, "staff"), []string{})
	}},
	{"a relation has two nodes, a name and a document", "R110", "half a fact is none", func(e *env) {
		e.index(rule("1", 30))
		e.relate("returns", depends("a b")...)
		before := e.paths("a", false, 8, "staff")
		for _, bad := range []knowledge.Relation{
			{From: "", Name: "eats", To: "b"}, {From: "a", Name: " ", To: "b"}, {From: "a", Name: "eats"}, {From: "a", Name: "eats", To: "\xff"},
			{From: "a", Name: "eats", To: "b", Document: "other"}, {From: strings.Repeat("a", 300), Name: "eats", To: "b"},
		} {
			e.is(e.store.Relate(e.Context(), e.tenant, "returns", depends("a z")[0], bad), knowledge.ErrRelation)
		}
		e.is(e.store.Relate(e.Context(), e.tenant, "unknown", depends("a z")...), knowledge.ErrNotFound)
		e.equal("what is there", e.paths("a", false, 8, "staff"), before)
	}},
	{"what no name is finds nothing", "R110", "questions and ids come from outside", func(e *env) {
		v := e.with(knowledge.Options{Hops: 2})
		v.index(doc("services", "What depends on what."))
		v.relate("services", depends("web hub")...)
		for _, bad := range []string{"a\x00b", "\xff"} {
			e.is(v.store.Relate(e.Context(), e.tenant, "services", knowledge.Relation{From: bad, Name: "eats", To: "b"}), knowledge.ErrRelation)
			e.is(v.store.Relate(e.Context(), e.tenant, "services", knowledge.Relation{From: "a", Name: "eats", To: "b", Version: bad}), knowledge.ErrRelation)
			e.is(v.store.Relate(e.Context(), e.tenant, bad), knowledge.ErrNotFound)
			e.equal("paths", v.paths(bad, true, 2, "staff"), []string{})
			_, err := v.store.Document(e.Context(), e.reader("staff"), bad)
			e.is(err, knowledge.ErrNotFound)
			e.ok(v.store.Withdraw(e.Context(), e.tenant, bad))
			if a := v.ask("Who is hit if " + bad + " and the hub fail?"); len(a.Paths) != 1 {
				e.Errorf("%q: %s", bad, e.json(a))
			}
		}
	}},
	{"documents and relations answer together", "R111", "a question is about both", func(e *env) {
		v := e.with(knowledge.Options{Hops: 4})
		v.index(doc("services", "The payment-db is kept by the data team, phone 17.", "staff"), doc("zh", "支付库由数据组维护。", "staff"))
		v.relate("services", depends("checkout payment-api", "payment-api payment-db", "payment-db disk")...)
		v.relate("zh", knowledge.Relation{From: "支付接口", Name: "依赖", To: "支付库"}, knowledge.Relation{From: "收银台", Name: "依赖", To: "支付接口"})
		for q, want := range map[string][]string{
			"Who is hit if payment-db fails?":                 {"payment-api --depends on--> payment-db", "checkout --depends on--> payment-api --depends on--> payment-db"},
			"支付库挂了会波及谁？":                                      {"支付接口 --依赖--> 支付库", "收银台 --依赖--> 支付接口 --依赖--> 支付库"},
			"Which team keeps the payment-db?":                nil,
			"Who is hit if the printer fails?":                nil,
			"What does payment-api depend on, and who on it?": {"checkout --depends on--> payment-api", "payment-api --depends on--> payment-db", "payment-api --depends on--> payment-db --depends on--> disk"},
		} {
			a := v.ask(q)
			var got []string
			for _, p := range a.Paths {
				got = append(got, p.String())
			}
			if !slices.Equal(got, want) {
				e.Errorf("%s\n got %q\nwant %q", q, got, want)
			}
		}
		if a := v.ask("Which team keeps the payment-db?"); a.Refused {
			e.Errorf("the document answers: %s", e.json(a))
		}
		if a := e.ask("Who is hit if payment-db fails?"); len(a.Paths) > 0 {
			e.Errorf("relations are off: %s", e.json(a))
		}
	}},
	{"many relations are walked", "R110", "a company has thousands of services", func(e *env) {
		e.index(doc("services", "What depends on what."))
		var rs []knowledge.Relation
		for i := 1; i < 1000; i++ {
			rs = append(rs, depends(fmt.Sprintf("s%d s%d", i, (i-1)/5))...)
		}
		e.relate("services", rs...)
		if got := e.paths("s0", true, 8, "staff"); len(got) != 999 {
			e.Fatalf("%d paths", len(got))
		}
	}},
}
