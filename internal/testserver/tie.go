package testserver

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts a program in a process group of its own, so that nothing that happens to the group of the test reaches it: one that
// is stopped stays so, while the system wakes the stopped processes of a group that loses its last parent outside. On
// Linux the program dies with this process, however that ends.
//
// The caller waits for the program, and then closes ended.
func Start(cmd *exec.Cmd, ended <-chan struct{}) error {
	return startTied(cmd, sysProcAttr(nil), ended)
}

func startTied(cmd *exec.Cmd, attr *syscall.SysProcAttr, ended <-chan struct{}) error {
	cmd.SysProcAttr = attr
	started := make(chan error)
	go func() {
		// The death signal comes when the thread ends that started the child, not the process. This one stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-ended
		}
	}()
	return <-started
}
