//go:build unix

package crash

import "syscall"

// stop halts the whole process until somebody sends SIGCONT.
func stop() {
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGSTOP); err != nil {
		panic(err)
	}
}
