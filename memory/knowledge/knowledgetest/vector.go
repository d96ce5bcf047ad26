package knowledgetest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

func (e *env) short() bool { return testing.Short() }

// A meaning is an embedder for tests: words that mean the same have the same direction.
type meaning struct {
	dims   int
	same   map[string]string
	broken atomic.Bool
	made   atomic.Int64
}

var errBroken = errors.New("the embedder is broken")

func (m *meaning) vector(text string) []float32 {
	v := make([]float32, m.dims)
	v[0] = 0.01
	for _, w := range strings.Fields(strings.ToLower(strings.Trim(text, ".?! \n"))) {
		if other, ok := m.same[w]; ok {
			w = other
		}
		h := fnv.New32a()
		h.Write([]byte(w))
		v[h.Sum32()%uint32(m.dims)]++
	}
	return v
}

func (m *meaning) EmbedDocuments(_ context.Context, texts []string) (out [][]float32, _ error) {
	if m.broken.Load() {
		return nil, errBroken
	}
	for _, t := range texts {
		out = append(out, m.vector(t))
	}
	m.made.Add(int64(len(texts)))
	return out, nil
}

func (m *meaning) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if m.broken.Load() {
		return nil, errBroken
	}
	return m.vector(text), nil
}

func newMeaning(dims int) *meaning {
	return &meaning{dims: dims, same: map[string]string{"puppy": "dog", "hound": "dog", "rests": "sleeps"}}
}

// animals are documents that words alone do not find by "puppy rests".
func animals() []knowledge.Document {
	return []knowledge.Document{doc("dog", "dog sleeps"), doc("cat", "cat climbs"), doc("fish", "fish swims")}
}

var vectorCases = []testCase{
	{"what means the same is found", "R111", "people use other words", func(e *env) {
		m := newMeaning(64)
		v := e.with(knowledge.Options{Embedder: m, Space: "a", Sure: 0.9})
		v.index(animals()...)
		e.equal("what is found", found(v.ask("puppy rests")), []string{"dog@1"})
		if a := e.ask("puppy rests"); !a.Refused {
			e.Errorf("a store without embedder found it: %s", e.json(a))
		}
		if a := v.ask("bird sings"); !a.Refused || len(a.Near) > 0 {
			e.Errorf("something was found for nothing: %s", e.json(a))
		}
		v.index(knowledge.Document{ID: "dog", Version: "2", Text: "dog barks", Roles: []string{"staff"}})
		if a := v.ask("puppy rests"); !a.Refused {
			e.Errorf("the vector of an old version is found: %s", e.json(a))
		}
		e.ok(v.store.Withdraw(e.Context(), e.tenant, "dog"))
		if a := v.ask("hound barks"); !a.Refused {
			e.Errorf("a vector is left of what was withdrawn: %s", e.json(a))
		}
		if a := v.askAs(e.reader("guests"), knowledge.Query{Text: "cat climbs"}); !a.Refused || len(a.Near) > 0 {
			e.Errorf("a guest reads %s", e.json(a))
		}
	}},
	{"an embedder can be added and changed later", "R87", "models change", func(e *env) {
		e.index(animals()...)
		a := e.with(knowledge.Options{Embedder: newMeaning(64), Space: "a", Sure: 0.9})
		for _, want := range []int{3, 0} {
			n, err := a.store.Embed(e.Context(), e.tenant)
			e.ok(err)
			e.equal("vectors made", n, want)
		}
		e.equal("what is found", found(a.ask("puppy rests")), []string{"dog@1"})
		b := e.with(knowledge.Options{Embedder: newMeaning(32), Space: "b", Sure: 0.9})
		if x := b.ask("puppy rests"); !x.Refused {
			e.Errorf("vectors of another space are found: %s", e.json(x))
		}
		n, err := b.store.Embed(e.Context(), e.tenant)
		e.ok(err)
		e.equal("vectors made", n, 3)
		e.equal("what is found", found(b.ask("puppy rests")), []string{"dog@1"})
		got, err := b.store.Document(e.Context(), e.reader("staff"), "dog")
		e.ok(err)
		e.equal("the text", got.Text, "dog sleeps")
		_, err = e.store.Embed(e.Context(), e.tenant)
		e.is(err, knowledge.ErrOptions)
	}},
	{"a broken embedder loses nothing", "R106", "an index is whole or is not there", func(e *env) {
		m := newMeaning(64)
		v := e.with(knowledge.Options{Embedder: m, Space: "a", Sure: 0.9, Logger: slog.New(slog.DiscardHandler)})
		v.index(rule("1", 30))
		m.broken.Store(true)
		before := v.all()
		e.is(v.store.Index(e.Context(), e.tenant, rule("2", 40)), knowledge.ErrEmbedder)
		e.is(v.store.Index(e.Context(), e.tenant, rule("2", 40)), errBroken)
		e.equal("all that is stored", v.all(), before)
		v.binds(30) // by words
		m.broken.Store(false)
		v.index(rule("2", 40))
		v.binds(40)
	}},
	{"only new documents are embedded", "R106", "vectors cost money", func(e *env) {
		m := newMeaning(64)
		v := e.with(knowledge.Options{Embedder: m, Space: "a"})
		var docs []knowledge.Document
		for i := range 100 {
			docs = append(docs, doc(fmt.Sprint("d", i), fmt.Sprint("text number ", i)))
		}
		v.index(docs...)
		v.index(append(docs, doc("new", "one more"))...)
		e.equal("texts embedded", m.made.Load(), 101)
	}},
}
