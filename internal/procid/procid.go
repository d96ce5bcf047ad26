// Package procid identifies the present process across restarts, and tells whether another one is gone.
package procid

import (
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// Self identifies this process.
var Self = sync.OnceValue(func() checkpoint.Holder {
	host, _ := os.Hostname()
	pid := os.Getpid()
	return checkpoint.Holder{Host: host, Boot: bootID(), PID: pid, Start: startOf(pid)}
})

// Dead reports whether a holder is certainly gone: a process of this host, boot and process namespace whose id is free, or
// was given to a process that started at another time; or, when every holder is a process of this machine (local), one
// of another boot. When nothing certain is known it is false: two machines may have one name, and two containers of one
// machine do not see each other's processes.
func Dead(h checkpoint.Holder, local bool) bool {
	self := Self()
	if h.PID == 0 || h.Host != self.Host || h.Boot == "" || self.Boot == "" {
		return false
	}
	boot, space, _ := strings.Cut(h.Boot, " ")
	myBoot, mySpace, _ := strings.Cut(self.Boot, " ")
	if boot != myBoot {
		return local
	}
	if space != mySpace {
		return false
	}
	start := startOf(h.PID)
	if start == "" {
		return gone(h.PID)
	}
	return h.Start != "" && h.Start != start
}

// String is the process in one word, for logs.
func String(h checkpoint.Holder) string { return h.Host + ":" + strconv.Itoa(h.PID) }
