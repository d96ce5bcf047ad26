package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
	"github.com/holdfast-go/holdfast/memory/knowledge/sqlite"
	"github.com/holdfast-go/holdfast/memory/longterm"
	memories "github.com/holdfast-go/holdfast/memory/longterm/sqlite"
)

func openAt(t *testing.T, path string, o knowledge.Options) *knowledge.Store {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{Knowledge: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	knowledgetest.Run(t, func(t *testing.T, o knowledge.Options) *knowledge.Store { return openAt(t, path, o) })
}

func document(text string) knowledge.Document {
	return knowledge.Document{ID: "d", Version: "1", Text: text, Roles: []string{knowledge.Everyone}}
}

func reader(t *testing.T) knowledge.Reader {
	t.Helper()
	r, err := knowledge.NewReader("tenant")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// R4, R7, R8: documents and memories have one file, and neither is touched by what is done to the other.
func TestBesideMemories(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c#d%.db")
	own, err := memories.Open(path, memories.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	sc, err := memory.NewScope("tenant", "user")
	if err != nil {
		t.Fatal(err)
	}
	agent, err := memory.NewAgent("a", memory.Internal, "n")
	if err != nil {
		t.Fatal(err)
	}
	find := func() []longterm.Hit {
		t.Helper()
		hits, err := own.Search(t.Context(), sc, agent, longterm.Query{Text: "zebra"})
		if err != nil || len(hits) != 1 {
			t.Fatalf("%+v, %v", hits, err)
		}
		return hits
	}
	if _, err := own.Add(t.Context(), sc, agent, longterm.Draft{
		Kind: longterm.Semantic, Text: "My zebra is called Emma.", Origin: longterm.FromUser, Source: longterm.Source{Conversation: "c", Message: "m"},
	}); err != nil {
		t.Fatal(err)
	}
	find()
	s := openAt(t, path, knowledge.Options{})
	if err := s.Index(t.Context(), "tenant", document("A zebra has stripes.")); err != nil {
		t.Fatal(err)
	}
	a, err := s.Retrieve(t.Context(), reader(t), knowledge.Query{Text: "What has the zebra?"})
	if err != nil || len(a.Chunks) != 1 || strings.Contains(a.Chunks[0].Text, "Emma") {
		t.Fatalf("%+v, %v", a, err)
	}
	if err := s.Erase(t.Context(), "tenant"); err != nil {
		t.Fatal(err)
	}
	find()
	if err := s.Index(t.Context(), "tenant", document("A zebra has stripes.")); err != nil {
		t.Fatal(err)
	}
	if err := own.Erase(t.Context(), sc); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Retrieve(t.Context(), reader(t), knowledge.Query{Text: "What has the zebra?"}); err != nil || len(again.Chunks) != 1 {
		t.Errorf("%+v, %v", again, err)
	}
}

// What a closed store has stored the next one finds; what was erased is not in the file any more, which is its owner's.
func TestReopenAndErase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	s := openAt(t, path, knowledge.Options{})
	if err := s.Index(t.Context(), "tenant", document("The quokkaquokka has stripes.")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = openAt(t, path, knowledge.Options{})
	if d, err := s.Document(t.Context(), reader(t), "d"); err != nil || !strings.Contains(d.Text, "quokka") {
		t.Errorf("%+v, %v", d, err)
	}
	second := document("The quokkaquokka is withdrawn.")
	second.ID = "e"
	if err := s.Index(t.Context(), "other", second); err != nil {
		t.Fatal(err)
	}
	if err := s.Withdraw(t.Context(), "other", "e"); err != nil {
		t.Fatal(err)
	}
	if err := s.Erase(t.Context(), "tenant"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, name := range []string{path, path + "-wal"} {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("quokka")) {
			t.Errorf("an erased word is in %s", filepath.Base(name))
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// A file of a newer release, and one of another program, are left as they are.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		name, script string
		want         error
	}{
		{"newer", "insert into hfk_version(n) values (1000)", knowledge.ErrNewerFormat},
		{"foreign", "create table other(a); pragma application_id = 7", knowledge.ErrCorrupt},
	} {
		path := filepath.Join(dir, c.name)
		if c.name == "newer" {
			openAt(t, path, knowledge.Options{}).Close()
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(c.script); err != nil {
			t.Fatal(err)
		}
		db.Close()
		if _, err := sqlite.Open(path, sqlite.Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(text, sqlite.Options{}); !errors.Is(err, knowledge.ErrCorrupt) {
		t.Errorf("a text: %v", err)
	}
}

// Options that make no sense, and paths that are none.
func TestOptions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	for _, o := range []sqlite.Options{{Readers: -1}, {BusyTimeout: -1}, {Knowledge: knowledge.Options{Floor: 2}}, {Knowledge: knowledge.Options{Hops: 9}}} {
		if _, err := sqlite.Open(path, o); !errors.Is(err, knowledge.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, bad := range []string{"", ":memory:", "file:x"} {
		if _, err := sqlite.Open(bad, sqlite.Options{}); err == nil {
			t.Errorf("%q was opened", bad)
		}
	}
}
