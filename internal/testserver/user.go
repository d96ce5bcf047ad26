package testserver

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A User runs a server that refuses to be run by root.
type User struct{ UID, GID uint32 }

// Unprivileged is the first of these users that exists, for a test that runs as root. Any other test is nil: it needs none.
func Unprivileged(names ...string) (*User, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		return &User{uint32(uid), uint32(gid)}, err
	}
	return nil, fmt.Errorf("none of the users %s exists", strings.Join(names, ", "))
}

// TempDir makes a folder for a server's data that the user can reach and write. The caller removes it. Folders that killed
// test binaries have left are removed.
func TempDir(noun string, u *User) (string, error) {
	prefix := "holdfast-" + noun + "-"
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range old {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && gone(n) {
			os.RemoveAll(dir)
		}
	}
	dir, err := os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil || u == nil {
		return dir, err
	}
	return dir, os.Chown(dir, int(u.UID), int(u.GID))
}

// gone reports whether the process is certainly not there.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	return p.Signal(syscall.Signal(0)) == os.ErrProcessDone
}
