package longtermtest

import (
	"context"
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
	"github.com/holdfast-go/holdfast/memory/longterm"
)

var scopeCases = []testCase{
	{name: "two tenants, many users, every verb", line: "R88, R93, R120", why: "one row of somebody else is a leak", o: quick, run: everyVerb},
	{name: "no scope, no agent", line: "R89, R93, T19", why: "people who forgot to say who they are must not share a memory", o: quick, run: noScope},
	{name: "strange ids", line: "R93", why: "an id is never part of a statement", o: quick, run: strangeIDs},
	{name: "contexts that end", line: "report 153", why: "a call that was given up is safe to repeat", o: quick, run: contexts},
	{name: "erasing", line: "R83, R113", why: "nothing of a user may be left", o: quick, run: erasing},
	{name: "a closed store", line: "-", why: "a late call must not panic", o: quick, run: closed},
	{name: "many at once", line: "R70, R88", why: "two writers must not both find nothing there", o: quick, run: manyAtOnce},
}

// verbs are the methods of a store that touch rows. Each gets a scope, an agent and the id of an item of it, and returns what it saw.
var verbs = map[string]func(e *env, s memory.Scope, a memory.Agent, id string) (string, error){
	"Add": func(e *env, s memory.Scope, a memory.Agent, _ string) (string, error) {
		out, err := e.store.Add(e.Context(), s, a, fact("one more", "m9", 9))
		return shown(out), err
	},
	"Search": func(e *env, s memory.Scope, a memory.Agent, _ string) (string, error) {
		out, err := e.store.Search(e.Context(), s, a, longterm.Query{Text: "canary", Limit: 50, Profile: 50})
		return shown(out), err
	},
	"List": func(e *env, s memory.Scope, a memory.Agent, _ string) (string, error) {
		out, err := e.store.List(e.Context(), s, a, longterm.Page{Past: true, Inferred: true})
		return shown(out), err
	},
	"Get": func(e *env, s memory.Scope, a memory.Agent, id string) (string, error) {
		out, err := e.store.Get(e.Context(), s, a, id)
		return shown(out), err
	},
	"AsOf": func(e *env, s memory.Scope, a memory.Agent, _ string) (string, error) {
		out, err := e.store.AsOf(e.Context(), s, a, ns, "key", time.Now())
		return shown(out), err
	},
	"History": func(e *env, s memory.Scope, a memory.Agent, id string) (string, error) {
		out, err := e.store.History(e.Context(), s, a, id)
		return shown(out), err
	},
	"Update": func(e *env, s memory.Scope, a memory.Agent, id string) (string, error) {
		out, err := e.store.Update(e.Context(), s, a, id, longterm.Edit{Meta: map[string]string{"a": "b"}, Source: said("m8", 8)})
		return shown(out), err
	},
	"Confirm": func(e *env, s memory.Scope, a memory.Agent, id string) (string, error) {
		_, err := e.store.Confirm(e.Context(), s, a, id, said("m8", 8))
		if errors.Is(err, longterm.ErrEnded) {
			err = nil
		}
		return "", err
	},
	"Remember": func(e *env, s memory.Scope, a memory.Agent, _ string) (string, error) {
		return "", e.store.Remember(e.Context(), s, a, exchange("m7", "note something else"))
	},
	"Jobs": func(e *env, s memory.Scope, a memory.Agent, _ string) (string, error) {
		out, err := e.store.Jobs(e.Context(), s, a, "", 0)
		return shown(out), err
	},
	"Retry": func(e *env, s memory.Scope, a memory.Agent, id string) (string, error) {
		if err := e.store.Retry(e.Context(), s, a, id); !errors.Is(err, longterm.ErrNotFound) {
			return "", err
		}
		return "", nil
	},
	"Embed": func(e *env, s memory.Scope, a memory.Agent, _ string) (string, error) {
		_, err := e.store.Embed(e.Context(), s)
		if errors.Is(err, longterm.ErrOptions) {
			err = errors.Join(s.Valid(), a.Valid())
		}
		return "", err
	},
	"RollBack": func(e *env, s memory.Scope, a memory.Agent, id string) (string, error) {
		out, err := e.store.RollBack(e.Context(), s, a, id)
		return shown(out), err
	},
	"Forget": func(e *env, s memory.Scope, a memory.Agent, id string) (string, error) {
		return "", e.store.Forget(e.Context(), s, a, id)
	},
	"Count": func(e *env, s memory.Scope, a memory.Agent, _ string) (string, error) {
		n, err := e.store.Count(e.Context(), s)
		return shown(n), errors.Join(a.Valid(), err)
	},
	"Readmit": func(e *env, s memory.Scope, a memory.Agent, _ string) (string, error) {
		return "", errors.Join(a.Valid(), e.store.Readmit(e.Context(), s))
	},
	"Erase": func(e *env, s memory.Scope, a memory.Agent, _ string) (string, error) {
		return "", errors.Join(a.Valid(), e.store.Erase(e.Context(), s))
	},
}

// shown is what a verb returned, as JSON.
func shown(v any) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%+v", v)
	return out.String()
}

// order is that in which they are called: what deletes goes last.
var order = []string{
	"Add", "Search", "List", "Get", "AsOf", "History", "Update", "Confirm", "Remember", "Jobs", "Retry", "Embed", "RollBack", "Forget", "Count", "Readmit", "Erase",
}

// checkVerbs fails if the store has a method that this file does not know.
func checkVerbs(e *env) {
	e.Helper()
	methods := []string{}
	for m := range reflect.TypeFor[*longterm.Store]().Methods() {
		if !slices.Contains([]string{"Close", "Compact", "Work", "Drain"}, m.Name) { // of all users
			methods = append(methods, m.Name)
		}
	}
	slices.Sort(methods)
	e.equal("methods that are tested for foreign rows", slices.Sorted(slices.Values(order)), methods)
}

// A person has a scope and secret words in every kind of row.
type person struct {
	memory.Scope
	canary string
	id     string
}

// people are two tenants with fifty users each, or five with -short. The users of both have the same names, some of which are hostile, and all
// say the same in the same messages.
func people(e *env) []person {
	var out []person
	tenant := "tenant-" + uuid.NewString()
	for _, t := range []string{tenant, tenant + "'--"} {
		for i, u := range userNames() {
			s, err := memory.NewScope(t, u)
			e.ok(err)
			out = append(out, person{Scope: s, canary: fmt.Sprintf("canary%dx%s", i, strings.ReplaceAll(uuid.NewString(), "-", "z"))})
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
	pref, guess := about("key", "the canary is "+p.canary, "m1", 1), inferred("a canary may be "+p.canary, "m2", 1)
	pref.Kind = longterm.Preference
	out, err := e.store.Add(e.Context(), p.Scope, e.agent, pref, guess, fact("everybody has a canary", "m3", 3))
	e.ok(err)
	p.id = out[0].ID
	e.ok(e.store.Remember(e.Context(), p.Scope, e.agent, exchange("m4", "note a canary in the outbox: "+p.canary)))
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
				saw, err := verbs[verb](e, p.Scope, e.agent, p.id)
				if err != nil {
					e.Errorf("%s: %v", verb, err)
				}
				for _, q := range all {
					if q.Scope != p.Scope && strings.Contains(saw, q.canary) {
						e.Errorf("%s in %s saw what belongs to %s: %s", verb, p, q, saw)
					}
				}
				if !strings.Contains(saw, p.canary) && slices.Contains([]string{"Search", "List", "Get", "AsOf", "History", "Jobs"}, verb) {
					e.Errorf("%s in %s did not see its own: %s", verb, p, saw)
				}
			})
		}
		wg.Wait()
	}
	e.othersKeep()
}

// othersKeep has each of some people try the id of one, and delete everything, by every verb, and looks at that one.
func (e *env) othersKeep() {
	e.Helper()
	all := people(e)
	for i := range all {
		e.fill(&all[i])
	}
	kept := all[0]
	e.scope = kept.Scope
	before := e.all()
	for _, p := range all[1:] {
		for _, verb := range []string{"Get", "History", "Update", "Confirm", "RollBack", "Forget"} {
			_, err := verbs[verb](e, p.Scope, e.agent, kept.id)
			e.is(err, longterm.ErrNotFound)
		}
		for _, verb := range []string{"RollBack", "Forget", "Erase"} {
			_, err := verbs[verb](e, p.Scope, e.agent, p.id)
			e.ok(err)
		}
		_, err := e.store.Get(e.Context(), p.Scope, e.agent, p.id)
		e.is(err, longterm.ErrNotFound)
	}
	e.equal("what one user has after nine others deleted theirs", e.all(), before)
}

func noScope(e *env) {
	for _, verb := range order {
		_, err := verbs[verb](e, memory.Scope{}, e.agent, "id")
		e.is(err, memory.ErrScope)
		if verb == "Embed" { // for whoever runs the store, as Work
			continue
		}
		_, err = verbs[verb](e, e.scope, memory.Agent{}, "id")
		e.is(err, memory.ErrAgent)
	}
}

func strangeIDs(e *env) {
	hostile := []string{
		"'; drop table hfl_item; --", `"`, `\`, "%", "_", "$1", "{now}", "hfl_item", "用户🙂", " ", "a/b", "null", "<script>", strings.Repeat("x", 256),
	}
	for i, id := range hostile {
		if strings.TrimSpace(id) == "" {
			continue
		}
		e.agent = e.newAgent(id, memory.Secret, id)
		d := longterm.Draft{
			Kind: longterm.Semantic, Key: id, Text: fmt.Sprintf("strange text %d %s", i, id), Origin: longterm.FromTool, Meta: map[string]string{id: id},
			Source: longterm.Source{Conversation: id, Message: id, Call: id},
		}
		item := e.get(e.one(d, longterm.Stored))
		if item.Key != id || item.Namespace != id || item.Sources[0].Call != id || item.Meta[strings.TrimSpace(id)] == "" {
			e.Fatalf("%q: %s", id, e.json(item))
		}
		e.equal("found", len(e.search(longterm.Query{Text: "strange text " + id})), 1)
		got, err := e.store.AsOf(e.Context(), e.scope, e.agent, id, id, time.Time{})
		e.ok(err)
		e.equal("by its key", got.ID, item.ID)
		_, err = e.store.Get(e.Context(), e.scope, e.agent, id)
		e.is(err, longterm.ErrNotFound)
		e.equal("behind it", len(e.list(longterm.Page{After: "zzzz" + strings.TrimPrefix(id, "xxxx")})), 0)
	}
	for _, id := range []string{"", "a\x00b", "\n", "\xff", strings.Repeat("x", 257)} {
		_, get := e.store.Get(e.Context(), e.scope, e.agent, id)
		_, hist := e.store.History(e.Context(), e.scope, e.agent, id)
		_, back := e.store.RollBack(e.Context(), e.scope, e.agent, id)
		_, asOf := e.store.AsOf(e.Context(), e.scope, e.agent, ns, id, time.Time{})
		for _, err := range []error{get, hist, back, asOf, e.store.Forget(e.Context(), e.scope, e.agent, id), e.store.Retry(e.Context(), e.scope, e.agent, id)} {
			e.is(err, longterm.ErrNotFound)
		}
		if id == "" {
			continue
		}
		_, list := e.store.List(e.Context(), e.scope, e.agent, longterm.Page{After: id})
		_, kind := e.store.List(e.Context(), e.scope, e.agent, longterm.Page{Kinds: []longterm.Kind{longterm.Kind(id)}})
		_, search := e.store.Search(e.Context(), e.scope, e.agent, longterm.Query{Text: id, Kinds: []longterm.Kind{longterm.Kind(id)}})
		_, jobs := e.store.Jobs(e.Context(), e.scope, e.agent, id, 0)
		for _, err := range []error{list, kind, search, jobs} {
			e.is(err, longterm.ErrQuery)
		}
	}
	e.agent = e.newAgent("writer", memory.Secret, ns)
	for i, text := range []string{"a\x00b", "\xff\xfe text", "a\r\nb\tc", "🙂🙂", "\u202eright to left", strings.Repeat("长", 2000)} {
		e.one(fact(text, name(i), i), longterm.Stored)
		e.search(longterm.Query{Text: text, Also: []string{text}})
	}
}

func contexts(e *env) {
	over, cancel := context.WithCancel(e.Context())
	cancel()
	_, add := e.store.Add(over, e.scope, e.agent, fact("never", "m", 0))
	_, search := e.store.Search(over, e.scope, e.agent, longterm.Query{Text: "never"})
	_, list := e.store.List(over, e.scope, e.agent, longterm.Page{})
	for _, err := range []error{add, search, list, e.store.Remember(over, e.scope, e.agent, exchange("m", "note never"))} {
		e.is(err, longterm.ErrUnavailable)
		e.is(err, context.Canceled)
	}
	const n = 40
	for i := range n { // contexts that end at any moment
		ctx, cancel := context.WithCancel(e.Context())
		var wg sync.WaitGroup
		wg.Go(cancel)
		d := about("key", fmt.Sprintf("fact zq%dx", i), name(i), i)
		_, err := e.store.Add(ctx, e.scope, e.agent, d)
		if err != nil {
			e.is(err, longterm.ErrUnavailable)
			e.add(d)
		}
		x := exchange("x"+name(i), fmt.Sprintf("note exchange zq%dx", i))
		if err := e.store.Remember(ctx, e.scope, e.agent, x); err != nil {
			e.is(err, longterm.ErrUnavailable)
			e.remember(x)
		}
		wg.Wait()
	}
	items := e.list(longterm.Page{})
	e.equal("items that hold", len(items), 1)
	e.equal("versions", len(e.versions(items[0].ID)), n)
	e.equal("jobs", len(e.jobs()), n)
}

func erasing(e *env) {
	e.add(about("key", "the canary sings", "m1", 1), inferred("maybe", "m2", 1))
	e.remember(exchange("m3", "note the canary"))
	e.ok(e.store.Erase(e.Context(), e.scope))
	e.ok(e.store.Erase(e.Context(), e.scope))
	e.equal("all", e.all(), "nullnull")
	e.equal("rows", e.count(), 0)
	e.finds("canary")

	_, err := e.store.Add(e.Context(), e.scope, e.agent, about("key", "the canary sings", "m1", 1))
	e.is(err, memory.ErrErased)
	e.is(e.store.Remember(e.Context(), e.scope, e.agent, exchange("m3", "note the canary")), memory.ErrErased)
	e.equal("rows after a late write", e.count(), 0)

	e.ok(e.store.Readmit(e.Context(), e.scope))
	e.ok(e.store.Readmit(e.Context(), e.scope))
	e.one(about("key", "the canary sings", "m1", 1), longterm.Stored)
	e.finds("canary", "the canary sings")
	e.equal("rows of who came back", e.count() > 0, true)
	e.ok(e.store.Erase(e.Context(), e.scope))
	e.ok(e.store.Compact(e.Context()))
	e.equal("rows", e.count(), 0)
}

func (e *env) count() int {
	e.Helper()
	n, err := e.store.Count(e.Context(), e.scope)
	e.ok(err)
	return n
}

func closed(e *env) {
	id := e.one(fact("it was open", "m", 0), longterm.Stored)
	e.ok(e.store.Close())
	e.ok(e.store.Close())
	for _, verb := range order {
		if verb == "Embed" {
			continue
		}
		_, err := verbs[verb](e, e.scope, e.agent, id)
		e.is(err, longterm.ErrClosed)
	}
	e.is(e.store.Work(e.Context()), longterm.ErrClosed)
	_, err := e.store.Drain(e.Context())
	e.is(err, longterm.ErrClosed)
}

// manyAtOnce has 10 writers say the same and different things about the same keys.
func manyAtOnce(e *env) {
	each := 100
	if testing.Short() {
		each = 20
	}
	var wg sync.WaitGroup
	for w := range 10 {
		wg.Go(func() {
			for i := range each {
				key := fmt.Sprintf("key.%d", i%5)
				_, err := e.store.Add(e.Context(), e.scope, e.agent,
					about(key, fmt.Sprintf("zq%dx%d of %s", w, i, key), fmt.Sprintf("%d-%d", w, i), i), fact("all say it", fmt.Sprintf("%d-%d", w, i), i))
				if err != nil {
					e.Errorf("add: %v", err)
				}
			}
		})
	}
	wg.Wait()
	items := e.list(longterm.Page{})
	e.equal("items that hold", len(items), 6)
	versions := 0
	for _, i := range items {
		if i.Key != "" {
			versions += len(e.versions(i.ID))
		}
	}
	e.equal("versions", versions, 10*each)
}
