package longtermtest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/memory/longterm"
)

var vectorCases = []testCase{
	{name: "vectors", line: "R86, R87", why: "a vague idea shares no word with what was said", run: vectors},
	{name: "an embedder that fails", line: "R87, R100", why: "words are always there", run: noVectors},
}

// A senses is an embedder that knows of a few words what they mean, until it is down.
type senses struct {
	down atomic.Bool
	docs atomic.Int64 // that it made vectors of
}

var errDown = errors.New("the embedder is down")

var meanings = [][]string{{"dog", "puppy", "animal"}, {"car", "vehicle", "wheel"}, {"rain", "weather", "umbrella"}}

func (s *senses) vector(text string) []float32 {
	v := []float32{0, 0, 0, 0.1}
	for i, words := range meanings {
		for _, w := range words {
			if strings.Contains(text, w) {
				v[i]++
			}
		}
	}
	return v
}

func (s *senses) EmbedDocuments(ctx context.Context, texts []string) (out [][]float32, err error) {
	if s.down.Load() {
		return nil, errDown
	}
	s.docs.Add(int64(len(texts)))
	for _, t := range texts {
		out = append(out, s.vector(t))
	}
	return out, ctx.Err()
}

func (s *senses) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if s.down.Load() {
		return nil, errDown
	}
	return s.vector(text), ctx.Err()
}

func (e *env) withSenses() *senses {
	e.Helper()
	s := &senses{}
	e.store = e.open(e.T, longterm.Options{Embedder: s, Space: "senses-1", Backoff: 1, Extractor: extractor(noted)})
	return s
}

func vectors(e *env) {
	s := e.withSenses()
	dog := e.one(about("pet", "she has a dog", "m1", 1), longterm.Stored)
	e.add(fact("his car is red", "m2", 2), fact("it will rain", "m3", 3))
	hits := e.search(longterm.Query{Text: "which puppy?"})
	if len(hits) != 1 || hits[0].ID != dog || hits[0].Why.Vector != 1 || hits[0].Why.Lexical != 0 || hits[0].Why.Cosine < 0.9 {
		e.Fatalf("%s", e.json(hits))
	}
	e.finds("what is the price of eggs") // nearest of nothing is nothing
	cat := e.one(about("pet", "she has a wheel", "m4", 4), longterm.Replaced)
	e.finds("which puppy?")
	_, err := e.store.RollBack(e.Context(), e.scope, e.agent, cat)
	e.ok(err)
	_, err = e.store.Drain(e.Context()) // the vector of what holds again
	e.ok(err)
	e.finds("which puppy?", "she has a dog")
	e.remember(exchange("m5", "note take the umbrella"))
	e.drain(all(longterm.Done))
	e.finds("weather", "it will rain", "take the umbrella")
	e.ok(e.store.Forget(e.Context(), e.scope, e.agent, dog))
	e.finds("which puppy?")
	made := s.docs.Load()
	n, err := e.store.Embed(e.Context(), e.scope)
	e.ok(err)
	if n != 0 || s.docs.Load() != made {
		e.Fatalf("%d vectors were missing", n)
	}
}

func noVectors(e *env) {
	s := e.withSenses()
	s.down.Store(true)
	e.one(fact("she has a dog", "m1", 1), longterm.Stored)
	e.finds("dog", "she has a dog") // by words
	e.finds("which puppy?")
	e.drain(func(jobs []longterm.Job) bool {
		return len(jobs) == 1 && jobs[0].State == longterm.Parked && jobs[0].Fault != ""
	})
	s.down.Store(false)
	e.finds("which puppy?")
	e.ok(e.store.Retry(e.Context(), e.scope, e.agent, e.jobs()[0].ID))
	e.drain(all(longterm.Done))
	e.finds("which puppy?", "she has a dog")

	s.down.Store(true)
	e.one(fact("his car is red", "m2", 2), longterm.Stored)
	s.down.Store(false)
	n, err := e.store.Embed(e.Context(), e.scope)
	e.ok(err)
	e.equal("vectors that were missing", n, 1)
	e.finds("which vehicle?", "his car is red")
}
