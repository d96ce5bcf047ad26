package checkpoint_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// The cache of a Memory stays below its bytes: what was not used for longest goes, and what has expired goes before. // E25
func TestMemoryCacheIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	m := &checkpoint.Memory{Now: func() time.Time { return now }, CacheBytes: 10 << 10}
	key := func(n int) checkpoint.CacheKey { return checkpoint.CacheKey{Tenant: "t", Hash: [32]byte{byte(n)}} }
	put := func(n int, ttl time.Duration) {
		t.Helper()
		if err := m.CachePut(t.Context(), key(n), []byte(strings.Repeat("x", 1000)), ttl); err != nil {
			t.Fatal(err)
		}
	}
	has := func(n int) bool {
		t.Helper()
		body, err := m.CacheGet(t.Context(), key(n))
		if err != nil {
			t.Fatal(err)
		}
		return body != nil
	}
	put(0, time.Hour)
	for n := 1; n < 100; n++ {
		put(n, time.Hour)
		if !has(0) || !has(n) {
			t.Fatalf("after %d puts what was just used is gone", n)
		}
	}
	kept := 0
	for n := range 100 {
		if has(n) {
			kept++
		}
	}
	if kept != 9 {
		t.Fatalf("%d bodies of 1,000 bytes are kept in 10 KiB", kept)
	}
	for n := 100; n < 109; n++ { // these fill it
		put(n, time.Second)
	}
	now = now.Add(time.Second)
	for n := 110; n < 119; n++ {
		put(n, time.Hour)
	}
	for n := 110; n < 119; n++ {
		if !has(n) || has(n-10) {
			t.Fatalf("body %d is gone although what had expired could go", n)
		}
	}
	err := m.CachePut(t.Context(), key(200), make([]byte, 11<<10), time.Hour)
	if !errors.Is(err, checkpoint.ErrTooLarge) || !has(118) {
		t.Fatalf("%v: a body that does not fit has put out others", err)
	}
}
