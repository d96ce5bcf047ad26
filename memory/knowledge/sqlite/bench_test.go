package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
	"github.com/holdfast-go/holdfast/memory/knowledge/sqlite"
)

func BenchmarkSQLite(b *testing.B) {
	path := filepath.Join(b.TempDir(), "app.db")
	knowledgetest.Bench(b, 10_000, func(b *testing.B, o knowledge.Options) *knowledge.Store {
		s, err := sqlite.Open(path, sqlite.Options{Knowledge: o})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		return s
	})
}
