// Package testserver starts real servers as children of a test binary, and a proxy that breaks connections to them.
//
// A server that the environment names (HOLDFAST_POSTGRES_URL, HOLDFAST_REDIS_URL) is used instead of an own one. Where there
// is neither a name nor a binary the test is skipped; with HOLDFAST_REQUIRE set it fails. Both say what to install.
//
// A test binary that uses a shared server ends its TestMain with
//
//	goleak.VerifyTestMain(testserver.Main{M: m})
package testserver

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Main runs tests and then stops the servers that they share. It goes where a *testing.M does.
type Main struct{ M *testing.M }

// Run returns the exit code of the tests, or 1 if a server could not be stopped.
func (m Main) Run() int {
	code := m.M.Run()
	atEnd.Lock()
	defer atEnd.Unlock()
	for _, f := range atEnd.f {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, "testserver:", err)
			code = max(code, 1)
		}
	}
	atEnd.f = nil
	return code
}

var atEnd struct {
	sync.Mutex
	f []func() error
}

// stopAtEnd has Main call f.
func stopAtEnd(f func() error) {
	atEnd.Lock()
	defer atEnd.Unlock()
	atEnd.f = append(atEnd.f, f)
}

// Lacking skips a test that needs something that is not there, or fails it when HOLDFAST_REQUIRE is set.
func Lacking(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv("HOLDFAST_REQUIRE") != "" {
		tb.Fatal(what)
	}
	tb.Skip(what)
}
