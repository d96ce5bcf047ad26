package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/audit/audittest"
	"github.com/holdfast-go/holdfast/memory/audit/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/audit/sqlite"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	rowstest.Child(func(path string) (*audit.Log, error) { return sqlite.Open(path, sqlite.Options{}) })
	goleak.VerifyTestMain(m)
}

func openAt(t testing.TB, path string) *audit.Log {
	t.Helper()
	l, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "audit.db") }

func TestLog(t *testing.T) {
	t.Parallel()
	path := file(t)
	audittest.Run(t, func(t *testing.T) *audit.Log { return openAt(t, path) })
}

// R112: two logs on one file, as two processes have, make one chain.
func TestTogether(t *testing.T) {
	t.Parallel()
	path := file(t)
	audittest.Together(t, openAt(t, path), openAt(t, path))
}

// R112: rows that were deleted, swapped, edited, added, or written anew with hashes are found.
func TestTampering(t *testing.T) {
	t.Parallel()
	path := file(t)
	l := openAt(t, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rowstest.Tamper(t, l, rowstest.Raw{DB: db})
}

// R112: a process that is killed while it notes leaves a chain that is whole.
func TestKilled(t *testing.T) {
	t.Parallel()
	path := file(t)
	rowstest.Killed(t, path, func(t *testing.T) *audit.Log { return openAt(t, path) })
}

func TestOpen(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(other, []byte("these are the notes of another program, which are no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(other, sqlite.Options{}); !errors.Is(err, audit.ErrCorrupt) {
		t.Error(err)
	}
	path := file(t)
	if _, err := sqlite.Open(path, sqlite.Options{Audit: audit.Options{OpTimeout: -1}}); !errors.Is(err, audit.ErrOptions) {
		t.Error(err)
	}
	openAt(t, path).Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`insert into hfa_version(n) values (99)`); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(path, sqlite.Options{}); !errors.Is(err, audit.ErrNewerFormat) {
		t.Error(err)
	}
}
