package alloctest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/internal/alloctest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestValues(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]int{
		``: 0, `[1`: 0, `1`: 1, `"a,[{:\","`: 1, `[]`: 2, `[1,2]`: 3, `{"a":[{}],"b":"\\"}`: 7,
	} {
		if got := alloctest.Values([]byte(doc)); got != want {
			t.Errorf("%s: %d values, want %d", doc, got, want)
		}
	}
}

// A decoder that believes a length is found out.
func TestBound(t *testing.T) { // not parallel: it reads the counters of the process
	fails := func(n int, doc string) bool {
		probe := &fatal{TB: t}
		func() {
			defer func() { recover() }()
			alloctest.Bound(probe, 100, func() { sink = make([]byte, n) }, []byte(doc))
		}()
		return probe.failed
	}
	if fails(60<<10, "9") || fails(2*alloctest.Free, "[9"+repeated(1000)+"]") {
		t.Error("an honest decoder was refused")
	}
	if !fails(1<<20, "1048576") || !fails(8*alloctest.Free, "[9"+repeated(1000)) {
		t.Error("a decoder that believed a length was not seen")
	}
}

var sink []byte

func repeated(n int) string {
	b := make([]byte, 0, 2*n)
	for range n {
		b = append(b, ",9"...)
	}
	return string(b)
}

// fatal notes that a test would have ended.
type fatal struct {
	testing.TB
	failed bool
}

func (f *fatal) Helper() {}
func (f *fatal) Fatalf(string, ...any) {
	f.failed = true
	panic("ended")
}
