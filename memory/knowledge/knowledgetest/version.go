package knowledgetest

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// on is a rule that binds from a day.
func on(version string, days int, day time.Time) knowledge.Document {
	d := rule(version, days)
	d.Effective = day
	return d
}

func ago(days int) time.Time { return time.Now().AddDate(0, 0, -days) }

// binds fails the case unless the rule with a number of days is the one that is found, alone, by every way to read it.
func (e *env) binds(days int) {
	e.Helper()
	a := e.askAs(e.reader("staff"), knowledge.Query{Text: howLong, Limit: 50})
	if !says(a, days) {
		e.Fatalf("%d days do not bind: %s", days, e.json(a))
	}
	for _, c := range a.Chunks {
		if c.Version != a.Chunks[0].Version {
			e.Fatalf("two versions: %s", e.json(a))
		}
	}
	d, err := e.store.Document(e.Context(), e.reader("staff"), "returns")
	e.ok(err)
	if !strings.Contains(d.Text, fmt.Sprintf(" %d days", days)) || d.Version != a.Chunks[0].Version {
		e.Fatalf("the document is version %s", d.Version)
	}
	page, err := e.store.Documents(e.Context(), e.reader("staff"), "", 0)
	e.ok(err)
	if len(page) != 1 || page[0].Version != d.Version {
		e.Fatalf("the list has %s", e.json(page))
	}
}

var versionCases = []testCase{
	{"a new version replaces the old one", "R106", "old rules must not be told", func(e *env) {
		for i := range 5 {
			e.index(rule(fmt.Sprint(i), 30+i))
			e.binds(30 + i)
		}
		e.index(rule("2", 32)) // an old job, again
		e.binds(34)
		e.refused(knowledge.ErrConflict, rule("2", 99))
		e.index(rule("x", 50), rule("y", 51)) // in one call
		e.binds(51)
	}},
	{"readers see the old version or the new one, whole", "R106", "an answer from half a document is wrong", func(e *env) {
		long := func(n int) knowledge.Document {
			var b strings.Builder
			for i := range 40 {
				fmt.Fprintf(&b, "## Part %d\n\nThe zebra has number%d in edition%d.\n\n", i, i, n)
			}
			return knowledge.Document{ID: "zebra", Version: fmt.Sprint(n), Text: b.String(), Roles: []string{"staff"}}
		}
		e.index(long(0))
		var done atomic.Bool
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for !done.Load() {
					a, err := e.store.Retrieve(e.Context(), e.reader("staff"), knowledge.Query{Text: "zebra number", Limit: 100})
					if err != nil {
						e.Error(err)
						return
					}
					versions := map[string]int{}
					for _, c := range a.Chunks {
						versions[c.Version]++
					}
					if len(versions) != 1 || len(a.Chunks) != 40 {
						e.Errorf("chunks of versions: %v", versions)
						return
					}
				}
			})
		}
		for i := range 12 {
			e.index(long(i + 1))
		}
		done.Store(true)
		wg.Wait()
	}},
	{"a coming version waits for its day", "R106", "what does not bind yet must not be told", func(e *env) {
		e.index(rule("1", 30))
		e.index(on("3", 50, ago(-20)), on("2", 40, ago(-10)))
		e.binds(30)
		a := e.ask("how long may I return a kettle, 40 days or 50 days?")
		for _, c := range append(a.Chunks, a.Near...) {
			if c.Version != "1" {
				e.Fatalf("a version to come: %s", e.json(a))
			}
		}
		e.index(rule("1b", 31)) // without a day it takes over at once
		e.binds(31)
		e.index(doc("unborn", "The zebra is coming."))
		other := doc("soon", "The giraffe is coming.")
		other.Effective = ago(-10)
		e.index(other)
		if a := e.ask("is the giraffe coming?"); !a.Refused {
			e.Fatalf("a document of the future: %s", e.json(a))
		}
		_, err := e.store.Document(e.Context(), e.reader("staff"), "soon")
		e.is(err, knowledge.ErrNotFound)
	}},
	{"what is to come takes no room", "T32", "a limit counts what can be told", func(e *env) {
		var b strings.Builder
		for i := range 300 {
			fmt.Fprintf(&b, "## Part %d\n\nZebra stripes.\n\n", i)
		}
		e.index(knowledge.Document{ID: "long", Version: "1", Text: b.String(), Roles: []string{"staff"}, Effective: ago(-30)})
		e.index(doc("now", "Among the many animals of the plains, which are all different, a zebra is one of those that have stripes."))
		q := knowledge.Query{Text: "Which animal has zebra stripes?", Limit: 1}
		e.equal("by words", found(e.askAs(e.reader("staff"), q)), []string{"now@1"})
		v := e.with(knowledge.Options{Embedder: newMeaning(64), Space: "a", Floor: 0.99, Sure: 0.01, Cosine: 0.01})
		_, err := v.store.Embed(e.Context(), e.tenant)
		e.ok(err)
		e.equal("by meaning", found(v.askAs(e.reader("staff"), knowledge.Query{Text: "zebra stripes", Limit: 1})), []string{"now@1"})
	}},
	{"a coming version takes over by itself", "R106", "nobody is there at midnight", func(e *env) {
		e.index(rule("1", 30))
		e.index(on("2", 40, time.Now().Add(300*time.Millisecond)))
		for { // the deadline of the test ends it
			a := e.ask(howLong)
			if got := found(a); len(got) != 1 {
				e.Fatalf("found %q", got)
			}
			if says(a, 40) {
				break
			}
			if !says(a, 30) {
				e.Fatalf("%s", e.json(a))
			}
		}
		e.binds(40)
		e.index(doc("other", "Whatever comes next tidies up.", "managers"))
		e.binds(40)
		e.index(rule("1", 30))
		e.binds(40)
	}},
	{"the latest day binds, not the latest arrival", "T27", "an old version that comes late is old", func(e *env) {
		e.index(on("2", 40, ago(10)))
		e.index(on("1", 30, ago(20)))
		e.binds(40)
		e.index(on("3", 50, ago(10))) // of one day the later one
		e.binds(50)
		e.index(on("4", 60, ago(5)), on("5", 70, ago(-5)), on("5b", 80, ago(-5)))
		e.binds(60)
		e.index(rule("6", 90))
		e.binds(90)
		e.index(on("0", 10, time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)))
		e.binds(90)
	}},
	{"roles come and go with the version", "R105", "what becomes secret is secret", func(e *env) {
		d := rule("1", 30)
		d.Roles = []string{"staff", knowledge.Everyone}
		e.index(d)
		if !says(e.askAs(e.reader(), knowledge.Query{Text: howLong}), 30) {
			e.Fatal("everyone may read it")
		}
		d = rule("2", 40)
		d.Roles = []string{"managers"}
		e.index(d)
		for _, role := range []string{knowledge.Everyone, "staff"} {
			if a := e.askAs(e.reader(role), knowledge.Query{Text: howLong}); !a.Refused || len(a.Near) > 0 {
				e.Fatalf("%s reads %s", role, e.json(a))
			}
		}
		if !says(e.askAs(e.reader("managers"), knowledge.Query{Text: howLong}), 40) {
			e.Fatal("managers may read it")
		}
	}},
}
