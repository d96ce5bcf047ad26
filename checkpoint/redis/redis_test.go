package redis_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testserver.Main{M: m}) }

// C22
func TestStore(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	checkpointtest.Run(t, func(t *testing.T) checkpoint.Store { return open(t, server, redis.Options{OpTimeout: time.Minute}) })
}

// open opens a store on a server; the test's end closes it.
func open(t testing.TB, server *testserver.Redis, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(t.Context(), server.URL(), o)
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

// prefix is one that no other store uses.
func prefix() string {
	n := checkpoint.NewNonce()
	return "hf-" + hex.EncodeToString(n[:6])
}
