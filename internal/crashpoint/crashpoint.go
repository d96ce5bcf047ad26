// Package crashpoint names places in the program at which a test may kill it.
package crashpoint

import (
	"sync/atomic"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var hook atomic.Pointer[func(name string)]

// Set has f called at every point from now on, from whatever goroutine comes by; nil ends that. Only programs that exist
// to be killed call it: nothing in the environment can.
func Set(f func(name string)) {
	if f == nil {
		hook.Store(nil)
		return
	}
	hook.Store(&f)
}

// Hit marks a point. Without a hook it costs one atomic load.
func Hit(name string) {
	if f := hook.Load(); f != nil {
		(*f)(name)
	}
}

// Write marks a point of a write: once for each record, by its kind, as in "write E".
func Write(name string, records []checkpoint.Record) {
	if f := hook.Load(); f != nil {
		for i := range records {
			(*f)(name + " " + string(rune(records[i].Kind)))
		}
	}
}
