package secure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// cacheRow binds a cached body to its tenant and its place. No thread has an empty name, so the keys are no thread's.
func cacheRow(k *checkpoint.CacheKey) row {
	key := checkpoint.Key{Tenant: k.Tenant}
	return row{key: key, place: append(newPlace("cache", key, len(k.Hash)), k.Hash[:]...), what: "cached ", id: fmt.Sprintf("%x", k.Hash[:8])}
}

// cache is the store below, if it is one.
func (s *store) cache() (checkpoint.Cache, error) {
	if c, ok := s.inner.(checkpoint.Cache); ok {
		return c, nil
	}
	return nil, fmt.Errorf("secure: the store below keeps no cache: %w", errors.ErrUnsupported)
}

// CacheGet implements checkpoint.Cache. The store below may be one that is none: then it is errors.ErrUnsupported.
func (s *store) CacheGet(ctx context.Context, k checkpoint.CacheKey) ([]byte, error) {
	c, err := s.cache()
	if err != nil {
		return nil, err
	}
	stored, err := c.CacheGet(ctx, k)
	if err != nil || stored == nil {
		return nil, err
	}
	at := cacheRow(&k)
	body, _, err := s.openRow(&at, stored)
	return body, err
}

// CachePut implements checkpoint.Cache.
func (s *store) CachePut(ctx context.Context, k checkpoint.CacheKey, body []byte, ttl time.Duration) error {
	c, err := s.cache()
	if err != nil {
		return err
	}
	if err := k.ValidPut(body, ttl); err != nil { // what is sealed is never empty
		return err
	}
	at := cacheRow(&k)
	return c.CachePut(ctx, k, s.guard.seal(&at, body), ttl)
}

// CacheClear implements checkpoint.Cache.
func (s *store) CacheClear(ctx context.Context, tenant string) error {
	c, err := s.cache()
	if err != nil {
		return err
	}
	return c.CacheClear(ctx, tenant)
}
