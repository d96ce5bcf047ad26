package sqlite_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/longterm/sqlite"
)

func rounds() int {
	if testing.Short() {
		return 40
	}
	return 300
}

// R88: the back end does what that in memory does.
func TestBackend(t *testing.T) {
	t.Parallel()
	rowstest.Run(t, backend(t, file(t)), rounds(), true)
}

func backend(t *testing.T, path string) longterm.Backend {
	t.Helper()
	b, err := sqlite.OpenBackend(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// R80: of one user updates happen one after the other, and a job is worked on by one, whatever process they are of.
func TestTogether(t *testing.T) {
	t.Parallel()
	path := file(t)
	rowstest.Alone(t, backend(t, path), backend(t, path))
	rowstest.Claims(t, backend(t, path), backend(t, path))
}
