//go:build unix && !linux

package testserver

import "syscall"

func sysProcAttr(u *User) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if u != nil {
		a.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	}
	return a
}
