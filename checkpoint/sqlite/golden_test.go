package sqlite_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
)

var update = flag.Bool("update", false, "write the golden file of the present format anew")

// goldenNow is the clock of the golden file.
func goldenNow() time.Time { return time.Unix(1_800_000_000, 0).UTC() }

// C15: a file of each released format is read for ever. A new format gets a new file; an old one is never written again.
func TestGoldenFormats(t *testing.T) {
	t.Parallel()
	const last = 2 // the one that is written
	for n := 1; n <= last; n++ {
		golden, dump := fmt.Sprintf("testdata/format%d.db", n), fmt.Sprintf("testdata/format%d.json", n)
		write := *update && n == last
		if write {
			os.Remove(golden)
			writeGolden(t, golden)
		}
		path := filepath.Join(t.TempDir(), "copy.db")
		copyFile(t, golden, path)
		got := describe(t, openAt(t, path, sqlite.Options{Now: goldenNow}))
		if write {
			if err := os.WriteFile(dump, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(dump)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the file of format %d reads as\n%s\nwant\n%s", n, got, want)
		}
	}
}

// goldenCached is what the file has in its cache.
var goldenCached = checkpoint.CacheKey{Tenant: "tenant", Hash: [32]byte{7}}

// writeGolden fills every table.
func writeGolden(t *testing.T, path string) {
	s, err := sqlite.Open(path, sqlite.Options{Now: goldenNow})
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key, nonce := checkpoint.Key{Tenant: "tenant", Thread: "thread"}, checkpoint.Nonce{1, 2, 3, 4, 5, 6, 7, 8, 9}
	record := func(branch int32, ns checkpoint.Namespace, pos, count int64, kind checkpoint.Kind) checkpoint.Record {
		return checkpoint.Record{Branch: branch, Namespace: ns, Pos: pos, Ord: 1<<32 | count, By: nonce.Writer(), Step: pos, Kind: kind, Body: fmt.Append(nil, "body ", count)}
	}
	child := checkpoint.NamespaceOf("m", "child")
	_, err = s.Acquire(t.Context(), &checkpoint.Acquire{
		Key: key, Nonce: nonce, TTL: time.Minute, Holder: checkpoint.Holder{Host: "host", Boot: "boot", PID: 7, Start: "start"}, Owner: "owner",
		Run:     &checkpoint.Run{ID: "run", Request: "request", Graph: "graph", By: "ann", Meta: map[string]string{"kind": "refund", "ring": "1"}},
		Records: []checkpoint.Record{record(0, "", 0, 0, checkpoint.KindInput)},
	})
	check(err)
	_, err = s.Post(t.Context(), checkpoint.Command{Key: key, Kind: checkpoint.CommandInput, Request: "next", Body: []byte("input")})
	check(err)
	_, err = s.Append(t.Context(), &checkpoint.Append{
		Key: key, Nonce: nonce, Records: []checkpoint.Record{record(0, "", 1, 1, checkpoint.KindPause), record(0, child, 0, 2, checkpoint.KindEntry)},
		Park: &checkpoint.Park{Status: checkpoint.Interrupted, Error: "waits", Questions: []checkpoint.Question{
			{ID: "open", Namespace: child, Run: "run", Task: "1.0", Deadline: goldenNow().Add(time.Hour), Shown: []byte{1, 0, 2}, NotBy: "ann", Body: []byte("pay?")},
			{ID: "answered", Run: "run", Task: "1.1", Body: []byte("when?")},
		}},
	})
	check(err)
	_, err = s.Answer(t.Context(), key, []checkpoint.Reply{{Question: "answered", Value: []byte("today"), By: "bob"}})
	check(err)
	_, err = s.Append(t.Context(), &checkpoint.Append{
		Key: key, Nonce: nonce, Records: []checkpoint.Record{record(1, "", 0, 3, checkpoint.KindSeal)},
		Branch: &checkpoint.Branch{N: 1, Name: "fork", Ord: 1<<32 | 2, Reason: "replay"},
	})
	check(err)
	check(s.CachePut(t.Context(), goldenCached, []byte("cached \x00\xff"), time.Hour))
	check(s.Close())
}

// describe is all that a store tells about the golden thread.
func describe(t *testing.T, s *sqlite.Store) []byte {
	t.Helper()
	key := checkpoint.Key{Tenant: "tenant", Thread: "thread"}
	var all []any
	for _, branch := range []int32{0, 1} {
		l, err := s.Load(t.Context(), key, branch, "")
		if err != nil {
			t.Fatal(err)
		}
		chains, err := s.Chains(t.Context(), key, branch)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l, chains)
	}
	runs, err := s.Runs(t.Context(), checkpoint.RunFilter{Meta: map[string]string{"kind": "refund"}})
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, runs)
	cached, err := s.CacheGet(t.Context(), goldenCached)
	if err != nil {
		t.Fatal(err)
	}
	if cached != nil { // since format 2
		all = append(all, cached)
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}
