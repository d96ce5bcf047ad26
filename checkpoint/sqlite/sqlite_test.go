package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
)

func TestStore(t *testing.T) {
	t.Parallel()
	checkpointtest.Run(t, func(t *testing.T) checkpoint.Store { return open(t, sqlite.Options{}) })
}

// open opens a new file; the test's end closes it.
func open(t testing.TB, o sqlite.Options) *sqlite.Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "threads.db"), o)
}

func openAt(t testing.TB, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
