package postgres_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/longterm/postgres"
)

func rounds() int {
	if testing.Short() {
		return 40
	}
	return 300
}

// A nothing is an embedder for tests that bring their vectors.
type nothing struct{}

func (nothing) EmbedDocuments(context.Context, []string) ([][]float32, error) { return nil, nil }
func (nothing) EmbedQuery(context.Context, string) ([]float32, error)         { return nil, nil }

var embeds = longterm.Options{Embedder: nothing{}, Space: "space"}

// R88: the back end does what that in memory does, with and without pgvector, by index and by looking at each vector, and through PgBouncer.
func TestBackend(t *testing.T) {
	t.Parallel()
	pooled := func(t *testing.T, o postgres.Options) (string, postgres.Options) {
		o.Pooler = true
		return testserver.PgBouncer(t, testserver.Vector(t), "postgres", 4), o
	}
	direct := func(t *testing.T, o postgres.Options) (string, postgres.Options) {
		return testserver.Vector(t).URL(), o
	}
	for name, c := range map[string]struct {
		at func(*testing.T, postgres.Options) (string, postgres.Options)
		o  postgres.Options
	}{
		"words":            {direct, postgres.Options{}},
		"exact":            {direct, postgres.Options{Longterm: embeds}},
		"index":            {direct, postgres.Options{Longterm: embeds, Exact: -1}},
		"pooler":           {pooled, postgres.Options{Longterm: embeds}},
		"pooler and index": {pooled, postgres.Options{Longterm: embeds, Exact: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, o := c.at(t, c.o)
			o.Schema = fresh(t)
			rowstest.Run(t, backend(t, url+few, o), rounds(), o.Longterm.Embedder != nil)
		})
	}
}

func backend(t testing.TB, url string, o postgres.Options) longterm.Backend {
	t.Helper()
	b, err := postgres.OpenBackend(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// R80: of one user updates happen one after the other, and a job is worked on by one, whatever process they are of.
func TestTogether(t *testing.T) {
	t.Parallel()
	url, o := testserver.Postgres(t).URL()+few, postgres.Options{Schema: fresh(t)}
	rowstest.Alone(t, backend(t, url, o), backend(t, url, o))
	rowstest.Claims(t, backend(t, url, o), backend(t, url, o))
}
