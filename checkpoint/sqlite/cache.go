package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	sqlCacheGet = `select body from hf_cache where tenant = ? and hash = ? and until > ?`
	sqlCachePut = `insert into hf_cache(tenant, hash, until, body) values (?, ?, ?, ?)
		on conflict(tenant, hash) do update set until = excluded.until, body = excluded.body`
	sqlCacheClear = `delete from hf_cache where tenant = ?`
	// More than come at a time, and not so many that others wait.
	sqlCacheSweep = `delete from hf_cache where rowid in (select rowid from hf_cache where until <= ? limit 100)`
)

var _ checkpoint.Cache = (*Store)(nil)

// CacheGet implements checkpoint.Cache.
func (s *Store) CacheGet(ctx context.Context, k checkpoint.CacheKey) ([]byte, error) {
	if err := k.Valid(); err != nil {
		return nil, err
	}
	return read(ctx, s, func(ctx context.Context, c *conn) (body []byte, err error) {
		err = c.query(ctx, sqlCacheGet, func(r *row) { body = r.blob() }, k.Tenant, k.Hash[:], s.now())
		return body, err
	})
}

// CachePut implements checkpoint.Cache. It shares a commit with other writes, and removes some of what has expired.
func (s *Store) CachePut(ctx context.Context, k checkpoint.CacheKey, body []byte, ttl time.Duration) error {
	if err := k.ValidPut(body, ttl); err != nil {
		return err
	}
	if len(body) > maxBody {
		return fmt.Errorf("%w: a cached body of %d bytes, SQLite takes %d", checkpoint.ErrTooLarge, len(body), maxBody)
	}
	_, err := write(ctx, s, len(body), func(c *conn) (struct{}, error) {
		now := s.now()
		return struct{}{}, c.all([]step{
			{sqlCacheSweep, []value{now}},
			{sqlCachePut, []value{k.Tenant, k.Hash[:], now.Add(ttl), body}},
		})
	})
	return err
}

// CacheClear implements checkpoint.Cache.
func (s *Store) CacheClear(ctx context.Context, tenant string) error {
	if err := (&checkpoint.CacheKey{Tenant: tenant}).Valid(); err != nil {
		return err
	}
	_, err := write(ctx, s, 0, func(c *conn) (struct{}, error) {
		return struct{}{}, c.all([]step{{sqlCacheClear, []value{tenant}}})
	})
	return err
}
