package redis

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	goredis "github.com/redis/go-redis/v9"
)

var _ checkpoint.Cache = (*Store)(nil)

// cacheKey is the one key of a cached body. No key of a thread begins like it, and a cluster spreads them by the whole of it.
func (s *Store) cacheKey(k *checkpoint.CacheKey) string {
	e := base64.RawURLEncoding
	return s.cacheStem(k.Tenant) + e.EncodeToString(k.Hash[:])
}

// cacheStem is what the keys of a tenant begin with.
func (s *Store) cacheStem(tenant string) string {
	return s.o.Prefix + ":cache:" + base64.RawURLEncoding.EncodeToString([]byte(tenant)) + "."
}

// CacheGet implements checkpoint.Cache.
func (s *Store) CacheGet(ctx context.Context, k checkpoint.CacheKey) ([]byte, error) {
	if err := k.Valid(); err != nil {
		return nil, err
	}
	return do(ctx, s, func(ctx context.Context) ([]byte, error) {
		body, err := s.client.Get(ctx, s.cacheKey(&k)).Bytes()
		switch {
		case errors.Is(err, goredis.Nil):
			return nil, nil
		case err != nil:
			return nil, failure(err)
		case len(body) < 2 || body[0] != format:
			return nil, fmt.Errorf("%w: a cached body of another version", checkpoint.ErrNewerFormat)
		}
		return body[1:], nil
	})
}

// CachePut implements checkpoint.Cache. The server removes what has expired.
func (s *Store) CachePut(ctx context.Context, k checkpoint.CacheKey, body []byte, ttl time.Duration) error {
	if err := k.ValidPut(body, ttl); err != nil {
		return err
	}
	if err := s.fitsBulk(len(body), "a cached body"); err != nil {
		return err
	}
	value := append(append(make([]byte, 0, 1+len(body)), format), body...)
	_, err := do(ctx, s, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, failure(s.client.Do(ctx, "SET", s.cacheKey(&k), value, "PX", ttl.Milliseconds()).Err())
	})
	return err
}

// CacheClear implements checkpoint.Cache.
func (s *Store) CacheClear(ctx context.Context, tenant string) error {
	if err := (&checkpoint.CacheKey{Tenant: tenant}).Valid(); err != nil {
		return err
	}
	_, err := do(ctx, s, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.eachMaster(ctx, func(ctx context.Context, c goredis.UniversalClient) error {
			keys := c.Scan(ctx, 0, globQuoted(s.cacheStem(tenant))+"*", 1000).Iterator()
			for keys.Next(ctx) {
				if err := c.Unlink(ctx, keys.Val()).Err(); err != nil {
					return failure(err)
				}
			}
			return failure(keys.Err())
		})
	})
	return err
}

// globQuoted is a pattern that means a text itself.
func globQuoted(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(text)
}
