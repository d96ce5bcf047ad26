package checkpoint

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"
)

// cacheBytes is what a Memory keeps at most of cached bodies, unless it was told otherwise.
const cacheBytes = 64 << 20

// A memCache forgets what was not used for longest when it is full. Its zero value is empty.
type memCache struct {
	mu    sync.Mutex
	items map[CacheKey]*list.Element // of *memCached
	used  list.List                  // the latest first
	bytes int64
}

type memCached struct {
	key   CacheKey
	body  []byte
	until time.Time
}

func (i *memCached) size() int64 { return int64(len(i.body)+len(i.key.Tenant)) + 2*Overhead }

// CacheGet implements Cache.
func (m *Memory) CacheGet(ctx context.Context, k CacheKey) ([]byte, error) {
	if err := m.beginCache(ctx, k.Valid()); err != nil {
		return nil, err
	}
	defer m.mu.RUnlock()
	return m.cache.get(k, m.now()), nil
}

// CachePut implements Cache. Beyond CacheBytes what was not used for longest goes.
func (m *Memory) CachePut(ctx context.Context, k CacheKey, body []byte, ttl time.Duration) error {
	if err := m.beginCache(ctx, k.ValidPut(body, ttl)); err != nil {
		return err
	}
	defer m.mu.RUnlock()
	now, most := m.now(), cmp.Or(m.CacheBytes, cacheBytes)
	item := &memCached{k, bytes.Clone(body), now.Add(ttl)}
	if item.size() > most {
		return fmt.Errorf("%w: a cached body of %d bytes, Memory.CacheBytes is %d", ErrTooLarge, len(body), most)
	}
	m.cache.put(item, now, most)
	return nil
}

// CacheClear implements Cache.
func (m *Memory) CacheClear(ctx context.Context, tenant string) error {
	if err := m.beginCache(ctx, (&CacheKey{Tenant: tenant}).Valid()); err != nil {
		return err
	}
	defer m.mu.RUnlock()
	m.cache.clear(tenant)
	return nil
}

// beginCache holds the store open for a call that may go on.
func (m *Memory) beginCache(ctx context.Context, valid error) error {
	if valid != nil {
		return valid
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	m.mu.RLock()
	if m.closed {
		m.mu.RUnlock()
		return ErrClosed
	}
	return nil
}

func (c *memCache) get(k CacheKey, now time.Time) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.items[k]
	if e == nil {
		return nil
	}
	item := e.Value.(*memCached)
	if !now.Before(item.until) {
		c.remove(e)
		return nil
	}
	c.used.MoveToFront(e)
	return item.body
}

func (c *memCache) put(item *memCached, now time.Time, most int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.items[item.key]; e != nil {
		c.remove(e)
	}
	if c.items == nil {
		c.items = map[CacheKey]*list.Element{}
	}
	c.items[item.key] = c.used.PushFront(item)
	c.bytes += item.size()
	// Each put looks at two that were not used for longest, so that what has expired goes faster than it comes.
	for n := 0; ; n++ {
		last := c.used.Back()
		expired := n < 2 && !now.Before(last.Value.(*memCached).until)
		if !expired && c.bytes <= most {
			return
		}
		c.remove(last)
	}
}

func (c *memCache) clear(tenant string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, e := range c.items {
		if k.Tenant == tenant {
			c.remove(e)
		}
	}
}

func (c *memCache) remove(e *list.Element) {
	item := c.used.Remove(e).(*memCached)
	delete(c.items, item.key)
	c.bytes -= item.size()
}
