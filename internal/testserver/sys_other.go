//go:build !unix

package testserver

import "syscall"

func sysProcAttr(*User) *syscall.SysProcAttr { return nil }
