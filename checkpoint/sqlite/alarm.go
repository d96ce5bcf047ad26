package sqlite

import (
	"sync"
	"time"
)

// An alarm tells waiting calls that their time is up, with one timer for all of them. A timer for each call would be
// armed before and stopped after every commit, and arming one wakes a sleeping thread of the runtime: 10 us of 190.
type alarm struct {
	mu      sync.Mutex
	timer   *time.Timer
	next    time.Time // when the timer rings; zero: it does not
	waiting map[*wait]struct{}
}

// A wait ends at a time, unless it is cleared before.
type wait struct {
	end  time.Time
	over chan struct{}
}

func (a *alarm) set(d time.Duration) *wait {
	w := &wait{end: time.Now().Add(d), over: make(chan struct{})}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer == nil {
		a.timer, a.waiting = time.AfterFunc(d, a.ring), map[*wait]struct{}{}
		a.next = w.end
	}
	a.waiting[w] = struct{}{}
	a.arm(w.end)
	return w
}

// arm has the timer ring at a time or before.
func (a *alarm) arm(at time.Time) {
	if a.next.IsZero() || at.Before(a.next) {
		a.next = at
		a.timer.Reset(time.Until(at))
	}
}

// clear leaves the timer armed: the next call would arm it again.
func (a *alarm) clear(w *wait) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, w)
}

func (a *alarm) ring() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = time.Time{}
	now := time.Now()
	for w := range a.waiting {
		if w.end.After(now) {
			a.arm(w.end)
			continue
		}
		close(w.over)
		delete(a.waiting, w)
	}
}

func (a *alarm) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}
