package redis_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/testserver"
	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testserver.Main{M: m}) }

// C22, report 81, report 90
func TestStore(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	checkpointtest.Run(t, func(t *testing.T) checkpoint.Store {
		return open(t, server, redis.Options{OpTimeout: time.Minute}) // the server is one thread, and other cases store 100 MB
	})
}

// C22: a node in cluster mode refuses a script whose keys have different hash tags, and transactions over several.
func TestCluster(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{Cluster: true})
	client := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{server.Addr()}})
	checkpointtest.Run(t, func(t *testing.T) checkpoint.Store {
		s, err := redis.New(t.Context(), client, redis.Options{OpTimeout: time.Minute})
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		return s
	})
	t.Cleanup(func() { must(t, client.Close()) })
}

// C22: Valkey, where its binary is found.
func TestValkey(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("valkey-server"); err != nil {
		t.Skip("no valkey-server is installed")
	}
	server := testserver.NewRedis(t, testserver.RedisConfig{Binary: "valkey-server"})
	checkpointtest.Run(t, func(t *testing.T) checkpoint.Store { return open(t, server, redis.Options{OpTimeout: time.Minute}) })
}
