package modeltest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// TestReplay runs the graphs that have found a mistake before, and the one in the file named by HOLDFAST_SPEC: a failed
// test shows its graph as the content of such a file.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no graphs:", err)
	}
	if f := os.Getenv("HOLDFAST_SPEC"); f != "" {
		files = []string{f}
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var s spec
			if err := json.Unmarshal(b, &s); err != nil {
				t.Fatal(err)
			}
			replay(t, &s)
		})
	}
}

func replay(t *testing.T, s *spec) {
	for _, mode := range []graph.Durability{graph.Sync, graph.Async, graph.AtExit} {
		store := newStore()
		d, err := lockstep(s, store, mode)
		if err != nil {
			show(t, d, store)
			t.Fatalf("%s: %v", mode, err)
		}
	}
}

// show logs what the model and the engine have committed.
func show(t *testing.T, d *driver, store checkpoint.Store) {
	log, err := readLog(store)
	if err != nil {
		t.Log(err)
		return
	}
	for i := range max(len(d.m.entries), len(log.entries)) {
		t.Logf("model %s\nlog   %s", at(d.m.entries, i), at(log.entries, i))
	}
	for _, l := range log.canonical {
		t.Log(l)
	}
}
