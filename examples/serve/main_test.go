package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// folder is where the real binary is built.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "serve-test-"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(testserver.Main{M: m}, goleak.Cleanup(func(code int) {
		os.RemoveAll(folder)
		os.Exit(code)
	}))
}

// program builds the real binary once and returns its path.
var program = sync.OnceValue(func() string {
	path := filepath.Join(folder, "serve")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		panic(string(out))
	}
	return path
})

// place is a database of its own for a test, on the store that HOLDFAST_STORE names: sqlite (the default), postgres or redis.
func place(t *testing.T) string {
	t.Helper()
	name := "t" + strings.ToLower(rand.Text())
	switch store := os.Getenv("HOLDFAST_STORE"); store {
	case "", "sqlite":
		return filepath.Join(t.TempDir(), "serve.db")
	case "postgres":
		return testserver.Postgres(t).URL() + "&schema=" + name
	case "redis":
		return testserver.SharedRedis(t).URL() + "?prefix=" + name
	default:
		t.Fatalf("HOLDFAST_STORE is %q; want sqlite, postgres or redis", store)
		return ""
	}
}

// A process is the real program under way.
type process struct {
	url    string
	cmd    *exec.Cmd
	client *http.Client
	errs   bytes.Buffer
	end    func(t *testing.T)
}

// launch starts the program and waits for its address.
func launch(t *testing.T, db, pace string) *process {
	t.Helper()
	p := &process{client: &http.Client{Transport: &http.Transport{}}}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), program(), "-db", db, "-addr", "127.0.0.1:0", "-pace", pace)
	p.cmd.Stderr = &p.errs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	p.url = strings.TrimSpace(line)
	var once sync.Once
	p.end = func(t *testing.T) {
		once.Do(func() {
			p.client.CloseIdleConnections()
			if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			if err := p.cmd.Wait(); err != nil {
				t.Errorf("after SIGTERM: %v\n%s", err, &p.errs)
			}
		})
	}
	t.Cleanup(func() { p.end(t) })
	if err != nil {
		t.Fatalf("%v\n%s", err, &p.errs)
	}
	return p
}

// call sends a request, checks the status, and decodes the answer into out if that is not nil.
func (p *process) call(t *testing.T, method, path, body string, want int, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		t.Fatalf("%s %s: status %d, want %d, %v\n%s", method, path, res.StatusCode, want, err, got)
	}
	if out != nil {
		if err := json.Unmarshal(got, out); err != nil {
			t.Fatalf("%s %s: %v\n%s", method, path, err, got)
		}
	}
}

// A feed is a stream of events that is being read.
type feed struct {
	body   io.ReadCloser
	lines  *bufio.Scanner
	status int
}

// follow asks for the events behind a number.
func (p *process) follow(t *testing.T, thread string, after int64) *feed {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", p.url+"/threads/"+thread+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		req.Header.Set("Last-Event-ID", fmt.Sprint(after))
	}
	res, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return &feed{res.Body, bufio.NewScanner(res.Body), res.StatusCode}
}

// next is the next event; false: the stream has ended.
func (f *feed) next(t *testing.T) (e graph.Event, ok bool) {
	t.Helper()
	id := ""
	for f.lines.Scan() {
		field, value, _ := strings.Cut(f.lines.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				t.Fatal(err)
			}
			if id != fmt.Sprint(e.Seq) {
				t.Errorf("id %s of event %d", id, e.Seq)
			}
			return e, true
		}
	}
	return e, false
}

// rest reads to the end and closes.
func (f *feed) rest(t *testing.T) (evs []graph.Event) {
	t.Helper()
	defer f.body.Close()
	for e, ok := f.next(t); ok; e, ok = f.next(t) {
		evs = append(evs, e)
	}
	return evs
}

// some reads until an event is the one, and cuts the connection.
func (f *feed) some(t *testing.T, last func(graph.Event) bool) (evs []graph.Event) {
	t.Helper()
	defer f.body.Close()
	for e, ok := f.next(t); ok; e, ok = f.next(t) {
		if evs = append(evs, e); last(e) {
			return evs
		}
	}
	t.Fatalf("the stream has ended behind %d events", len(evs))
	return nil
}

// entry is the entry of a step.
func entry(step int64) func(graph.Event) bool {
	return func(e graph.Event) bool { return e.Kind == graph.EntryCommitted && e.Step == step }
}

// lasting are the events that every reader gets, as text.
func lasting(t *testing.T, evs []graph.Event) (out []string) {
	t.Helper()
	for _, e := range evs {
		if e.Kind.Durable() || e.Kind == graph.RunCompleted || e.Kind == graph.QuestionAsked {
			out = append(out, fmt.Sprint(e.Seq, " ", e.Kind, " ", e.Step, " ", e.Node, " ", string(e.Data)))
		}
	}
	return out
}

func seqOf(evs []graph.Event) int64 { return evs[len(evs)-1].Seq }

// patient is a client that waits until the thread goes on somewhere: a stream that has ended is asked for again, as an EventSource does.
func (p *process) patient(t *testing.T, thread string, after int64, last func(graph.Event) bool) (evs []graph.Event) {
	t.Helper()
	for {
		for _, e := range p.follow(t, thread, after).rest(t) {
			after = e.Seq
			if evs = append(evs, e); last(e) {
				return evs
			}
		}
		select {
		case <-t.Context().Done():
			t.Fatal("it never came")
		case <-time.After(10 * time.Millisecond):
		}
	}
}
