//go:build unix

package crash

import (
	"os"
	"os/signal"
	"syscall"
)

// stop halts the whole process until somebody sends SIGCONT. The signal reaches the threads one after the other: whoever
// calls goes no further in the meantime.
func stop() {
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGCONT)
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGSTOP); err != nil {
		panic(err)
	}
	<-woken
	signal.Stop(woken)
}
