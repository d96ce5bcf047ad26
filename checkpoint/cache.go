package checkpoint

import (
	"context"
	"fmt"
	"time"
)

// A Cache keeps bytes for a while, apart from threads: deleting a thread leaves them, and what they are of may come from any of
// the tenant's threads. A [Store] may be one; all stores of this module are. Like a Store it is safe for concurrent use, and its calls end
// when their contexts do. What it was given it may lose at any time, but it never returns something else.
type Cache interface {
	// CacheGet returns what was put under the key last, unless its time has passed by the store's clock. nil means that there is
	// nothing. The caller must not write into what it gets.
	CacheGet(ctx context.Context, k CacheKey) (body []byte, err error)

	// CachePut keeps a body, which must not be empty, for so long from now; it replaces what was there. What has expired is removed
	// sooner or later. A body that the store cannot take is ErrTooLarge.
	CachePut(ctx context.Context, k CacheKey, body []byte, ttl time.Duration) error

	// CacheClear removes all that a tenant has in the cache. It costs a look at all of the cache on Redis.
	CacheClear(ctx context.Context, tenant string) error
}

// A CacheKey is a place in a cache. Tenants never share one.
type CacheKey struct {
	Tenant string
	Hash   [32]byte // of everything else that the place depends on
}

// Valid reports whether every store can keep a body under the key. Stores call it first.
func (k *CacheKey) Valid() error {
	return (&Key{Tenant: k.Tenant, Thread: "cache"}).Valid()
}

// ValidPut reports whether every store can keep the body for so long. Stores call it first.
func (k *CacheKey) ValidPut(body []byte, ttl time.Duration) error {
	if err := k.Valid(); err != nil {
		return err
	}
	if len(body) == 0 || ttl < time.Millisecond {
		return fmt.Errorf("%w: a cache keeps a body of at least one byte for at least a millisecond", ErrBadKey)
	}
	return nil
}
