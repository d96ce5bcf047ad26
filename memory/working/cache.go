package working

import (
	"hash/maphash"
	"sync"
)

// Cached returns a counter that remembers what it counted for the texts it saw last, as many as there are entries, at least
// one. Messages do not change, so their texts are counted once and hashed from then on, some gigabytes a second. It keeps
// hashes and no texts: about 100 bytes an entry. Two calls at the same time may both count a text that is new.
//
// Wrap what always counts the same for a text: a [Corrected] goes around a cache, not into one.
func Cached(c Counter, entries int) Counter {
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	return &cache{Counter: c, seeds: seeds, room: max(1, entries), found: map[cacheKey]int{}}
}

// A cacheKey stands for a text: 128 bits under seeds that nobody knows, so that no two texts share one, whoever wrote them.
type cacheKey struct {
	hashes [2]uint64
	size   int
}

// A cache is a clock: a hand goes round its slots and gives the first that was not used since it last came by to the newcomer.
type cache struct {
	Counter
	seeds [2]maphash.Seed
	room  int

	mu    sync.Mutex
	found map[cacheKey]int // index in slots
	slots []cacheSlot
	hand  int
}

type cacheSlot struct {
	key   cacheKey
	count int
	used  bool
}

func (c *cache) Count(text string) int {
	k := cacheKey{[2]uint64{maphash.String(c.seeds[0], text), maphash.String(c.seeds[1], text)}, len(text)}
	if n, ok := c.load(k); ok {
		return n
	}
	n := c.Counter.Count(text)
	c.store(k, n)
	return n
}

func (c *cache) load(k cacheKey) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.found[k]
	if !ok {
		return 0, false
	}
	c.slots[i].used = true
	return c.slots[i].count, true
}

func (c *cache) store(k cacheKey, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.found[k]; ok {
		return // another was faster
	}
	i := c.free()
	c.slots[i] = cacheSlot{key: k, count: n}
	c.found[k] = i
}

// free returns the index of a slot for a newcomer.
func (c *cache) free() int {
	if len(c.slots) < c.room {
		c.slots = append(c.slots, cacheSlot{})
		return len(c.slots) - 1
	}
	for ; c.slots[c.hand].used; c.hand = (c.hand + 1) % c.room {
		c.slots[c.hand].used = false
	}
	i := c.hand
	delete(c.found, c.slots[i].key)
	c.hand = (i + 1) % c.room
	return i
}
