package audittest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
)

// Run runs the suite. open returns a log, which the suite closes; all of them may be on one place: each case has tenants of its own.
func Run(t *testing.T, open func(t *testing.T) *audit.Log) {
	for _, c := range []struct {
		name, explanation string
		run               func(*env)
	}{
		{"chain", "entries come back as they were noted, numbered from 1, and verify", chains},
		{"filters", "each field of a filter narrows the list, and pages join without a gap", filters},
		{"tenants", "chains of tenants are separate, whatever user and id they share", tenants},
		{"together", "accesses of many callers at once are all there, once", together},
		{"anchor", "a chain goes through its anchors, and not through others", anchors},
		{"forget", "a user who is forgotten is nobody's; the chain and the others stay", forget},
		{"trim", "old entries go with their names, and the rest verifies", trim},
		{"refusals", "what is no access, a context that has ended, and a closed log are refused", refusals},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := open(t)
			t.Cleanup(func() { l.Close() })
			c.run(&env{T: t, log: l, tenant: Tenant()})
			if t.Failed() {
				t.Log(c.explanation)
			}
		})
	}
}

// Tenant is a name that no other test has.
func Tenant() string { return "t-" + uuid.NewString() }

type env struct {
	*testing.T
	log    *audit.Log
	tenant string
}

func (e *env) record(as ...memory.Access) {
	e.Helper()
	for _, a := range as {
		if err := e.log.Record(e.Context(), a); err != nil {
			e.Fatal(err)
		}
	}
}

// access is one of a user of the tenant.
func (e *env) access(user string, items ...string) memory.Access {
	return memory.Access{
		Tenant: e.tenant, User: user, Agent: "support", Box: "session", Verb: "State", Conversation: "chat", Items: items, Result: memory.AccessOK,
	}
}

func (e *env) list(f audit.Filter) []audit.Entry {
	e.Helper()
	f.Tenant = e.tenant
	out, err := e.log.List(e.Context(), f)
	if err != nil {
		e.Fatal(err)
	}
	return out
}

func (e *env) verify(want int64, anchors ...audit.Anchor) {
	e.Helper()
	if n, err := e.log.Verify(e.Context(), e.tenant, anchors...); err != nil || n != want {
		e.Fatalf("%d entries, %v; want %d", n, err, want)
	}
}

func (e *env) anchor() audit.Anchor {
	e.Helper()
	a, err := e.log.Anchor(e.Context(), e.tenant)
	if err != nil {
		e.Fatal(err)
	}
	return a
}

func numbers(entries []audit.Entry) (out []int64) {
	for _, e := range entries {
		out = append(out, e.N)
	}
	return out
}

func chains(e *env) {
	e.verify(0)
	before := time.Now()
	e.record(
		e.access("ann", "m1", "an id of 日本"),
		memory.Access{Tenant: e.tenant, Box: "knowledge", Verb: "Index", Write: true, Items: []string{"handbook"}, More: 7, Result: memory.AccessBegun},
		memory.Access{Tenant: e.tenant, User: "ann", Box: "longterm", Verb: "Get", Result: "not found"},
	)
	got := e.list(audit.Filter{})
	if len(got) != 3 {
		e.Fatalf("%+v", got)
	}
	for i, x := range got {
		if x.N != int64(i+1) || len(x.Hash) != 64 || x.At.Sub(before).Abs() > time.Minute || x.Tenant != e.tenant {
			e.Errorf("%+v", x)
		}
		x.N, x.Hash, x.At, x.Tenant = 0, "", time.Time{}, ""
		got[i] = x
	}
	if got[0].Token == "" || got[0].Token == "ann" || got[2].Token != got[0].Token || got[1].Token != "" {
		e.Errorf("%+v", got)
	}
	want := []audit.Entry{
		{User: "ann", Agent: "support", Box: "session", Verb: "State", Conversation: "chat", Items: []string{"m1", "an id of 日本"}, Result: "ok"},
		{Box: "knowledge", Verb: "Index", Write: true, Items: []string{"handbook"}, More: 7, Result: "begun"},
		{User: "ann", Box: "longterm", Verb: "Get", Result: "not found"},
	}
	want[0].Token, want[2].Token = got[0].Token, got[0].Token
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		e.Errorf("%+v\nwant %+v", got, want)
	}
	e.verify(3)
}

func filters(e *env) {
	other := e.access("bob", "m2")
	other.Agent, other.Box, other.Conversation = "billing", "longterm", "chat 2"
	e.record(e.access("ann", "m1"), other, e.access("ann", "m2", "m3"), e.access(""), e.access("bob", "m4"))
	at := e.list(audit.Filter{})[2].At
	for _, c := range []struct {
		f    audit.Filter
		want []int64
	}{
		{audit.Filter{}, []int64{1, 2, 3, 4, 5}},
		{audit.Filter{User: "ann"}, []int64{1, 3}},
		{audit.Filter{User: "nobody"}, nil},
		{audit.Filter{Agent: "billing"}, []int64{2}},
		{audit.Filter{Box: "session"}, []int64{1, 3, 4, 5}},
		{audit.Filter{Conversation: "chat 2"}, []int64{2}},
		{audit.Filter{Conversation: "chat", User: "bob"}, []int64{5}},
		{audit.Filter{Item: "m2"}, []int64{2, 3}},
		{audit.Filter{Item: "m2", Limit: 1}, []int64{2}},
		{audit.Filter{Item: "m2", After: 2}, []int64{3}},
		{audit.Filter{From: at.Add(time.Hour)}, nil},
		{audit.Filter{To: at.Add(-time.Hour)}, nil},
		{audit.Filter{From: at.Add(-time.Hour), To: at.Add(time.Hour), Limit: 2}, []int64{1, 2}},
		{audit.Filter{After: 4}, []int64{5}},
		{audit.Filter{After: 5}, nil},
	} {
		if got := numbers(e.list(c.f)); !slices.Equal(got, c.want) {
			e.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
}

func tenants(e *env) {
	other := &env{T: e.T, log: e.log, tenant: Tenant()}
	e.record(e.access("ann", "m1"), e.access("ann", "m2"))
	other.record(other.access("ann", "m1"))
	e.verify(2)
	other.verify(1)
	mine, theirs := e.list(audit.Filter{User: "ann"}), other.list(audit.Filter{User: "ann"})
	if len(mine) != 2 || len(theirs) != 1 || mine[0].Token == theirs[0].Token || mine[0].Hash == theirs[0].Hash {
		e.Errorf("%+v\n%+v", mine, theirs)
	}
	scope, err := memory.NewScope(e.tenant, "ann")
	if err != nil {
		e.Fatal(err)
	}
	if err := e.log.Forget(e.Context(), scope); err != nil {
		e.Fatal(err)
	}
	if theirs = other.list(audit.Filter{User: "ann"}); len(theirs) != 1 {
		e.Errorf("%+v", theirs)
	}
}

func together(e *env) { Together(e.T, e.log) }

// Together has many callers note accesses at several logs on one place, and fails unless each is there once.
func Together(t *testing.T, logs ...*audit.Log) {
	e := &env{T: t, log: logs[0], tenant: Tenant()}
	const callers, each = 24, 5
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for j := range each {
				if err := logs[i%len(logs)].Record(t.Context(), e.access(fmt.Sprint("user ", i%7), fmt.Sprint(i, " ", j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	e.verify(callers * each)
	seen := map[string]bool{}
	for _, x := range e.list(audit.Filter{Limit: 1000}) {
		if len(x.Items) != 1 || seen[x.Items[0]] {
			t.Fatalf("%+v", x)
		}
		seen[x.Items[0]] = true
	}
	if len(seen) != callers*each {
		t.Errorf("%d accesses are there, want %d", len(seen), callers*each)
	}
}

func anchors(e *env) {
	none := e.anchor()
	e.record(e.access("ann"))
	one := e.anchor()
	e.record(e.access("ann"), e.access("bob"))
	three := e.anchor()
	if none.N != 0 || one.N != 1 || three.N != 3 || three.Tenant != e.tenant || three.At.IsZero() {
		e.Errorf("%+v %+v %+v", none, one, three)
	}
	e.verify(3, none, one, three)
	for _, c := range []struct {
		anchor audit.Anchor
		n      int64
	}{
		{audit.Anchor{Tenant: e.tenant, N: 1, Hash: three.Hash}, 1},
		{audit.Anchor{Tenant: e.tenant, N: 4, Hash: three.Hash}, 4},
		{audit.Anchor{Tenant: e.tenant, N: 0, Hash: three.Hash}, 0},
	} {
		_, err := e.log.Verify(e.Context(), e.tenant, c.anchor)
		if x, ok := errors.AsType[*audit.TamperedError](err); !ok || x.N != c.n || x.Tenant != e.tenant {
			e.Errorf("%+v: %v", c.anchor, err)
		}
	}
	if _, err := e.log.Verify(e.Context(), e.tenant, audit.Anchor{Tenant: "another", N: 1}); !errors.Is(err, audit.ErrAnchor) {
		e.Error(err)
	}
}

func forget(e *env) {
	e.record(e.access("ann", "m1", "m2"), e.access("bob", "m1"))
	anchor := e.anchor()
	scope, err := memory.NewScope(e.tenant, "ann")
	if err != nil {
		e.Fatal(err)
	}
	for range 2 {
		if err := e.log.Forget(e.Context(), scope); err != nil {
			e.Fatal(err)
		}
		e.verify(3, anchor) // that it was done is an entry, once
	}
	all := e.list(audit.Filter{})
	if x := all[0]; x.User != "" || x.Token == "" || x.Conversation != "" || x.Items != nil || x.More != 2 {
		e.Errorf("%+v", x)
	}
	if all[1].User != "bob" || !slices.Equal(all[1].Items, []string{"m1"}) || all[2].Box != "audit" || all[2].Verb != "Forget" || all[2].Token != all[0].Token {
		e.Errorf("%+v", all)
	}
	for _, f := range []audit.Filter{{User: "ann"}, {Item: "m2"}} {
		if got := e.list(f); got != nil {
			e.Errorf("%+v finds %+v", f, got)
		}
	}
	e.record(e.access("ann", "m1"))
	if x := e.list(audit.Filter{})[3]; x.User != "" || x.Token != audit.Forgotten || x.Conversation != "" || x.Items != nil || x.More != 1 {
		e.Errorf("%+v: who was forgotten has a name again", x)
	}
	e.verify(4, anchor)
	readmit(e, scope, all[0].Token)
	e.verify(6, anchor)
}

func readmit(e *env, scope memory.Scope, old string) {
	for range 2 {
		if err := e.log.Readmit(e.Context(), scope); err != nil {
			e.Fatal(err)
		}
	}
	if n, err := e.log.Count(e.Context(), scope); n != 0 || err != nil {
		e.Error(n, err)
	}
	e.record(e.access("ann"))
	if got := e.list(audit.Filter{User: "ann"}); len(got) != 1 || got[0].N != 6 || got[0].Token == old || got[0].Token == audit.Forgotten {
		e.Errorf("%+v: who comes back has the old pseudonym, or none", got)
	}
	if n, err := e.log.Count(e.Context(), scope); n != 1 || err != nil {
		e.Error(n, err)
	}
}

func trim(e *env) {
	if n, err := e.log.Trim(e.Context(), e.tenant, time.Now()); n != 0 || err != nil {
		e.Error(n, err)
	}
	old := e.anchor()
	e.record(e.access("ann"), e.access("bob"))
	first := e.list(audit.Filter{})[0].At
	if n, err := e.log.Trim(e.Context(), e.tenant, first); n != 0 || err != nil {
		e.Error(n, err)
	}
	two := e.anchor()
	if n, err := e.log.Trim(e.Context(), e.tenant, time.Now().Add(time.Hour)); n != 2 || err != nil {
		e.Error(n, err)
	}
	e.verify(1, two)
	e.record(e.access("bob"), e.access("bob"))
	e.verify(3, two)
	all := e.list(audit.Filter{})
	if !slices.Equal(numbers(all), []int64{3, 4, 5}) || all[0].Box != "audit" || all[0].Verb != "Trim" || all[0].More != 2 || all[1].User != "bob" {
		e.Errorf("%+v", all)
	}
	if _, err := e.log.Verify(e.Context(), e.tenant, old); !errors.Is(err, audit.ErrAnchor) {
		e.Errorf("%v: an anchor of what was trimmed says nothing", err)
	}
	if _, err := e.log.Verify(e.Context(), e.tenant, audit.Anchor{Tenant: e.tenant, N: 2, Hash: "other"}); err == nil || errors.Is(err, audit.ErrAnchor) {
		e.Errorf("%v: the hash before what is kept is checked", err)
	}
}

func refusals(e *env) {
	ok := e.access("ann")
	for _, change := range []func(*memory.Access){
		func(a *memory.Access) { a.Tenant = "" },
		func(a *memory.Access) { a.Tenant = "a\x00b" },
		func(a *memory.Access) { a.User = "a\xffb" },
		func(a *memory.Access) { a.Items = []string{"a\x00b"} },
	} {
		a := ok
		change(&a)
		if err := e.log.Record(e.Context(), a); !errors.Is(err, audit.ErrAccess) {
			e.Errorf("%+v: %v", a, err)
		}
	}
	if _, err := e.log.List(e.Context(), audit.Filter{}); !errors.Is(err, audit.ErrAccess) {
		e.Error(err)
	}
	if err := e.log.Forget(e.Context(), memory.Scope{}); !errors.Is(err, memory.ErrScope) {
		e.Error(err)
	}
	ended, cancel := context.WithCancel(e.Context())
	cancel()
	if err := e.log.Record(ended, ok); !errors.Is(err, audit.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		e.Error(err)
	}
	e.verify(0)
	for range 2 {
		if err := e.log.Close(); err != nil {
			e.Error(err)
		}
	}
	if err := e.log.Record(e.Context(), ok); !errors.Is(err, audit.ErrClosed) {
		e.Error(err)
	}
}
