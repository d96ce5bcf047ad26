package postgres_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
	"github.com/holdfast-go/holdfast/memory/knowledge/postgres"
)

func BenchmarkPostgres(b *testing.B) {
	schema, url := fresh(b), testserver.Postgres(b).URL()+few
	knowledgetest.Bench(b, 10_000, func(b *testing.B, o knowledge.Options) *knowledge.Store {
		return openAt(b, url, postgres.Options{Schema: schema, Knowledge: o})
	})
}
