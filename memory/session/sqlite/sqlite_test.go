package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	threads "github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/session/sessiontest"
	"github.com/holdfast-go/holdfast/memory/session/sqlite"
	"github.com/holdfast-go/holdfast/message"
)

func openAt(t *testing.T, path string, o session.Options) *session.Store {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{Session: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	sessiontest.Run(t, func(t *testing.T, o session.Options) *session.Store {
		return openAt(t, filepath.Join(t.TempDir(), "app.db"), o)
	})
}

var scope = func() memory.Scope {
	s, err := memory.NewScope("tenant", "user")
	if err != nil {
		panic(err)
	}
	return s
}()

// said is a message of the user and the environment that it confirms.
func said(environment string) session.Write {
	m := message.User("use " + environment)
	return session.Write{
		Messages: []message.Message{m}, Set: []session.Change{session.Set(session.Env, environment, session.FromUser(m.ID))},
	}
}

// What a closed store has stored the next one finds. The file is its owner's.
func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c#d%.db")
	s := openAt(t, path, session.Options{})
	want, err := s.Write(t.Context(), scope, "c", said("testing"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := openAt(t, path, session.Options{}).State(t.Context(), scope, "c")
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// R18: two stores on one file, as two processes have them.
func TestTwoStoresOnOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	stores := []*session.Store{openAt(t, path, session.Options{}), openAt(t, path, session.Options{})}
	const n = 40
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := stores[i%2].Write(t.Context(), scope, "c", said("testing")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	h, err := stores[0].FactHistory(t.Context(), scope, "c", "env")
	if err != nil || len(h) != n || h[n-1].Version != n {
		t.Errorf("%d facts, %v", len(h), err)
	}
}

// Statements are kept by their text, and writes of other sizes have other texts: more of them than are kept.
func TestMoreStatementsThanAreKept(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "app.db"), session.Options{})
	total := 0
	for range 2 {
		for n := range 60 { // each has five texts of its own
			var w session.Write
			for range n + 1 {
				w.Messages = append(w.Messages, message.User("hello"))
			}
			if _, err := s.Write(t.Context(), scope, "c", w); err != nil {
				t.Fatalf("%d messages: %v", n+1, err)
			}
			total += n + 1
		}
	}
	page, err := s.Messages(t.Context(), scope, "c", session.Page{Limit: 1, After: int64(total - 1)})
	if err != nil || len(page) != 1 || page[0].Seq != int64(total) {
		t.Errorf("%v, %v", page, err)
	}
}

// One file holds threads and conversations, whichever comes first.
func TestSharedWithThreads(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"threads", "conversations"} {
		path := filepath.Join(t.TempDir(), first+".db")
		if first == "conversations" {
			openAt(t, path, session.Options{})
		}
		c, err := threads.Open(path, threads.Options{})
		if err != nil {
			t.Fatalf("%s first: %v", first, err)
		}
		s := openAt(t, path, session.Options{})
		if _, err := s.Write(t.Context(), scope, "c", said("testing")); err != nil {
			t.Errorf("%s first: %v", first, err)
		}
		if _, err := c.Threads(t.Context(), checkpoint.ThreadFilter{}); err != nil {
			t.Errorf("%s first: %v", first, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
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
	openAt(t, newer, session.Options{}).Close()
	script(t, newer, `insert into hfs_version(n) values (1000); pragma wal_checkpoint(truncate)`)
	for path, want := range map[string]error{text: session.ErrCorrupt, foreign: session.ErrCorrupt, newer: session.ErrNewerFormat} {
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
	if _, err := sqlite.Open(filepath.Join(dir, "x.db"), sqlite.Options{Readers: -1}); !errors.Is(err, session.ErrOptions) {
		t.Errorf("a negative number of readers: %v", err)
	}
	if _, err := sqlite.Open(filepath.Join(dir, "x.db"), sqlite.Options{Session: session.Options{Pins: -1}}); !errors.Is(err, session.ErrOptions) {
		t.Errorf("a negative limit: %v", err)
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

// A row that this package did not write is an error, not a state.
func TestCorruptRows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	s := openAt(t, path, session.Options{})
	if _, err := s.Write(t.Context(), scope, "c", said("testing")); err != nil {
		t.Fatal(err)
	}
	script(t, path, `update hfs_message set body = 'no json'; update hfs_fact set version = 'x'`)
	if _, err := s.Messages(t.Context(), scope, "c", session.Page{}); !errors.Is(err, session.ErrCorrupt) {
		t.Errorf("messages: %v", err)
	}
	if _, err := s.State(t.Context(), scope, "c"); !errors.Is(err, session.ErrCorrupt) {
		t.Errorf("state: %v", err)
	}
}
