//go:build !unix

package crash

func stop() { panic("this system cannot stop a process") }
