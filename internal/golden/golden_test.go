package golden_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

var update = flag.Bool("update", false, "write the golden files of the present format anew; never for a format that is released")

// present is where the files of the present format are.
const present = "testdata/format2"

// formats are the folders of all formats, oldest first.
func formats(t testing.TB) []string {
	t.Helper()
	if *update {
		want(t, os.MkdirAll(present, 0o755), nil)
	}
	dirs, err := filepath.Glob("testdata/format*")
	want(t, err, nil)
	if !slices.Contains(dirs, present) {
		t.Fatalf("%s is missing", present)
	}
	return dirs
}

// C15, E45: threads of each released format, in every state that a thread can be in, are continued by the present program on every
// store, and come to the end that is on record.
func TestGoldenThreads(t *testing.T) {
	t.Parallel()
	for _, dir := range formats(t) {
		for _, f := range forms {
			t.Run(filepath.Base(dir)+" "+f.name, func(t *testing.T) {
				t.Parallel()
				if *update && dir == present {
					write(t, f)
				}
				u := f.url(t)
				f.put(t, u, uncompressed(t, filepath.Join(dir, f.file)))
				resumeAll(t, open(t, u), endsOnRecord(t, dir))
			})
		}
	}
}

// resumeAll continues all golden threads of a store.
func resumeAll(t *testing.T, s checkpoint.Store, ends map[string]outcome) {
	t.Helper()
	for _, sc := range scenes {
		if _, ok := ends[sc.name]; !ok {
			continue // of a later format
		}
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			got := finish(t, s, graph.ID(sc.name), 1)
			if want := ends[sc.name]; string(got.State) != string(want.State) || !slices.Equal(got.Entries, want.Entries) {
				t.Errorf("got\n%s\n%q\nwant\n%s\n%q", got.State, got.Entries, want.State, want.Entries)
			}
		})
	}
}

// C15: every golden thread of the present format is one that the scenes have left, and the other way round; and those of older formats are
// scenes still.
func TestGoldenThreadsAreAll(t *testing.T) {
	t.Parallel()
	for _, dir := range formats(t) {
		for name := range endsOnRecord(t, dir) {
			if !slices.ContainsFunc(scenes, func(sc scene) bool { return sc.name == name }) {
				t.Errorf("nobody continues %s of %s", name, dir)
			}
		}
	}
	ends := endsOnRecord(t, present)
	for _, sc := range scenes {
		if _, ok := ends[sc.name]; !ok {
			t.Errorf("%s has no golden thread", sc.name)
		}
	}
	if len(ends) != len(scenes) {
		t.Errorf("%d ends of %d scenes", len(ends), len(scenes))
	}
}

func endsOnRecord(t testing.TB, dir string) (ends map[string]outcome) {
	t.Helper()
	if *update && dir == present {
		return memoryEnds(t)
	}
	data, err := os.ReadFile(filepath.Join(dir, "ends.json"))
	want(t, err, nil)
	want(t, json.Unmarshal(data, &ends), nil)
	for name, e := range ends { // it is indented there
		if e.State, err = json.Marshal(e.State); err != nil {
			t.Fatal(err)
		}
		ends[name] = e
	}
	return ends
}

// memoryEnds is what becomes of the scenes without files between.
func memoryEnds(t testing.TB) map[string]outcome {
	s := new(checkpoint.Memory)
	ends := map[string]outcome{}
	for _, sc := range scenes {
		sc.leave(t, s, graph.ID(sc.name))
		ends[sc.name] = finish(t, s, graph.ID(sc.name), 1)
	}
	return ends
}

// write makes the file of one form, and what is to become of its threads.
func write(t testing.TB, f form) {
	u := f.url(t)
	s := open(t, u)
	for _, sc := range scenes {
		sc.leave(t, s, graph.ID(sc.name))
	}
	want(t, s.Close(), nil)
	want(t, os.WriteFile(filepath.Join(present, f.file), compressed(t, f.take(t, u)), 0o644), nil)
	data, err := json.MarshalIndent(memoryEnds(t), "", "\t")
	want(t, err, nil)
	want(t, os.WriteFile(filepath.Join(present, "ends.json"), append(data, '\n'), 0o644), nil)
}
