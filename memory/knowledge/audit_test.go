package knowledge_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited/auditedtest"
	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// flat embeds all texts alike.
type flat struct{}

func (flat) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return slices.Repeat([][]float32{{1}}, len(texts)), nil
}

func (flat) EmbedQuery(context.Context, string) ([]float32, error) { return []float32{1}, nil }

func auditedStore(t *testing.T) (*knowledge.Store, *auditedtest.Recorder, knowledge.Reader) {
	t.Helper()
	r := &auditedtest.Recorder{}
	s, err := knowledge.NewMemory(knowledge.Options{Auditor: r, Embedder: flat{}, Space: "flat"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	reader, err := knowledge.NewReader("t")
	if err != nil {
		t.Fatal(err)
	}
	return s, r, reader
}

// R112: every exported method that reads or writes is noted, and refused where it cannot be.
func TestEveryMethodIsAudited(t *testing.T) {
	t.Parallel()
	s, r, reader := auditedStore(t)
	auditedtest.Every(t, r, s, []any{t.Context(), reader, "t"}, nil, map[string]string{
		"Close":   "ends the store",
		"Compact": "is of no tenant, and reads and writes no row",
	})
}

// R112: on whose behalf, and which documents.
func TestReadsAreAudited(t *testing.T) {
	t.Parallel()
	s, r, reader := auditedStore(t)
	ctx := memory.As(t.Context(), "support")
	doc := knowledge.Document{ID: "handbook", Version: "1", Text: "Refunds take three days.", Roles: []string{knowledge.Everyone}}
	if err := s.Index(ctx, "t", doc); err != nil {
		t.Fatal(err)
	}
	r.Take()
	answer, err := s.Retrieve(ctx, reader, knowledge.Query{Text: "How long do refunds take?"})
	if err != nil || len(answer.Chunks) == 0 {
		t.Fatal(answer, err)
	}
	got := r.Take()
	if len(got) != 1 || got[0].Agent != "support" || got[0].User != "" || !slices.Equal(got[0].Items, []string{"handbook"}) {
		t.Errorf("%+v", got)
	}
	r.Refuse(1)
	answer, err = s.Retrieve(ctx, reader, knowledge.Query{Text: "How long do refunds take?"})
	if !errors.Is(err, memory.ErrAudit) || answer.Chunks != nil {
		t.Errorf("%v, %v: what was not noted was returned", answer, err)
	}
}
