package longterm_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/longtermtest"
)

func open(t *testing.T, o longterm.Options) *longterm.Store {
	t.Helper()
	s, err := longterm.NewMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestMemory(t *testing.T) {
	t.Parallel()
	longtermtest.Run(t, open)
}

// R80: a process that dies, or a store that says no and did it, at each point of the way from an exchange to its facts loses
// and doubles nothing.
func TestFaults(t *testing.T) {
	t.Parallel()
	longtermtest.Faults(t, func(*testing.T) longterm.Backend { return longterm.MemoryBackend() })
}
