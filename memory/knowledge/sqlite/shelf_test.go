package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
	"github.com/holdfast-go/holdfast/memory/knowledge/sqlite"
)

// Sets of roles that have nothing to read any more are not searched.
func TestEmptyShelves(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	s := openAt(t, path, knowledge.Options{})
	b, err := sqlite.OpenBackend(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	knowledgetest.EmptyShelves(t, b, s)
}
