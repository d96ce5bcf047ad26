package postgres_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
	"github.com/holdfast-go/holdfast/memory/knowledge/postgres"
)

// Sets of roles that have nothing to read any more are not searched.
func TestEmptyShelves(t *testing.T) {
	t.Parallel()
	url, schema := testserver.Postgres(t).URL()+few, fresh(t)
	s := openAt(t, url, postgres.Options{Schema: schema})
	b, err := postgres.OpenBackend(t.Context(), url, schema)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	knowledgetest.EmptyShelves(t, b, s)
}
