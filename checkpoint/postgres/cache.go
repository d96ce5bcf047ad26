package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	sqlCacheGet = `select body from hf_cache where tenant = $1 and hash = $2 and until > clock_timestamp()`
	sqlCachePut = `insert into hf_cache(tenant, hash, until, body) values ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond', $4)
		on conflict (tenant, hash) do update set until = excluded.until, body = excluded.body`
	// It waits for nobody: what another one is about to remove, or has just renewed, is left to that one.
	sqlCacheSweep = `delete from hf_cache c using (select tenant, hash from hf_cache where until <= clock_timestamp()
			order by until limit 100 for update skip locked) gone
		where c.tenant = gone.tenant and c.hash = gone.hash`
)

var _ checkpoint.Cache = (*Store)(nil)

// CacheGet implements checkpoint.Cache.
func (s *Store) CacheGet(ctx context.Context, k checkpoint.CacheKey) (body []byte, err error) {
	if err := k.Valid(); err != nil {
		return nil, err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	err = s.read(ctx, k.Tenant, func(b *batch) {
		body = nil
		b.rows(func(r row) error { return r.Scan(&body) }, sqlCacheGet, k.Tenant, k.Hash[:])
	})
	return body, err
}

// CachePut implements checkpoint.Cache. It takes one round trip, in which some of what has expired is removed; under row-level
// security that is what has expired of this tenant.
func (s *Store) CachePut(ctx context.Context, k checkpoint.CacheKey, body []byte, ttl time.Duration) error {
	if err := k.ValidPut(body, ttl); err != nil {
		return err
	}
	if len(body) > maxBody {
		return fmt.Errorf("%w: a cached body of %d bytes, Postgres takes %d", checkpoint.ErrTooLarge, len(body), maxBody)
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.write(ctx, k.Tenant, func(b *batch) {
		b.add(sqlCachePut, k.Tenant, k.Hash[:], ttl.Milliseconds(), body)
		b.add(sqlCacheSweep)
	})
}

// CacheClear implements checkpoint.Cache.
func (s *Store) CacheClear(ctx context.Context, tenant string) error {
	if err := (&checkpoint.CacheKey{Tenant: tenant}).Valid(); err != nil {
		return err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.write(ctx, tenant, func(b *batch) { b.add(`delete from hf_cache where tenant = $1`, tenant) })
}
