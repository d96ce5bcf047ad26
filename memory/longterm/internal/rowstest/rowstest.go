// Package rowstest compares a back end of long-term memory with that in memory, below the rules of a store.
package rowstest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/search"
)

// Run does the same at random on a back end and on that in memory, for several scopes with ids that look alike, and fails where what they
// have differs. R88: what one scope does is not seen in another.
func Run(t *testing.T, b longterm.Backend, rounds int, withVectors bool) {
	m := longterm.MemoryBackend()
	defer m.Close()
	g := &generator{r: rand.New(rand.NewPCG(3, 4)), vectors: withVectors}
	tenant := "t-" + uuid.NewString()
	var scopes []memory.Scope
	for _, p := range [][2]string{{tenant, "u"}, {tenant, "u%"}, {tenant + "'u", "u"}} {
		sc, err := memory.NewScope(p[0], p[1])
		if err != nil {
			t.Fatal(err)
		}
		scopes = append(scopes, sc)
	}
	erased := map[memory.Scope]bool{}
	for range rounds {
		sc := scopes[g.r.IntN(len(scopes))]
		change, fails := g.change(), g.r.IntN(6) == 0
		for _, to := range []longterm.Backend{b, m} {
			err := to.Update(t.Context(), sc, func(tx longterm.Tx) error {
				return errors.Join(change(t.Context(), tx), failed(fails))
			})
			if erased[sc] != errors.Is(err, memory.ErrErased) || err != nil && !erased[sc] && !errors.Is(err, errOwn) {
				t.Fatal(err)
			}
		}
		switch g.r.IntN(20) {
		case 0:
			if err := errors.Join(b.Erase(t.Context(), sc), m.Erase(t.Context(), sc)); err != nil {
				t.Fatal(err)
			}
			erased[sc] = true
		case 1, 2, 3, 4:
			if err := errors.Join(b.Readmit(t.Context(), sc), m.Readmit(t.Context(), sc)); err != nil {
				t.Fatal(err)
			}
			delete(erased, sc)
		}
		look := g.look()
		for _, sc := range scopes {
			compare(t, seen(t, b, sc, look), seen(t, m, sc, look))
		}
	}
	for _, sc := range scopes {
		if err := b.Erase(t.Context(), sc); err != nil {
			t.Fatal(err)
		}
	}
}

var errOwn = errors.New("own")

func failed(yes bool) error {
	if yes {
		return errOwn
	}
	return nil
}

type step func(ctx context.Context, tx longterm.Tx) error

// A view is what a look shows: answers to questions as JSON, and scores, which differ by rounding.
type view struct {
	questions, answers []string
	scores             []float64
}

func (v *view) add(question string, answer any) error {
	doc, err := json.Marshal(answer)
	v.questions, v.answers = append(v.questions, question), append(v.answers, string(doc))
	return err
}

func compare(t *testing.T, got, want view) {
	t.Helper()
	for i, q := range want.questions {
		if got.answers[i] != want.answers[i] {
			t.Fatalf("%s:\n got %s\nwant %s", q, got.answers[i], want.answers[i])
		}
	}
	for i, s := range want.scores {
		if math.Abs(got.scores[i]-s) > 1e-4 {
			t.Fatalf("score %d is %v, want %v", i, got.scores[i], s)
		}
	}
}

type look func(ctx context.Context, tx longterm.Tx, v *view) error

func seen(t *testing.T, b longterm.Backend, sc memory.Scope, f look) (v view) {
	t.Helper()
	if err := b.View(t.Context(), sc, func(tx longterm.Tx) error {
		if tx.Now().IsZero() || tx.Now().Nanosecond()%1000 != 0 {
			return fmt.Errorf("the time is %v", tx.Now())
		}
		v = view{}
		return f(t.Context(), tx, &v)
	}); err != nil {
		t.Fatal(err)
	}
	return v
}

type generator struct {
	r       *rand.Rand
	vectors bool
}

func pick[T any](g *generator, from ...T) T { return from[g.r.IntN(len(from))] }

// some is a list of some of the values: nil, of none, or of a few.
func some[T any](g *generator, from ...T) []T {
	if g.r.IntN(4) > 0 {
		return nil
	}
	out := []T{}
	for range g.r.IntN(4) {
		out = append(out, pick(g, from...))
	}
	return out
}

var (
	epoch      = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	ids        = []string{"a", "b", "c", "项目", "a'b", "A", "$1", "{now}"}
	namespaces = []string{"n", "n2", "业务"}
	shelves    = []string{"0/n", "1/n", "0/业务"}
	keys       = []string{"", "k", "默认"}
	kinds      = []longterm.Kind{longterm.Semantic, longterm.Preference, longterm.Habit, ""}
	states     = []longterm.State{longterm.Holds, longterm.Past, longterm.Waits}
	terms      = []string{"", "wort", "支付", "\x00space", "a'b"}
)

func (g *generator) at() time.Time {
	if g.r.IntN(3) == 0 {
		return time.Time{}
	}
	return epoch.Add(time.Duration(g.r.IntN(5)) * time.Hour)
}

func (g *generator) row() longterm.Row {
	return longterm.Row{
		ID: pick(g, ids...), Shelf: pick(g, shelves...), No: uint32(g.r.IntN(4)), Namespace: pick(g, namespaces...), Label: memory.Label(g.r.IntN(3)),
		Kind: pick(g, kinds...), Key: pick(g, keys...), Hash: pick(g, "", "h1", "h2"), Replaces: pick(g, append(ids, "")...), Depends: unique(some(g, ids...)),
		State: pick(g, states...), From: epoch.Add(time.Duration(g.r.IntN(5)) * time.Hour), Until: g.at(), Expires: g.at(), Body: []byte{byte(g.r.IntN(256)), 0},
	}
}

// unique is nil for none, which is the same.
func unique(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (g *generator) job() longterm.JobRow {
	return longterm.JobRow{
		ID: pick(g, ids...), State: pick(g, longterm.Queued, longterm.Failing, longterm.Done, longterm.Parked), Queued: g.at(), Due: g.at(), Done: g.at(),
		Holder: pick(g, "", "h"), Held: g.at(), Body: []byte(pick(g, ids...)),
	}
}

func (g *generator) key() search.Key {
	return search.Key{Shelf: pick(g, shelves...), Term: pick(g, terms...), Block: g.r.IntN(3)}
}

// change is one of the ways to write.
func (g *generator) change() step {
	switch g.r.IntN(6) {
	case 0, 1:
		var rows []longterm.Row
		for range g.r.IntN(5) {
			rows = append(rows, g.row())
		}
		return func(ctx context.Context, tx longterm.Tx) error { return tx.Put(ctx, rows...) }
	case 2:
		s := longterm.Shelf{Name: pick(g, shelves...), Namespace: pick(g, namespaces...), Label: memory.Label(g.r.IntN(3)), Next: g.r.Uint32(), Items: g.r.IntN(9)}
		return func(ctx context.Context, tx longterm.Tx) error { return tx.PutShelf(ctx, s) }
	case 3:
		j, before := g.job(), g.at()
		return func(ctx context.Context, tx longterm.Tx) error {
			if !before.IsZero() {
				return tx.DeleteJobs(ctx, before)
			}
			return tx.PutJob(ctx, j)
		}
	case 4:
		rows := map[search.Key][]byte{}
		for range g.r.IntN(20) {
			if rows[g.key()] = nil; g.r.IntN(2) == 0 {
				rows[g.key()] = []byte{byte(g.r.IntN(256))}
			}
		}
		return func(ctx context.Context, tx longterm.Tx) error { return tx.Save(ctx, rows) }
	}
	return g.changeVectors()
}

// changeVectors adds documents with vectors, or removes the vectors of some.
func (g *generator) changeVectors() step {
	shelf, first := pick(g, "v1", "v2"), uint32(g.r.IntN(1<<30))
	var docs []search.Doc
	vectors := map[uint32][]float32{}
	for i := range uint32(g.r.IntN(4)) {
		docs = append(docs, search.Doc{No: first + i, Text: "word"})
		vectors[first+i] = g.vector()
	}
	gone := map[uint32][]float32{first: nil, first + 1: nil}
	lost := g.r.IntN(3) == 0
	return func(ctx context.Context, tx longterm.Tx) error {
		if !g.vectors {
			return nil
		}
		if err := errors.Join(search.Add(ctx, tx, shelf, docs...), tx.PutVectors(ctx, shelf, "space", vectors)); err != nil || !lost {
			return err
		}
		return tx.PutVectors(ctx, shelf, "space", gone)
	}
}

func (g *generator) vector() []float32 {
	v := make([]float32, 8)
	for i := range v {
		v[i] = g.r.Float32() - 0.5
	}
	return v
}

// look reads in all ways.
func (g *generator) look() look {
	var sels []longterm.Select
	for range 8 {
		sels = append(sels, g.sel())
	}
	jobs := longterm.SelectJobs{IDs: some(g, ids...), Open: g.r.IntN(2) == 0, After: pick(g, "", "a"), Limit: g.r.IntN(3)}
	keys := []search.Key{g.key(), g.key(), g.key()}
	q := g.vector()
	return func(ctx context.Context, tx longterm.Tx, v *view) error {
		errs := []error{v.index(ctx, tx, keys), v.rest(ctx, tx, jobs)}
		for _, s := range sels {
			rows, err := tx.Items(ctx, s)
			errs = append(errs, err, v.add(fmt.Sprintf("%+v", s), rows))
		}
		if g.vectors {
			errs = append(errs, v.nearest(ctx, tx, q))
		}
		return errors.Join(errs...)
	}
}

func (v *view) index(ctx context.Context, tx longterm.Tx, keys []search.Key) error {
	load, err := tx.Load(ctx, keys)
	var scan []string
	err2 := tx.Scan(ctx, shelves, terms, func(k search.Key, data []byte) error {
		scan = append(scan, fmt.Sprintf("%+v %x", k, data))
		return nil
	})
	slices.Sort(scan)
	return errors.Join(err, err2, v.add("load", fmt.Sprint(load)), v.add("scan", scan))
}

func (v *view) rest(ctx context.Context, tx longterm.Tx, s longterm.SelectJobs) error {
	jobs, err := tx.Jobs(ctx, s)
	for i := range jobs {
		jobs[i].Scope = memory.Scope{} // in memory it is what was put
	}
	list, err2 := tx.Shelves(ctx)
	slices.SortFunc(list, func(a, b longterm.Shelf) int { return cmp.Compare(a.Name, b.Name) })
	return errors.Join(err, err2, v.add(fmt.Sprintf("jobs %+v", s), fmt.Sprintf("%+v", jobs)), v.add("shelves", list))
}

func (v *view) nearest(ctx context.Context, tx longterm.Tx, q []float32) error {
	hits, err := tx.Nearest(ctx, []string{"v1", "v2"}, "space", q, 5)
	var places []search.Place
	for _, h := range hits {
		places, v.scores = append(places, search.Place{Shelf: h.Shelf, No: h.No}), append(v.scores, h.Score)
	}
	return errors.Join(err, v.add("nearest", places))
}

func (g *generator) sel() longterm.Select {
	s := longterm.Select{
		Namespaces: namespaces[:g.r.IntN(4)], Label: memory.Label(g.r.IntN(3)), IDs: some(g, ids...), Keys: some(g, keys...), Hashes: some(g, "h1", "h2", ""),
		Replaces: some(g, ids...), Depends: some(g, ids...), Kinds: some(g, kinds...), States: some(g, states...),
		After: pick(g, "", "", "a"), Newest: g.r.IntN(3) == 0, Limit: g.r.IntN(4),
	}
	if g.r.IntN(3) == 0 {
		s.AsOf = g.at()
	}
	for _, sh := range some(g, shelves...) {
		s.Places = append(s.Places, search.Place{Shelf: sh, No: uint32(g.r.IntN(4))})
	}
	return s
}
