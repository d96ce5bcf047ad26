package nodes_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/nodes"
)

// R2: the prompt of a call is made for it and kept nowhere. Its instructions are in no file of the thread; what was said is.
func TestPromptsAreNotKept(t *testing.T) {
	t.Parallel()
	const instruction = "Answer like a lighthouse keeper."
	folder := t.TempDir()
	store, err := sqlite.Open(filepath.Join(folder, "threads.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "keeper", System: []string{instruction}}}}, tells("Ahoy."))
	b.store = store
	b.compile()
	b.hears("Good evening, keeper.")
	if !strings.Contains(told(b.script.requests[0]), instruction) {
		t.Fatal("the instruction was not in the prompt")
	}
	if err := b.app.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	said := false
	for _, e := range entries {
		doc, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		said = said || bytes.Contains(doc, []byte("Good evening, keeper."))
		if bytes.Contains(doc, []byte("lighthouse")) {
			t.Errorf("the prompt is in %s", e.Name())
		}
	}
	if !said {
		t.Error("what the user said is in no file")
	}
}
