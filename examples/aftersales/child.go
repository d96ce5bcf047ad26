package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// A child is a process of this program that the demonstration has started. It ends when its standard input does, so it
// cannot outlive the demonstration, however that ends.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string // its output; closed at its end
}

// spawn starts this program again with other arguments. The end of ctx kills it.
func spawn(ctx context.Context, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	w.Close() // the child has its own
	if err != nil {
		r.Close()
		return nil, err
	}
	c := &child{cmd, stdin, make(chan string, 64)}
	go func() { // ends with the child's output
		defer close(c.lines)
		defer r.Close()
		for s := bufio.NewScanner(r); s.Scan(); {
			c.lines <- s.Text()
		}
	}()
	return c, nil
}

// relay prints what the child says behind its name, and returns its exit code: -1 if it was killed.
func (c *child) relay(p *printer, name string) (int, error) {
	for l := range c.lines {
		p.line(name+" | ", l)
	}
	err := c.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// kill ends the child without a warning: SIGKILL, or TerminateProcess on Windows.
func (c *child) kill() error { return c.cmd.Process.Kill() }

// quit asks the child to end and waits for it.
func (c *child) quit() error {
	c.stdin.Close()
	for range c.lines {
	}
	err := c.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%s: %w", strings.Join(c.cmd.Args[1:], " "), exit)
	}
	return err
}

// whileParentLives returns a context that ends when the standard input does: the parent has closed it, or is gone.
func whileParentLives(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx, cancel
}
