package knowledge_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
)

func open(t *testing.T, o knowledge.Options) *knowledge.Store {
	t.Helper()
	s, err := knowledge.NewMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// shared opens stores over one back end, as those of a database are.
func shared(back knowledge.Backend) func(t *testing.T, o knowledge.Options) *knowledge.Store {
	return func(t *testing.T, o knowledge.Options) *knowledge.Store {
		t.Helper()
		s, err := knowledge.New(back, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	knowledgetest.Run(t, shared(knowledge.MemoryBackend()))
}
