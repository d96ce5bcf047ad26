package working_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/memory/working"
)

// A text is counted once as long as there is room, and right in any case. // R55
func TestCached(t *testing.T) {
	t.Parallel()
	inner := &counting{Counter: working.Estimate}
	c := working.Cached(inner, 10)
	for range 3 {
		for i := range 10 {
			text := strings.Repeat(fmt.Sprint("text ", i), 100)
			if got, want := c.Count(text), working.Estimate.Count(text); got != want {
				t.Errorf("%d, want %d", got, want)
			}
		}
	}
	if n := inner.texts.Load(); n != 10 {
		t.Errorf("10 texts were counted %d times", n)
	}
	if c.Name() != "estimate" || c.Margin() != working.Estimate.Margin() {
		t.Error(c.Name(), c.Margin())
	}
}

// What is used again stays, what is not makes room.
func TestCacheMakesRoom(t *testing.T) {
	t.Parallel()
	inner := &counting{Counter: working.Estimate}
	c := working.Cached(inner, 3)
	c.Count("kept")
	for i := range 1000 {
		c.Count(fmt.Sprint("new ", i))
		c.Count("kept")
	}
	if n := inner.texts.Load(); n != 1001 {
		t.Errorf("1001 texts were counted %d times", n)
	}
	if working.Cached(inner, 0).Count("x") != working.Estimate.Count("x") {
		t.Error("a cache without entries counts wrong")
	}
}

func TestCacheAtOnce(t *testing.T) {
	t.Parallel()
	c := working.Cached(working.Estimate, 5)
	var all sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			for i := range 500 {
				text := fmt.Sprint("some words ", (i*k)%20)
				if c.Count(text) != working.Estimate.Count(text) {
					t.Error(text)
				}
			}
		})
	}
	all.Wait()
}
