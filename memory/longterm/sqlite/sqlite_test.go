package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	threads "github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/longterm/longtermtest"
	"github.com/holdfast-go/holdfast/memory/longterm/sqlite"
	"github.com/holdfast-go/holdfast/memory/session"
	sessions "github.com/holdfast-go/holdfast/memory/session/sqlite"
)

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "app.db") }

func openAt(t *testing.T, path string, o longterm.Options) *longterm.Store {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{Longterm: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	longtermtest.Run(t, func(t *testing.T, o longterm.Options) *longterm.Store { return openAt(t, file(t), o) })
}

// R80: faults at each point of the way from an exchange to its facts.
func TestFaults(t *testing.T) {
	t.Parallel()
	longtermtest.Faults(t, func(t *testing.T) longterm.Backend { return backend(t, file(t)) })
}

// said is a fact that the user told.
func said(text string) longterm.Draft {
	return longterm.Draft{
		Namespace: "bench", Kind: longterm.Semantic, Text: text, Origin: longterm.FromUser,
		Source: longterm.Source{Conversation: "c", Message: "m", At: time.Now()},
	}
}

// R71: what a closed store has stored the next one finds. The file is its owner's.
func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c#d%.db")
	sc, a := rowstest.Owner("u")
	s := openAt(t, path, longterm.Options{})
	if _, err := s.Add(t.Context(), sc, a, said("the warehouse in Lyon closes at six")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	hits, err := openAt(t, path, longterm.Options{}).Search(t.Context(), sc, a, longterm.Query{Text: "when does the Lyon warehouse close?"})
	if err != nil || len(hits) != 1 {
		t.Errorf("%+v, %v", hits, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// R70: two stores on one file, as two processes have them, say the same at once: it is stored once.
func TestTwoStoresOnOneFile(t *testing.T) {
	t.Parallel()
	path := file(t)
	sc, a := rowstest.Owner("u")
	stores := []*longterm.Store{openAt(t, path, longterm.Options{}), openAt(t, path, longterm.Options{})}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := stores[i%2].Add(t.Context(), sc, a, said(fmt.Sprintf("order %d is paid", 7000+i/4))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	items, err := stores[0].List(t.Context(), sc, a, longterm.Page{})
	if err != nil || len(items) != 5 {
		t.Errorf("%d items, %v", len(items), err)
	}
}

// One file holds threads, conversations and memories, whichever comes first.
func TestShared(t *testing.T) {
	t.Parallel()
	path := file(t)
	c, err := threads.Open(path, threads.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	openAt(t, path, longterm.Options{})
	s, err := sessions.Open(path, sessions.Options{Session: session.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	openAt(t, path, longterm.Options{})
}

// A file that is not ours is refused and left as it is.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.db")
	script(t, foreign, `create table theirs(x); insert into theirs values (1)`)
	newer := filepath.Join(dir, "newer.db")
	openAt(t, newer, longterm.Options{}).Close()
	script(t, newer, `insert into hfl_version(n) values (1000); pragma wal_checkpoint(truncate)`)
	for path, want := range map[string]error{text: longterm.ErrCorrupt, foreign: longterm.ErrCorrupt, newer: longterm.ErrNewerFormat} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := sqlite.Open(path, sqlite.Options{}); !errors.Is(err, want) {
			t.Errorf("%s: %v, %v; want %v", filepath.Base(path), s, err, want)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s was changed", filepath.Base(path))
		}
	}
	for _, path := range []string{"", ":memory:", "file:x", filepath.Join(dir, "none", "x.db")} {
		if _, err := sqlite.Open(path, sqlite.Options{}); err == nil {
			t.Errorf("%q was opened", path)
		}
	}
	for _, o := range []sqlite.Options{{Readers: -1}, {BusyTimeout: -1}, {Longterm: longterm.Options{Attempts: -1}}} {
		if _, err := sqlite.Open(filepath.Join(dir, "x.db"), o); !errors.Is(err, longterm.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func script(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), text); err != nil {
		t.Fatal(err)
	}
}

// A row that this package did not write is an error, not an answer.
func TestCorruptRows(t *testing.T) {
	t.Parallel()
	path := file(t)
	sc, a := rowstest.Owner("u")
	s := openAt(t, path, longterm.Options{})
	if _, err := s.Add(t.Context(), sc, a, said("the warehouse in Lyon closes at six")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`update hfl_item set body = 'no json'`, `update hfl_item set since = 'x'`, `update hfl_index set data = x'ff'`} {
		script(t, path, text)
		if _, err := s.Search(t.Context(), sc, a, longterm.Query{Text: "Lyon warehouse"}); !errors.Is(err, longterm.ErrCorrupt) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// R113: what was forgotten or erased is in no file, neither its text, nor its words, nor its vector; others keep theirs. The store is open
// still, and others have written between.
func TestForgottenIsNowhere(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := openAt(t, path, longterm.Options{})
	bob, a := rowstest.Owner("bob")
	eve, _ := rowstest.Owner("eve")
	var ids []string
	for i := range 300 {
		for user, sc := range map[string]string{"bob": "kanarienvogel", "eve": "zaunkoenig"} {
			scope, _ := rowstest.Owner(user)
			out, err := s.Add(t.Context(), scope, a, said(fmt.Sprintf("%sx%d lives at %sy%d with 金丝雀 %s", sc, i, sc, i, strings.Repeat(sc+" ", i%7))))
			if err != nil {
				t.Fatal(err)
			}
			if user == "bob" && i%2 == 0 {
				ids = append(ids, out[0].ID)
			}
		}
	}
	if err := s.Forget(t.Context(), bob, a, ids...); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		want := i%2 == 1
		if got := inFiles(t, path, fmt.Sprintf("kanarienvogelx%d ", i)) || inFiles(t, path, fmt.Sprintf("kanarienvogely%d ", i)); got != want {
			t.Fatalf("canary %d: in the files %v, want %v", i, got, want)
		}
	}
	if err := s.Erase(t.Context(), bob); err != nil {
		t.Fatal(err)
	}
	if inFiles(t, path, "kanarien") || inFiles(t, path, "bob") {
		t.Error("what was erased is in the files")
	}
	if items, err := s.List(t.Context(), eve, a, longterm.Page{Limit: 1000}); err != nil || len(items) != 300 {
		t.Errorf("%d items of another user, %v", len(items), err)
	}
}

// R113: who reads what is erased is waited for; if they stay Erase says so, and the next one leaves nothing.
func TestEraseWaitsForReaders(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := openAt(t, path, longterm.Options{})
	bob, a := rowstest.Owner("bob")
	if _, err := s.Add(t.Context(), bob, a, said("the kanarienvogel lives in Lyon")); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := tx.QueryRow(`select count(*) from hfl_item`).Scan(new(int)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := s.Erase(ctx, bob); !errors.Is(err, longterm.ErrUnavailable) {
		t.Errorf("while somebody reads: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := s.Erase(t.Context(), bob); err != nil {
		t.Error(err)
	}
	if inFiles(t, path, "kanarien") {
		t.Error("what was erased is in the files")
	}
}

// inFiles reports whether a text is in the database or a file beside it.
func inFiles(t *testing.T, path, text string) bool {
	t.Helper()
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		all, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(all, []byte(text)) {
			return true
		}
	}
	return false
}
