package checkpointtest

import (
	"bytes"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// cacheCases are for stores that are a checkpoint.Cache; they ask nothing of others.
var cacheCases = []testCase{
	{"cache-put-and-get", "E25", "a node's result is taken from the cache as it was put: other bytes would be another result", cachePutAndGet},
	{"cache-apart", "E25", "tenants never share a result, nor do two keys", cacheApart},
	{"cache-expires", "E25", "a result that is older than its time is not used, by the store's clock", cacheExpires},
	{"cache-clear", "R113", "a tenant's results can be removed, all of them and nobody else's", cacheClear},
	{"cache-refuses", "C7", "what one store takes all take", cacheRefuses},
	{"cache-at-once", "E25", "many tasks put and get one key at the same moment, and none of them sees half of a body", cacheAtOnce},
}

// cached runs a case with the store as a cache.
func (e *env) cached(run func(checkpoint.Cache)) {
	if c, ok := e.store.(checkpoint.Cache); ok {
		run(c)
	}
}

func (e *env) cacheKey(name string) checkpoint.CacheKey {
	k := checkpoint.CacheKey{Tenant: e.tenant}
	copy(k.Hash[:], name)
	return k
}

func (e *env) put(c checkpoint.Cache, k checkpoint.CacheKey, body string) {
	e.Helper()
	e.ok(c.CachePut(e.Context(), k, []byte(body), long))
}

func (e *env) gets(c checkpoint.Cache, k checkpoint.CacheKey, want string) {
	e.Helper()
	got, err := c.CacheGet(e.Context(), k)
	e.ok(err)
	if string(got) != want || (got == nil) != (want == "") {
		e.Fatalf("%d bytes from the cache, %q; want %q", len(got), clip(string(got)), clip(want))
	}
}

func cacheClear(e *env) {
	e.cached(func(c checkpoint.Cache) {
		a, b, other := e.cacheKey("a"), e.cacheKey("b"), e.cacheKey("a")
		other.Tenant += "*" // which some would take for a pattern
		longer := e.cacheKey("a")
		longer.Tenant += "x"
		for _, k := range []checkpoint.CacheKey{a, b, other, longer} {
			e.put(c, k, "body")
		}
		e.ok(c.CacheClear(e.Context(), other.Tenant))
		e.gets(c, other, "")
		e.gets(c, a, "body")
		e.ok(c.CacheClear(e.Context(), e.tenant))
		e.ok(c.CacheClear(e.Context(), e.tenant))
		e.gets(c, a, "")
		e.gets(c, b, "")
		e.gets(c, longer, "body")
		e.is(c.CacheClear(e.Context(), ""), checkpoint.ErrBadKey)
	})
}

func cachePutAndGet(e *env) {
	e.cached(func(c checkpoint.Cache) {
		k := e.cacheKey("a")
		e.gets(c, k, "")
		body := []byte("one\x00\xff")
		e.ok(c.CachePut(e.Context(), k, body, long))
		copy(body, "xxx") // it is the caller's again
		e.gets(c, k, "one\x00\xff")
		e.put(c, k, "two")
		e.gets(c, k, "two")
		large := string(bytes.Repeat([]byte("large"), 1<<20))
		e.put(c, k, large)
		e.gets(c, k, large)
	})
}

func cacheApart(e *env) {
	e.cached(func(c checkpoint.Cache) {
		k := e.cacheKey("a")
		e.put(c, k, "mine")
		other, next := k, k
		other.Tenant += "x"
		next.Hash[31]++
		e.gets(c, other, "")
		e.gets(c, next, "")
		e.put(c, other, "theirs")
		e.gets(c, k, "mine")
		e.gets(c, other, "theirs")
		h := e.start(e.key("thread"))
		e.ok(e.store.Delete(e.Context(), h.Key))
		e.gets(c, k, "mine") // it belongs to no thread
	})
}

func cacheExpires(e *env) {
	e.cached(func(c checkpoint.Cache) {
		short, stays := e.cacheKey("short"), e.cacheKey("stays")
		e.put(c, stays, "stays")
		e.ok(c.CachePut(e.Context(), short, []byte("short"), 20*time.Millisecond))
		e.until("a cached body expires", func() bool {
			got, err := c.CacheGet(e.Context(), short)
			e.ok(err)
			return got == nil
		})
		e.gets(c, stays, "stays")
		e.put(c, short, "again")
		e.gets(c, short, "again")
	})
}

func cacheRefuses(e *env) {
	e.cached(func(c checkpoint.Cache) {
		k := e.cacheKey("a")
		e.is(c.CachePut(e.Context(), k, nil, long), checkpoint.ErrBadKey)
		e.is(c.CachePut(e.Context(), k, []byte("x"), 0), checkpoint.ErrBadKey)
		e.is(c.CachePut(e.Context(), checkpoint.CacheKey{}, []byte("x"), long), checkpoint.ErrBadKey)
		_, err := c.CacheGet(e.Context(), checkpoint.CacheKey{Tenant: "a\x00b"})
		e.is(err, checkpoint.ErrBadKey)
		e.put(c, k, "x")
		e.ok(e.store.Close())
		_, err = c.CacheGet(e.Context(), k)
		e.is(err, checkpoint.ErrClosed)
		e.is(c.CachePut(e.Context(), k, []byte("x"), long), checkpoint.ErrClosed)
	})
}

func cacheAtOnce(e *env) {
	e.cached(func(c checkpoint.Cache) {
		var wg sync.WaitGroup
		bodies := []string{"", string(bytes.Repeat([]byte("a"), 5000)), string(bytes.Repeat([]byte("b"), 5000))}
		for n := range 8 {
			wg.Go(func() {
				for range 20 {
					k := e.cacheKey(string(rune('p' + n%2)))
					if err := c.CachePut(e.Context(), k, []byte(bodies[1+n/4]), time.Duration(1+n%3)*20*time.Millisecond); err != nil {
						e.Errorf("put: %v", err)
					}
					got, err := c.CacheGet(e.Context(), k)
					if err != nil || string(got) != bodies[0] && string(got) != bodies[1] && string(got) != bodies[2] {
						e.Errorf("%d bytes that nobody has put, %v", len(got), err)
					}
				}
			})
		}
		wg.Wait()
	})
}
