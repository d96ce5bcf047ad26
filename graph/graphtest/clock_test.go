package graphtest_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/graph/graphtest"
)

func TestClock(t *testing.T) {
	t.Parallel()
	var c graphtest.Clock
	start := c.Now()
	late, _ := c.After(2 * time.Second)
	soon, _ := c.After(time.Second)
	never, stop := c.After(time.Second)
	c.Wait(3)
	stop()
	c.Wait(2)
	c.Advance(999 * time.Millisecond)
	select {
	case <-soon:
		t.Fatal("too early")
	default:
	}
	c.Advance(time.Millisecond)
	if at := <-soon; at.Sub(start) != time.Second {
		t.Fatalf("fired at %v", at.Sub(start))
	}
	if d := c.AdvanceToNext(); d != time.Second || c.AdvanceToNext() != 0 {
		t.Fatalf("advanced by %v", d)
	}
	<-late
	select {
	case <-never:
		t.Fatal("a stopped timer fired")
	default:
	}
	if now, _ := c.After(0); len(now) != 1 {
		t.Fatal("a timer of no time fires at once")
	}
}

func TestClockWakesWaiter(t *testing.T) {
	t.Parallel()
	var c graphtest.Clock
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Wait(2)
		c.WaitFor(time.Hour)
	}()
	c.After(time.Hour)
	c.After(time.Second)
	<-done
}
