package testserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// patience bounds every wait for a server.
const patience = 60 * time.Second

// A Command says how a server is started and how to see that it answers.
type Command struct {
	Path  string
	Args  []string
	Dir   string
	User  *User                           // who runs it; nil: who runs the test
	Ready func(ctx context.Context) error // asked until it returns nil; each call has a few seconds
	End   os.Signal                       // asks it to end; default SIGTERM
}

// A Child is a server process. On Linux it dies with the test binary, however that ends.
type Child struct {
	cmd  Command
	mu   sync.Mutex
	proc *os.Process
	done chan struct{} // closed when it and all that share its output have ended
	out  *output
}

// StartChild starts a server in its own process group and waits until it answers. An error carries its output.
func StartChild(c Command) (*Child, error) {
	child := &Child{cmd: c}
	return child, child.start()
}

// start starts the process once.
func (c *Child) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	cmd := exec.Command(c.cmd.Path, c.cmd.Args...)
	out := &output{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.cmd.Dir, out, out
	cmd.WaitDelay = patience
	done := make(chan struct{})
	if err := startTied(cmd, sysProcAttr(c.cmd.User), done); err != nil {
		return err
	}
	go func() {
		defer close(done)
		cmd.Wait()
	}()
	c.proc, c.done, c.out = cmd.Process, done, out
	if err := c.await(); err != nil {
		cmd.Process.Kill()
		<-done
		return fmt.Errorf("%s does not answer: %w\n%s", c.cmd.Path, err, out)
	}
	return nil
}

// await polls until the server answers.
func (c *Child) await() error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err := c.cmd.Ready(ctx)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.done:
			return cmp.Or(err, errors.New("it has ended"))
		case <-late:
			return err
		}
	}
}

// PID is the process id.
func (c *Child) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proc.Pid
}

// Output is what the server has written since its last start.
func (c *Child) Output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

// Kill ends the server with SIGKILL and waits until all that share its output have gone. Killing a dead one is no error.
func (c *Child) Kill() error { return c.signal(os.Kill) }

// Stop asks the server to end and waits.
func (c *Child) Stop() error {
	if c.cmd.End != nil {
		return c.signal(c.cmd.End)
	}
	return c.signal(syscall.SIGTERM)
}

func (c *Child) signal(s os.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.proc.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(patience):
	}
	c.proc.Kill()
	<-c.done
	return fmt.Errorf("%s did not end in %v\n%s", c.cmd.Path, patience, c.out)
}

// Restart starts a server again that was killed or stopped, by the same command. It tries until the old one has let go of
// the port and of its shared memory.
func (c *Child) Restart() error {
	deadline := time.Now().Add(patience)
	for {
		err := c.start()
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// FreePort is a TCP port of 127.0.0.1 that nobody listened on a moment ago.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// An output keeps the last part of what a server wrote.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

const maxOutput = 64 << 10

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.b.Len() > maxOutput {
		o.b.Next(o.b.Len() / 2)
	}
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
