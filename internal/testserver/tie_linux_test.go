package testserver_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/testserver"
)

// tiedEnv makes this binary a program that starts one and waits.
const tiedEnv = "HOLDFAST_TEST_TIED"

// A program that was started is in a group of its own, and dies with the one that started it, although that is killed and can do
// nothing about it.
func TestStart(t *testing.T) {
	t.Parallel()
	if os.Getenv(tiedEnv) != "" {
		child := osexec.Command("sleep", "600")
		if err := testserver.Start(child, make(chan struct{})); err != nil {
			t.Fatal(err)
		}
		fmt.Println("pid", child.Process.Pid)
		select {}
	}
	parent := osexec.Command(os.Args[0], "-test.run=^TestStart$", "-test.v=false")
	parent.Env = append(os.Environ(), tiedEnv+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	if err := testserver.Start(parent, ended); err != nil {
		t.Fatal(err)
	}
	defer close(ended)
	lines := bufio.NewScanner(out)
	pid := 0
	for pid == 0 && lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "pid "); ok {
			pid, err = strconv.Atoi(after)
		}
	}
	if pid == 0 || err != nil {
		t.Fatalf("no process id: %v, %v", err, lines.Err())
	}
	for _, p := range []int{parent.Process.Pid, pid} {
		if group, err := syscall.Getpgid(p); err != nil || group != p {
			t.Errorf("process %d is in group %d, %v", p, group, err)
		}
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	parent.Wait()
	for deadline := time.Now().Add(time.Minute); alive(pid); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("it has outlived the one that started it")
		}
	}
}

// alive reports whether there is a process that has not ended; whoever inherits one may never wait for it.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return err == nil && len(state) > 0 && state[0] != 'Z' && state[0] != 'X'
}
