// Package procid identifies the present process across restarts, and tells whether another one is gone.
package procid

import (
	"os"
	"strconv"
	"sync"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// Self identifies this process.
var Self = sync.OnceValue(func() checkpoint.Holder {
	host, _ := os.Hostname()
	pid := os.Getpid()
	return checkpoint.Holder{Host: host, Boot: bootID(), PID: pid, Start: startOf(pid)}
})

// Dead reports whether a holder is certainly gone: a process of this host and boot whose id is free, or was given to a
// process that started at another time. When nothing certain is known it is false.
func Dead(h checkpoint.Holder) bool {
	self := Self()
	if h.PID == 0 || h.Host != self.Host || h.Boot == "" || self.Boot == "" {
		return false
	}
	if h.Boot != self.Boot {
		return true // the machine was started anew since
	}
	start := startOf(h.PID)
	if start == "" {
		return gone(h.PID)
	}
	return h.Start != "" && h.Start != start
}

// String is the process in one word, for logs.
func String(h checkpoint.Holder) string { return h.Host + ":" + strconv.Itoa(h.PID) }
