package sqlite_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/longterm/longtermtest"
	"github.com/holdfast-go/holdfast/memory/longterm/sqlite"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	rowstest.Child(func(path string) (longterm.Backend, error) { return sqlite.OpenBackend(path, sqlite.Options{}) })
	goleak.VerifyTestMain(m)
}

func worker(path string) func(*testing.T) *longterm.Store {
	return func(t *testing.T) *longterm.Store { return openAt(t, path, longtermtest.WorkOptions()) }
}

// R80, report 132: a process that is killed at any point of the way from an exchange to its facts loses and doubles none.
func TestKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	path := file(t)
	rowstest.Points(t, path, points(), worker(path))
}

// R80: two processes on one user, killed in the middle of writing.
func TestKilledPairs(t *testing.T) {
	t.Parallel()
	path := file(t)
	rowstest.Pairs(t, path, worker(path))
}

func points() int {
	if testing.Short() {
		return 20
	}
	return 40
}
