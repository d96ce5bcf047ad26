package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
)

// What has expired leaves the file: each put removes a hundred of it, by the store's clock. // E25
func TestCacheIsSwept(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	path := filepath.Join(t.TempDir(), "a.db")
	s := openAt(t, path, sqlite.Options{Now: func() time.Time { return now }, Synchronous: sqlite.Normal})
	put := func(n int, ttl time.Duration) {
		t.Helper()
		if err := s.CachePut(t.Context(), checkpoint.CacheKey{Tenant: "t", Hash: [32]byte{byte(n), byte(n >> 8)}}, []byte("body"), ttl); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 150 {
		put(n, time.Second)
	}
	count := func() (n int) {
		t.Helper()
		if err := raw(t, path).QueryRow(`select count(*) from hf_cache`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 150 {
		t.Fatalf("%d rows", n)
	}
	now = now.Add(time.Second)
	put(1000, time.Hour)
	if n := count(); n != 51 {
		t.Fatalf("%d rows after the first put, want 51", n)
	}
	put(1001, time.Hour)
	if n := count(); n != 2 {
		t.Fatalf("%d rows after the second put, want 2", n)
	}
}
