package knowledge_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// A made embedder does what a test says.
type made struct {
	query func(ctx context.Context) ([]float32, error)
	texts func(n int) ([][]float32, error)
}

func (m made) EmbedQuery(ctx context.Context, _ string) ([]float32, error) { return m.query(ctx) }

func (m made) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return m.texts(len(texts))
}

// each makes one vector for each text.
func each(of func(i int) []float32) func(n int) ([][]float32, error) {
	return func(n int) (out [][]float32, _ error) {
		for i := range n {
			out = append(out, of(i))
		}
		return out, nil
	}
}

func same(int) []float32 { return []float32{1, 0, 0} }

func quiet(m made) knowledge.Options {
	return knowledge.Options{Embedder: m, Space: "a", OpTimeout: time.Second, Logger: slog.New(slog.DiscardHandler)}
}

// nonsense are vectors without a direction.
var nonsense = [][]float32{nil, {}, {0, 0, 0}, {float32(math.NaN()), 0, 0}, {float32(math.Inf(1)), 0, 0}}

// R111: an embedder that hangs takes its time from a question, and no more; one that panics or makes nonsense is one that fails: words alone count.
func TestWordsCountWithoutEmbedder(t *testing.T) {
	t.Parallel()
	bad := []func(context.Context) ([]float32, error){
		func(ctx context.Context) ([]float32, error) { <-ctx.Done(); return nil, ctx.Err() },
		func(context.Context) ([]float32, error) { panic("on purpose") },
	}
	for _, v := range nonsense {
		bad = append(bad, func(context.Context) ([]float32, error) { return v, nil })
	}
	for i, query := range bad {
		s := open(t, quiet(made{query, each(same)}))
		index(t, s, "ship", "Shipping takes 3 days.")
		if a := answer(t, s, knowledge.Query{Text: "How long does shipping take?"}); a.Refused || a.Chunks[0].Document != "ship" {
			t.Errorf("embedder %d: %+v", i, a)
		}
	}
}

// R106: vectors that are none, or not of one length, are refused as a whole: a chunk that is never found by meaning would not be missed.
func TestNonsenseIsNotIndexed(t *testing.T) {
	t.Parallel()
	bad := []func(n int) ([][]float32, error){
		each(func(i int) []float32 { return make([]float32, i+1) }),
		each(func(i int) []float32 { return []float32{1, 2, 3}[:i+1] }),
		func(n int) ([][]float32, error) { return make([][]float32, n-1), nil },
		func(int) ([][]float32, error) { panic("on purpose") },
	}
	for _, v := range nonsense {
		bad = append(bad, each(func(i int) []float32 { return [][]float32{{1, 0, 0}, v}[i] }))
	}
	doc := knowledge.Document{ID: "ship", Version: "1", Text: "# A\n\nShipping takes 3 days.\n\n# B\n\nIt is free.", Roles: []string{knowledge.Everyone}}
	for i, texts := range bad {
		back := knowledge.MemoryBackend()
		s := shared(back)(t, quiet(made{func(context.Context) ([]float32, error) { return same(0), nil }, texts}))
		if err := s.Index(t.Context(), "t", doc); !errors.Is(err, knowledge.ErrEmbedder) {
			t.Errorf("embedder %d: index: %v", i, err)
		}
		if a := answer(t, s, knowledge.Query{Text: "How long does shipping take?"}); !a.Refused {
			t.Errorf("embedder %d: %+v", i, a)
		}
		if err := shared(back)(t, knowledge.Options{}).Index(t.Context(), "t", doc); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Embed(t.Context(), "t"); n != 0 || !errors.Is(err, knowledge.ErrEmbedder) {
			t.Errorf("embedder %d: embed: %d, %v", i, n, err)
		}
	}
}

func index(t *testing.T, s *knowledge.Store, id, text string) {
	t.Helper()
	if err := s.Index(t.Context(), "t", knowledge.Document{ID: id, Version: "1", Text: text, Roles: []string{knowledge.Everyone}}); err != nil {
		t.Fatal(err)
	}
}

func answer(t *testing.T, s *knowledge.Store, q knowledge.Query) knowledge.Answer {
	t.Helper()
	r, err := knowledge.NewReader("t")
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Retrieve(t.Context(), r, q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// R87: two processes with different embedders that both embed come to an end, and count what they stored.
func TestEmbedEnds(t *testing.T) {
	t.Parallel()
	back := knowledge.MemoryBackend()
	words := shared(back)(t, knowledge.Options{})
	for _, id := range []string{"a", "b", "c"} {
		index(t, words, id, "A zebra.")
	}
	o := quiet(made{func(context.Context) ([]float32, error) { return same(0), nil }, each(same)})
	o.Space = "b"
	other, calls := shared(back)(t, o), 0
	own := shared(back)(t, quiet(made{func(context.Context) ([]float32, error) { return same(0), nil }, func(n int) ([][]float32, error) {
		if calls++; calls > 10 {
			return nil, errors.New("it goes on for ever")
		}
		if _, err := other.Embed(t.Context(), "t"); err != nil {
			return nil, err
		}
		return each(same)(n)
	}}))
	if n, err := own.Embed(t.Context(), "t"); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	gone := shared(back)(t, quiet(made{func(context.Context) ([]float32, error) { return same(0), nil }, func(n int) ([][]float32, error) {
		if err := words.Withdraw(t.Context(), "t", "a", "b", "c"); err != nil {
			return nil, err
		}
		return each(same)(n)
	}}))
	if n, err := gone.Embed(t.Context(), "t"); n != 0 || err != nil {
		t.Errorf("of what is gone: %d, %v", n, err)
	}
}
