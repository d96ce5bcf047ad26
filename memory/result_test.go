package memory_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/memory"
)

// R58: the id depends on whose result it is and on its bytes, and not on how the parts are cut.
func TestResultID(t *testing.T) {
	t.Parallel()
	scope := func(tenant, user string) memory.Scope {
		s, err := memory.NewScope(tenant, user)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ids := map[string]string{}
	for name, id := range map[string]string{
		"one":          memory.ResultID(scope("t", "u"), "c", "call", []byte("body")),
		"tenant":       memory.ResultID(scope("x", "u"), "c", "call", []byte("body")),
		"user":         memory.ResultID(scope("t", "x"), "c", "call", []byte("body")),
		"swapped":      memory.ResultID(scope("u", "t"), "c", "call", []byte("body")),
		"conversation": memory.ResultID(scope("t", "u"), "x", "call", []byte("body")),
		"call":         memory.ResultID(scope("t", "u"), "c", "x", []byte("body")),
		"body":         memory.ResultID(scope("t", "u"), "c", "call", []byte("x")),
		"other cut":    memory.ResultID(scope("t", "u"), "cc", "all", []byte("body")),
		"no body":      memory.ResultID(scope("t", "u"), "c", "call", nil),
	} {
		if other, there := ids[id]; there {
			t.Errorf("%s and %s have one id", name, other)
		}
		ids[id] = name
	}
	if again := memory.ResultID(scope("t", "u"), "c", "call", []byte("body")); ids[again] != "one" {
		t.Error("the same result has another id")
	}
}
