package redis

import (
	"context"
	"errors"
	"fmt"
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
		return c.ForEachMaster(ctx, ask)
	case *goredis.Client:
		return ask(ctx, c)
	}
	return s.trust()
}

// trust is what is left when a server cannot be asked.
func (s *Store) trust() error {
	if !s.o.NoEviction {
		return fmt.Errorf("%w: the server does not let a client read its configuration: see that its maxmemory-policy is noeviction, and state it with Options.NoEviction", ErrConfig)
	}
	s.server.durability, s.server.window = "Redis, durability unknown", checkpoint.Forever
	return nil
}

// promise reads the configuration of one server.
func (s *Store) promise(ctx context.Context, c *goredis.Client) (got server, err error) {
	got = server{durability: "Redis always", maxBulk: defaultBulk}
	policy, err := setting(ctx, c, "maxmemory-policy")
	if errors.Is(err, errHidden) {
		err = s.trust()
		return server{s.server.durability, s.server.window, defaultBulk}, err
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
		got.durability, got.window = "Redis everysec", 2*time.Second // Redis writes at the latest after two seconds
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
