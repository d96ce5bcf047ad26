package secure_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
)

// A cached body is sealed like any other: whoever edits it, moves it to another place or tenant, or puts a plain one there is
// seen, and its content stands nowhere if it is encrypted. // C12 // E25
func TestCacheIsSealed(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		path := filepath.Join(t.TempDir(), kind.name+".db")
		inner := openSQLite(t, path)
		s, f := kind.wrap(t, inner, ring("k1")).(checkpoint.Cache), openForger(t, path)
		mine, theirs := checkpoint.CacheKey{Tenant: "a", Hash: [32]byte{1}}, checkpoint.CacheKey{Tenant: "b", Hash: [32]byte{1}}
		next := checkpoint.CacheKey{Tenant: "a", Hash: [32]byte{2}}
		for _, k := range []checkpoint.CacheKey{mine, next, theirs} {
			if err := s.CachePut(t.Context(), k, []byte("canary of "+k.Tenant), time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		n, err := f.exec(`update hf_cache set body = body where instr(body, cast('canary' as blob)) > 0`)
		if err != nil || (n == 0) != (kind.name != "sign") {
			t.Fatalf("%s: %d bodies are readable, %v", kind.name, n, err)
		}
		for _, forged := range []struct {
			text string
			why  error
		}{
			{`update hf_cache set body = (select body from hf_cache where tenant = 'a' and hash = ?2) where tenant = 'a' and hash = ?1`, secure.ErrTampered},
			{`update hf_cache set body = (select body from hf_cache where tenant = 'b') where tenant = 'a' and hash = ?1 and ?2 <> ''`, secure.ErrTampered},
			{`update hf_cache set body = substr(body, 1, length(body) - 1) where tenant = 'a' and hash = ?1 and ?2 <> ''`, secure.ErrTampered},
			{`update hf_cache set body = cast('plain' as blob) where tenant = 'a' and hash = ?1 and ?2 <> ''`, secure.ErrPlain},
		} {
			if err := s.CachePut(t.Context(), mine, []byte("canary of a"), time.Hour); err != nil {
				t.Fatal(err)
			}
			if got, err := s.CacheGet(t.Context(), mine); err != nil || string(got) != "canary of a" {
				t.Fatalf("%s: %q, %v", kind.name, got, err)
			}
			if n, err := f.exec(forged.text, mine.Hash[:], next.Hash[:]); err != nil || n != 1 {
				t.Fatalf("%s: %d rows, %v", forged.text, n, err)
			}
			_, err := s.CacheGet(t.Context(), mine)
			if _, ok := errors.AsType[*secure.RowError](err); !ok || !errors.Is(err, forged.why) {
				t.Errorf("%s: %s: error %v, want %v", kind.name, forged.text, err, forged.why)
			}
		}
	}
}

// Over a store that keeps no cache there is none. // E25
func TestNoCacheBelow(t *testing.T) {
	t.Parallel()
	s := encrypt(t, struct{ checkpoint.Store }{new(checkpoint.Memory)}, ring("k1"))
	k := checkpoint.CacheKey{Tenant: "a"}
	if _, err := s.CacheGet(t.Context(), k); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("get: %v", err)
	}
	if err := s.CachePut(t.Context(), k, []byte("x"), time.Hour); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("put: %v", err)
	}
}
