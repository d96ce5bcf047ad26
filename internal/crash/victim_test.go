//go:build unix

package crash_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5"
)

// A victim that is under way, for tests that do something to it.
type victim struct {
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	done   chan struct{} // closed when it has ended and was waited for
	err    error
}

// start starts one, in a process group of its own: one that is stopped must not be woken by anything else. One whose fate is
// to stop is waited for by stopped first, and the others are waited for at once.
func (s *stage) start(t *testing.T, fate string, args ...string) (*victim, error) {
	v := &victim{cmd: s.command(t.Context(), fate, args...), stderr: &bytes.Buffer{}, done: make(chan struct{})}
	v.cmd.Stderr = v.stderr
	if err := testserver.Start(v.cmd, v.done); err != nil {
		return nil, err
	}
	if fate == "" {
		go v.reap()
	}
	return v, nil
}

func (v *victim) reap() {
	v.err = v.cmd.Wait()
	close(v.done)
}

// stopped waits until the victim has stopped itself.
func (v *victim) stopped() error {
	var ws syscall.WaitStatus
	_, err := syscall.Wait4(v.cmd.Process.Pid, &ws, syscall.WUNTRACED, nil)
	if err == nil && !ws.Stopped() {
		err = fmt.Errorf("the program was not stopped: status %#x: %s", ws, v.stderr.String())
	}
	go v.reap()
	return err
}

func (v *victim) wake() error { return v.cmd.Process.Signal(syscall.SIGCONT) }

// wait waits for its end; how it ended is in its ProcessState.
func (v *victim) wait() error {
	<-v.done
	if _, ok := v.err.(*exec.ExitError); ok {
		return nil
	}
	return v.err
}

// kill kills it, if it still lives.
func (v *victim) kill() {
	v.cmd.Process.Kill()
	<-v.done
}

func (s *stage) ledgerPath() string { return filepath.Join(s.dir, "ledger") }

// records are those of all chains in the order in which they were written, in a form that can be compared.
func (s *stage) records(t *testing.T) (out []string, err error) {
	store, err := s.open(t.Context())
	if err != nil {
		return nil, err
	}
	defer store.Close()
	chains, err := store.Chains(t.Context(), threadKey, checkpoint.Active)
	if err != nil {
		return nil, err
	}
	var all []checkpoint.Record
	for _, c := range chains {
		rs, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: threadKey, Namespace: c.Namespace}, To: -1})
		if err != nil {
			return nil, err
		}
		all = append(all, rs...)
	}
	slices.SortFunc(all, func(a, b checkpoint.Record) int { return cmp.Compare(a.Ord, b.Ord) })
	for _, r := range all {
		out = append(out, fmt.Sprintf("%q %d %d %d %c %s", r.Namespace, r.Pos, r.Ord, r.By, r.Kind, r.Body))
	}
	return out, nil
}

// connect is a connection of the superuser.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}
