package knowledge_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// A plain model of a store: what was indexed, in order.
type model []knowledge.Document

// inForce is the version of a document that binds, as the documentation says: the latest day that has come; of equal days, and without a day, the
// later one.
func (m model) inForce(id string) (knowledge.Document, bool) {
	var best knowledge.Document
	found := false
	var since time.Time
	for _, d := range m {
		if d.ID != id || d.Effective.After(time.Now()) {
			continue
		}
		start := d.Effective
		if start.IsZero() {
			start = since // it took over at once
		}
		if !found || !start.Before(since) {
			best, since, found = d, start, true
		}
	}
	return best, found
}

// R105, R106, T27: whatever is indexed and withdrawn in whatever order, each reader finds the versions in force that a role may read, and nothing else.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	seeds := 60
	if testing.Short() {
		seeds = 15
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := open(t, knowledge.Options{})
		var m model
		ids, roles := []string{"a", "b", "c"}, []string{"x", "y", "z"}
		for step := range 25 {
			if r.IntN(6) == 0 {
				id := ids[r.IntN(3)]
				if err := s.Withdraw(t.Context(), "t", id); err != nil {
					t.Fatal(err)
				}
				m = slices.DeleteFunc(m, func(d knowledge.Document) bool { return d.ID == id })
			}
			var docs []knowledge.Document
			for range 1 + r.IntN(3) {
				d := knowledge.Document{
					ID: ids[r.IntN(3)], Version: fmt.Sprint(step, "-", len(docs)), Roles: slices.Clone(roles[r.IntN(3):])[:1],
					Text: fmt.Sprintf("The zebra has word%dx%d.", step, len(docs)),
				}
				if days := r.IntN(7) - 4; days < 2 {
					d.Effective = time.Date(time.Now().Year()+days, 1, 1, 0, 0, 0, 0, time.UTC)
				}
				if d.Effective.Year() == time.Now().Year() {
					d.Effective = time.Time{}
				}
				docs = append(docs, d)
			}
			if err := s.Index(t.Context(), "t", docs...); err != nil {
				t.Fatal(err)
			}
			m = append(m, docs...)
			role := roles[r.IntN(3)]
			sameAsModel(t, seed, s, m, ids, role)
		}
	}
}

func sameAsModel(t *testing.T, seed uint64, s *knowledge.Store, m model, ids []string, role string) {
	t.Helper()
	reader, err := knowledge.NewReader("t", role)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, id := range ids {
		if d, ok := m.inForce(id); ok && slices.Contains(d.Roles, role) {
			want = append(want, d.ID+" "+d.Version)
		}
	}
	var got []string
	docs, err := s.Documents(t.Context(), reader, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		got = append(got, d.ID+" "+d.Version)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("seed %d: listed %q, want %q of %+v", seed, got, want, m)
	}
	var words []string
	for _, d := range m {
		words = append(words, strings.TrimSuffix(strings.TrimPrefix(d.Text, "The zebra has "), "."))
	}
	a, err := s.Retrieve(t.Context(), reader, knowledge.Query{Text: "zebra", Also: words, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, c := range a.Chunks {
		found = append(found, c.Document+" "+c.Version)
	}
	slices.SortFunc(found, cmp.Compare[string])
	if !slices.Equal(found, append([]string{}, want...)) {
		t.Fatalf("seed %d: found %q, want %q", seed, found, want)
	}
}
