package graphtest

import (
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/graph"
)

var _ graph.Clock = (*Clock)(nil)

// A Clock stands still until it is moved. It implements graph.Clock and is safe for concurrent use. The zero value is
// ready and shows a day in 2025.
type Clock struct {
	mu     sync.Mutex
	moved  time.Duration
	timers []*timer
	change chan struct{} // closed when the timers have changed
}

type timer struct {
	at, asked time.Duration
	c         chan time.Time
}

var begin = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

// Now is the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return begin.Add(c.moved)
}

// After returns a channel that receives once the clock has been moved by d in all, and a function that gives up waiting.
func (c *Clock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c.moved + d, d, make(chan time.Time, 1)}
	c.timers = append(c.timers, t)
	c.fire()
	return t.c, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.timers = slices.DeleteFunc(c.timers, func(o *timer) bool { return o == t })
		c.changed()
	}
}

// Advance moves the clock and fires, in their order, the timers whose time has come.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved += d
	c.fire()
}

// AdvanceToNext moves the clock to the earliest pending timer, fires it, and returns how far it went. It is 0 when no
// timer is pending.
func (c *Clock) AdvanceToNext() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return 0
	}
	first := slices.MinFunc(c.timers, func(a, b *timer) int { return int(a.at - b.at) })
	d := first.at - c.moved
	c.moved = first.at
	c.fire()
	return d
}

// Wait returns once exactly n timers are pending: the program under test has then come to where it waits.
func (c *Clock) Wait(n int) {
	c.until(func(timers []*timer) bool { return len(timers) == n })
}

// WaitFor returns once a timer is pending that was asked to wait for d.
func (c *Clock) WaitFor(d time.Duration) {
	c.until(func(timers []*timer) bool {
		return slices.ContainsFunc(timers, func(t *timer) bool { return t.asked == d })
	})
}

func (c *Clock) until(fits func([]*timer) bool) {
	for {
		c.mu.Lock()
		if fits(c.timers) {
			c.mu.Unlock()
			return
		}
		if c.change == nil {
			c.change = make(chan struct{})
		}
		change := c.change
		c.mu.Unlock()
		<-change
	}
}

// fire sends to the timers whose time has come. The lock is held.
func (c *Clock) fire() {
	slices.SortStableFunc(c.timers, func(a, b *timer) int { return int(a.at - b.at) })
	for len(c.timers) > 0 && c.timers[0].at <= c.moved {
		c.timers[0].c <- begin.Add(c.timers[0].at)
		c.timers = c.timers[1:]
	}
	c.changed()
}

func (c *Clock) changed() {
	if c.change != nil {
		close(c.change)
		c.change = nil
	}
}
