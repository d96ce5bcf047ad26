package redis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	goredis "github.com/redis/go-redis/v9"
)

// A server is what the servers said when the store was opened; of several the weakest counts.
type server struct {
	durability string
	window     time.Duration
	maxBulk    int64
}

// defaultBulk is the largest string of a server that does not say.
const defaultBulk = 512 << 20

// examine asks every master what it promises.
func (s *Store) examine(ctx context.Context) error {
	s.server = server{durability: "Redis always", maxBulk: defaultBulk}
	var mu sync.Mutex
	ask := func(ctx context.Context, c *goredis.Client) error {
		got, err := s.promise(ctx, c)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if got.window > s.server.window {
			s.server.durability, s.server.window = got.durability, got.window
		}
		s.server.maxBulk = min(s.server.maxBulk, got.maxBulk)
		return nil
	}
	switch c := s.client.(type) {
	case *goredis.ClusterClient:
		if err := c.ForEachMaster(ctx, ask); err != nil {
			return err
		}
		return s.compareClocks(ctx, c)
	case *goredis.Client:
		return ask(ctx, c)
	}
	got, err := s.trust()
	s.server = got
	return err
}

// maxSkew is how far the clocks of a cluster's nodes may be apart. What a list may show is announced by the clock of one node and judged
// by that of another, within half a grace.
func (s *Store) maxSkew() time.Duration {
	return min(3*time.Second, time.Duration(s.grace()/4)*time.Millisecond)
}

// compareClocks refuses a cluster whose masters' clocks are further apart. Each clock is known to within the time that asking took.
func (s *Store) compareClocks(ctx context.Context, c *goredis.ClusterClient) error {
	var mu sync.Mutex
	var slow, fast string
	low, high := time.Duration(math.MaxInt64), time.Duration(math.MinInt64) // most that a clock is behind ours, and ahead
	err := c.ForEachMaster(ctx, func(ctx context.Context, c *goredis.Client) error {
		before := time.Now()
		now, err := c.Time(ctx).Result()
		if err != nil {
			return failure(err)
		}
		atMost, atLeast := now.Sub(before), time.Until(now)
		mu.Lock()
		defer mu.Unlock()
		if atMost < low {
			low, slow = atMost, c.Options().Addr
		}
		if atLeast > high {
			high, fast = atLeast, c.Options().Addr
		}
		return nil
	})
	if err == nil && high-low > s.maxSkew() {
		err = fmt.Errorf("%w: the clock of %s is %v ahead of that of %s; set them to within %v", ErrConfig, fast, (high - low).Round(time.Millisecond), slow, s.maxSkew())
	}
	return err
}

// trust is what is left when a server cannot be asked.
func (s *Store) trust() (server, error) {
	if !s.o.NoEviction {
		return server{}, fmt.Errorf("%w: the server does not let a client read its configuration: see that its maxmemory-policy is noeviction, and state it with Options.NoEviction", ErrConfig)
	}
	return server{"Redis, durability unknown", checkpoint.Forever, defaultBulk}, nil
}

// promise reads the configuration of one server.
func (s *Store) promise(ctx context.Context, c *goredis.Client) (got server, err error) {
	got = server{durability: "Redis always", maxBulk: defaultBulk}
	policy, err := setting(ctx, c, "maxmemory-policy")
	if errors.Is(err, errHidden) {
		return s.trust()
	}
	if err != nil {
		return got, err
	}
	if policy != "noeviction" {
		return got, fmt.Errorf("%w: maxmemory-policy is %s: the server would drop threads when its memory is full; set it to noeviction", ErrConfig, policy)
	}
	appendOnly, err := setting(ctx, c, "appendonly")
	if err != nil {
		return got, err
	}
	fsync, err := setting(ctx, c, "appendfsync")
	if err != nil {
		return got, err
	}
	switch {
	case appendOnly != "yes":
		got.durability, got.window = "Redis no AOF", checkpoint.Forever
	case fsync == "everysec":
		got.durability, got.window = "Redis everysec", 2*time.Second // while an fsync is slow Redis puts the next write off for up to two seconds (flushAppendOnlyFile)
	case fsync != "always":
		got.durability, got.window = "Redis AOF without fsync", checkpoint.Forever
	}
	if bulk, err := setting(ctx, c, "proto-max-bulk-len"); err == nil {
		if n, err := strconv.ParseInt(bulk, 10, 64); err == nil && n > 0 {
			got.maxBulk = n
		}
	}
	return got, nil
}

// errHidden says that a server does not show its configuration.
var errHidden = errors.New("redis: CONFIG is not allowed")

func setting(ctx context.Context, c *goredis.Client, name string) (string, error) {
	m, err := c.ConfigGet(ctx, name).Result()
	var reply goredis.Error
	switch {
	case err == nil && m[name] != "":
		return m[name], nil
	case err == nil:
		return "", errHidden
	case errors.As(err, &reply) && (goredis.HasErrorPrefix(err, "NOPERM") || goredis.HasErrorPrefix(err, "ERR unknown") || goredis.HasErrorPrefix(err, "ERR")):
		return "", errHidden
	}
	return "", failure(err)
}
