package state_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func schema[S any](tb testing.TB) *state.Schema[S] {
	tb.Helper()
	sc, err := state.Of[S]()
	if err != nil {
		tb.Fatal(err)
	}
	return sc
}
