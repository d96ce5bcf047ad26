package checkpointtest

import (
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A testCase proves one rule.
type testCase struct {
	name string
	line string // of the specification
	why  string // the rule exists
	run  func(*env)
}

// Run runs every case against stores made by open, in parallel, each with a store of its own. open cleans up after itself
// with t.Cleanup. A case closes its store at most once, and open must allow closing it again.
func Run(t *testing.T, open func(t *testing.T) checkpoint.Store) {
	t.Helper()
	for _, c := range slices.Concat(recordCases, writeCases, leaseCases, deskCases, listCases, strangeCases, raceCases, cacheCases) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("rule %s: %s", c.line, c.why)
				}
			})
			c.run(&env{T: t, store: open(t), tenant: "tenant-" + random()})
		})
	}
}
