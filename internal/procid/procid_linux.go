package procid

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// bootID is the identity of the present boot, with the identity of the pid namespace: the same pid in another container
// is another process.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b)) + " " + ns
}

// startOf is the start time of a process in clock ticks since boot (field 22 of proc_pid_stat(5)), or "".
func startOf(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	_, rest, ok := bytes.Cut(b[max(0, bytes.LastIndexByte(b, ')')):], []byte(" ")) // the name may hold anything
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 20 || string(fields[0]) == "Z" { // a zombie does nothing any more
		return ""
	}
	return string(fields[19])
}

// gone reports whether no process has the id.
func gone(pid int) bool {
	if s := statOf(pid); s == "Z" {
		return true
	}
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

func statOf(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	i := bytes.LastIndexByte(b, ')')
	if i < 0 || i+2 >= len(b) {
		return ""
	}
	return string(b[i+2 : i+3])
}
