package modeltest_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/holdfast-go/holdfast/graph"
)

// TestReplay runs the graph in the file named by HOLDFAST_SPEC, as a failed test has shown it.
func TestReplay(t *testing.T) {
	file := os.Getenv("HOLDFAST_SPEC")
	if file == "" {
		t.Skip("HOLDFAST_SPEC names no file")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s spec
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []graph.Durability{graph.Sync, graph.Async, graph.AtExit} {
		store := newStore()
		d, err := lockstep(&s, store, mode)
		log, lerr := readLog(store)
		if lerr != nil {
			t.Fatal(lerr)
		}
		if err != nil {
			for i := range max(len(d.m.entries), len(log.entries)) {
				t.Logf("model %s\nlog   %s", at(d.m.entries, i), at(log.entries, i))
			}
			for _, l := range log.canonical {
				t.Log(l)
			}
			t.Fatalf("%s: %v", mode, err)
		}
	}
}
