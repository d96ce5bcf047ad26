package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	sessionsqlite "github.com/holdfast-go/holdfast/memory/session/sqlite"
	"github.com/holdfast-go/holdfast/message"
)

// talked makes a thread and a conversation of a user in two files, and returns their names.
func talked(t *testing.T, user string) (threads, memories string) {
	t.Helper()
	dir := t.TempDir()
	threads, memories = filepath.Join(dir, "threads.db"), filepath.Join(dir, "memory.db")
	store, err := stores.Open(t.Context(), threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	_, err = program(t, store).With(graph.RunOptions{Owner: user}).Run(t.Context(), graph.Thread{Tenant: graph.SingleTenant, ID: "order-1"}, func(o *order) { o.Amount.Set(7) })
	if !errors.As(err, new(*graph.Interrupted)) {
		t.Fatal(err)
	}
	sessions, err := sessionsqlite.Open(memories, sessionsqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer sessions.Close()
	sc, err := memory.NewScope(graph.SingleTenant, user)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sessions.Write(t.Context(), sc, "c", session.Write{Messages: []message.Message{message.User("hello")}}); err != nil {
		t.Fatal(err)
	}
	return threads, memories
}

// R113: a user is erased by one command, which prints what was there and what is left, and let in again by another.
func TestEraseCommand(t *testing.T) {
	t.Parallel()
	threads, memories := talked(t, "bob")
	env := map[string]string{"HOLDFAST_STORE": threads, "HOLDFAST_MEMORY": memories}
	if _, errs, code := holdfast(t, env, "", "erase", "bob"); code != 2 || !strings.Contains(errs, "-yes") {
		t.Errorf("without -yes: %d %s", code, errs)
	}
	out, errs, code := holdfast(t, env, "", "erase", "bob", "-yes", "-json")
	var r govern.Receipt
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("%d %s %s %v", code, out, errs, err)
	}
	if len(r.Boxes) != 2 || r.Boxes[0].Found != 1 || r.Boxes[1].Found != 2 || r.Boxes[0].Left+r.Boxes[1].Left != 0 {
		t.Errorf("%+v", r)
	}
	if out, errs, code = holdfast(t, env, "", "threads"); code != 0 || strings.Contains(out, "order-1") {
		t.Errorf("threads: %d %s %s", code, out, errs)
	}
	if out, errs, code = holdfast(t, env, "", "erase", "-yes", "bob"); code != 0 || !strings.Contains(out, "session  0      0") {
		t.Errorf("again: %d %s %s", code, out, errs)
	}
	if _, errs, code = holdfast(t, env, "", "readmit", "bob"); code != 0 {
		t.Errorf("readmit: %d %s", code, errs)
	}
	if _, errs, code = holdfast(t, env, "", "compact"); code != 0 {
		t.Errorf("compact: %d %s", code, errs)
	}
}

func TestMemoryCommandsRefuse(t *testing.T) {
	t.Parallel()
	threads, _ := talked(t, "bob")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"erase", 2, "-store"},
		{"erase -h", 0, "-yes"},
		{"-store " + threads + " erase", 2, "USER"},
		{"-store " + threads + " erase a b -yes", 2, "USER"},
		{"-store " + threads + " erase bob -nonsense", 2, "nonsense"},
		{"-store " + threads + " erase bob -tenant= -yes", 2, "tenant"},
		{"-memory " + threads + " erase bob -yes", 1, "no box"},
		{"-memory missing.db erase bob -yes", 1, "missing.db"},
		{"-memory redis://h erase bob -yes", 1, "no URL of memory"},
	} {
		out, errs, code := holdfast(t, nil, "", strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%s: %d %s %s", c.args, code, out, errs)
		}
	}
}
