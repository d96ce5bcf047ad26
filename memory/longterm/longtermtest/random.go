package longtermtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/memory/longterm"
)

// A model is what a store of keyed facts should have, as plainly as can be said: of each key its versions in the order in which
// they held.
type model map[string][]version

type version struct {
	id, text string
	hour     int
	end      longterm.End
}

// holds is the place of the version that holds, or -1.
func (m model) holds(key string) int {
	return slices.IndexFunc(m[key], func(v version) bool { return v.end == "" })
}

// live are the places of the versions that were not undone, in order.
func (m model) live(key string) (at []int) {
	for i, v := range m[key] {
		if v.end == "" || v.end == longterm.Superseded {
			at = append(at, i)
		}
	}
	return at
}

// atRandom does some hundred things in a random order to a store and to a model of it, and compares them.
func atRandom(e *env) {
	steps := 300
	if testing.Short() {
		steps = 80
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	e.Cleanup(func() {
		if e.Failed() {
			e.Logf("seed %d", seed)
		}
	})
	m := model{}
	for i := range steps {
		key := fmt.Sprintf("key.%d", r.IntN(4))
		switch n := r.IntN(10); {
		case n < 5:
			e.randomAdd(m, key, i, r.IntN(2*steps))
		case n < 7:
			e.randomUpdate(m, key, i)
		case n < 9:
			e.randomRollBack(m, key, r)
		default:
			e.randomForget(m, key, r)
		}
		e.check(m, i%5 == 0)
	}
}

// words that no other fact has: what is compared are keys, not sentences.
func words(key string, i int) string { return fmt.Sprintf("zq%dx of %s", i, key) }

func (e *env) randomAdd(m model, key string, i, hour int) {
	e.Helper()
	d := about(key, words(key, i), name(i), hour)
	out := e.add(d)[0]
	v := version{out.ID, d.Text, hour, ""}
	now := m.holds(key)
	switch {
	case now < 0:
	case hour >= m[key][now].hour:
		m[key][now].end = longterm.Superseded
	default:
		v.end = longterm.Superseded
	}
	m[key] = append(m[key], v)
	slices.SortStableFunc(m[key], func(a, b version) int { return a.hour - b.hour })
	before := e.all()
	e.one(d, longterm.Repeated)
	e.equal("all after the same draft", e.all(), before)
}

func (e *env) randomUpdate(m model, key string, i int) {
	e.Helper()
	now := m.holds(key)
	if now < 0 {
		return
	}
	text, v := words(key, i), m[key][now]
	got, err := e.store.Update(e.Context(), e.scope, e.agent, v.id, longterm.Edit{Text: &text, Source: said(name(i), v.hour)})
	e.ok(err)
	m[key][now].end = longterm.Superseded
	m[key] = append(m[key], version{got.ID, text, v.hour, ""})
	slices.SortStableFunc(m[key], func(a, b version) int { return a.hour - b.hour })
}

func (e *env) randomRollBack(m model, key string, r *rand.Rand) {
	e.Helper()
	live := m.live(key)
	if len(live) == 0 {
		return
	}
	n := r.IntN(len(live))
	v := &m[key][live[n]]
	back, err := e.store.RollBack(e.Context(), e.scope, e.agent, v.id)
	e.ok(err)
	want := ""
	if v.end == "" && n > 0 {
		before := &m[key][live[n-1]]
		want, before.end = before.id, ""
	}
	v.end = longterm.RolledBack
	e.equal("what holds again", back.ID, want)
}

func (e *env) randomForget(m model, key string, r *rand.Rand) {
	e.Helper()
	if len(m[key]) == 0 {
		return
	}
	e.ok(e.store.Forget(e.Context(), e.scope, e.agent, m[key][r.IntN(len(m[key]))].id))
	delete(m, key) // what comes later begins anew
}

// check compares what is listed and told of the history with the model, and what is found.
func (e *env) check(m model, search bool) {
	e.Helper()
	want := map[string]string{}
	for key := range m {
		if now := m.holds(key); now >= 0 {
			want[key] = m[key][now].text
		}
	}
	got := map[string]string{}
	for _, i := range e.list(longterm.Page{}) {
		if got[i.Key] != "" {
			e.Fatalf("two items of %s hold", i.Key)
		}
		got[i.Key] = i.Text
	}
	e.equal("what holds", got, want)
	for key, versions := range m {
		e.equal("the versions of "+key, e.shape(e.versions(versions[0].id)), e.modelShape(versions))
		for _, v := range versions {
			if !search {
				break
			}
			found := e.texts(longterm.Query{Text: v.text, Limit: 20})
			if slices.Contains(found, v.text) != (v.end == "") {
				e.Fatalf("%q, %q, is found: %q", v.text, v.end, found)
			}
		}
	}
	if extra := slices.Sorted(maps.Keys(got)); len(extra) > len(m) {
		e.Fatalf("keys %q", extra)
	}
}

// shape is what can be compared of versions, by id.
func (e *env) shape(items []longterm.Item) map[string]string {
	out := map[string]string{}
	for _, i := range items {
		out[i.ID] = i.Text + " " + string(i.End)
	}
	return out
}

func (e *env) modelShape(versions []version) map[string]string {
	out := map[string]string{}
	for _, v := range versions {
		out[v.id] = v.text + " " + string(v.end)
	}
	return out
}
