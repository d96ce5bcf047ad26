package secure_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newKey is a key for tests: its bytes are made of its id.
func newKey(id string) secure.Key {
	return secure.Key{ID: id, Bytes: bytes.Repeat([]byte(id), secure.KeyBytes)[:secure.KeyBytes]}
}

func ring(current string, older ...string) secure.Keyring {
	k := secure.Keyring{Current: newKey(current)}
	for _, id := range older {
		k.Older = append(k.Older, newKey(id))
	}
	return k
}

func adopting(k secure.Keyring) secure.Keyring {
	k.Adopt = true
	return k
}

func encrypt(t testing.TB, inner checkpoint.Store, k secure.Keyring) *secure.Encrypted {
	t.Helper()
	s, err := secure.Encrypt(inner, k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sign(t testing.TB, inner checkpoint.Store, k secure.Keyring) *secure.Signed {
	t.Helper()
	s, err := secure.Sign(inner, k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openSQLite(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A wrapping is a way to wrap a store.
type wrapping struct {
	name string
	wrap func(testing.TB, checkpoint.Store, secure.Keyring) checkpoint.Store
}

var kinds = []wrapping{
	{"encrypt", func(t testing.TB, s checkpoint.Store, k secure.Keyring) checkpoint.Store { return encrypt(t, s, k) }},
	{"sign", func(t testing.TB, s checkpoint.Store, k secure.Keyring) checkpoint.Store { return sign(t, s, k) }},
	{"both", func(t testing.TB, s checkpoint.Store, k secure.Keyring) checkpoint.Store {
		return encrypt(t, sign(t, s, k), k)
	}},
}

// C12: a wrapped store keeps every rule that a store has to keep.
func TestSuite(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name+"/memory", func(t *testing.T) {
			t.Parallel()
			checkpointtest.Run(t, func(t *testing.T) checkpoint.Store { return kind.wrap(t, new(checkpoint.Memory), ring("k1")) })
		})
		if testing.Short() && kind.name != "both" {
			continue // the other one runs over both at once
		}
		t.Run(kind.name+"/sqlite", func(t *testing.T) {
			t.Parallel()
			checkpointtest.Run(t, func(t *testing.T) checkpoint.Store {
				return kind.wrap(t, openSQLite(t, filepath.Join(t.TempDir(), "threads.db")), ring("k1"))
			})
		})
		t.Run(kind.name+"/adopting", func(t *testing.T) {
			t.Parallel()
			checkpointtest.Run(t, func(t *testing.T) checkpoint.Store {
				return kind.wrap(t, new(checkpoint.Memory), adopting(ring("k2", "k1")))
			})
		})
	}
}
