package knowledge_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
)

func BenchmarkMemory(b *testing.B) {
	knowledgetest.Bench(b, 10_000, func(b *testing.B, o knowledge.Options) *knowledge.Store {
		s, err := knowledge.NewMemory(o)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		return s
	})
}
