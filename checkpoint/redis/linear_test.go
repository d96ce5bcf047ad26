package redis_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint/internal/linear"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

func TestStoreIsLinearizable(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed-", seed), func(t *testing.T) {
			t.Parallel()
			// The tenant of a seed is always the same: a prefix of its own keeps what an earlier run left apart.
			linear.Check(t, open(t, server, redis.Options{Prefix: prefix()}), seed, 2000)
		})
	}
}
