package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// The whole story with real processes: a run is started, its reader is cut off and comes back, the process is told to stop in
// the middle, another one goes on, a person answers through it, and the reader has had everything once. // E47 // E48 // E27 // E61
func TestStory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent SIGTERM here")
	}
	db := place(t)
	a := launch(t, db, "700ms") // slow enough to be stopped in the middle
	var run started
	a.call(t, "POST", "/threads/t/runs", `{"topic":"Tides"}`, http.StatusAccepted, &run)
	a.call(t, "POST", "/threads/t/runs", `{"topic":"Tides"}`, http.StatusConflict, nil)
	got := a.follow(t, "t", 0).some(t, entry(1))
	got = append(got, a.follow(t, "t", seqOf(got)).some(t, entry(2))...)
	f := a.follow(t, "t", seqOf(got))
	e, ok := f.next(t)
	if !ok {
		t.Fatal("it ended")
	}
	got = append(got, e)
	stopped := make(chan struct{})
	go func() { // while the reader reads on
		defer close(stopped)
		a.end(t)
	}()
	got = append(got, f.rest(t)...)
	<-stopped
	if slices.ContainsFunc(got, func(e graph.Event) bool { return e.Kind == graph.QuestionAsked }) {
		t.Fatal("it was not stopped in the middle")
	}
	b := launch(t, db, "1ms")
	got = append(got, b.patient(t, "t", seqOf(got), func(e graph.Event) bool { return e.Kind == graph.RunInterrupted })...)
	var list []open
	b.call(t, "GET", "/questions", "", http.StatusOK, &list)
	if len(list) != 1 || list[0].Thread != "t" || list[0].Question.Text() != `Publish "Tides"?` {
		t.Fatalf("open questions: %+v", list)
	}
	to := "/questions/" + list[0].Question.ID
	b.call(t, "POST", to, `{"answer":{"publish":"perhaps"},"by":"ann"}`, http.StatusUnprocessableEntity, nil)
	b.call(t, "POST", to, `{"answer":{"publish":true},"by":"ann"}`, http.StatusAccepted, nil)
	got = append(got, b.patient(t, "t", seqOf(got), func(e graph.Event) bool { return e.Kind == graph.RunCompleted })...)
	b.call(t, "POST", to, `{"answer":{"publish":true},"by":"bob"}`, http.StatusConflict, nil)
	if f := b.follow(t, "t", seqOf(got)); f.status != http.StatusNoContent || len(f.rest(t)) > 0 {
		t.Errorf("a client that has seen everything gets status %d", f.status)
	}
	for i := range got[1:] {
		if got[i+1].Seq <= got[i].Seq || got[i].Run != run.Run {
			t.Errorf("event %d of run %s behind %d", got[i+1].Seq, got[i].Run, got[i].Seq)
		}
	}
	all := b.follow(t, "t", 0).rest(t)
	if want, have := lasting(t, all), lasting(t, got); !slices.Equal(want, have) || len(have) != 2*(length+1)+2 {
		t.Errorf("a reader that is cut off gets\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
	var st struct {
		State struct {
			Lines  []string `json:"lines"`
			Status string   `json:"status"`
		} `json:"state"`
	}
	b.call(t, "GET", "/threads/t", "", http.StatusOK, &st)
	if len(st.State.Lines) != length || st.State.Status != "published" {
		t.Errorf("the report is %+v", st)
	}
}

// The events of a run can be read through another process than the one that runs it, and the run can be cancelled through it. // E47 // E26
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent SIGTERM here")
	}
	db := place(t)
	a, b := launch(t, db, "50ms"), launch(t, db, "50ms")
	a.call(t, "POST", "/threads/t/runs", `{"topic":"潮汐"}`, http.StatusAccepted, nil)
	far := b.follow(t, "t", 0).rest(t)
	near := a.follow(t, "t", 0).rest(t)
	if want, have := lasting(t, near), lasting(t, far); !slices.Equal(want, have) || len(have) != 2*length+1 {
		t.Errorf("the other process tells\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
	b.call(t, "DELETE", "/threads/t", "", http.StatusNoContent, nil)
	rest := a.follow(t, "t", seqOf(near)).rest(t)
	if len(rest) == 0 || rest[len(rest)-1].Kind != graph.RunCancelled {
		t.Errorf("after the cancel: %v", rest)
	}
}

// Clients that go away after one event leave nothing behind, and the run goes on to its end. // E48 // report 10 // report 203
func TestClientsThatLeave(t *testing.T) {
	store := new(checkpoint.Memory)
	app, err := report(100 * time.Millisecond).Compile(graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer((&desk{view: app.View(), store: store}).handler())
	defer s.Close()
	p := &process{url: s.URL, client: s.Client()}
	before := runtime.NumGoroutine()
	p.call(t, "POST", "/threads/t/runs", `{"topic":"Tides"}`, http.StatusAccepted, nil)
	for range 20 {
		p.follow(t, "t", 0).some(t, func(graph.Event) bool { return true })
	}
	evs := p.follow(t, "t", 0).rest(t)
	if last := evs[len(evs)-1]; last.Kind != graph.RunInterrupted {
		t.Errorf("the run ends with %s", last.Kind)
	}
	p.client.CloseIdleConnections()
	for runtime.NumGoroutine() > before+2 { // the server notices that a client is gone when it next looks
		select {
		case <-t.Context().Done():
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		case <-time.After(time.Millisecond):
		}
	}
	if err := app.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// What is refused, and how. // E47
func TestRefusals(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	app, err := report(0).Compile(graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	h := (&desk{view: app.View(), store: store}).handler()
	for _, c := range []struct {
		call, body, last string
		code             int
	}{
		{"GET /threads/t", "", "", 404},
		{"GET /threads/t/events", "", "", 404},
		{"GET /threads/t/events", "", "x", 400},
		{"POST /threads/t/runs", "{", "", 400},
		{"DELETE /threads/t", "", "", 404},
		{"POST /questions/none", `{"answer":1}`, "", 409},
		{"POST /questions/none", `{`, "", 400},
		{"GET /questions", "", "", 200},
		{"PUT /questions", "", "", 405},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		req := httptest.NewRequest(method, path, strings.NewReader(c.body))
		req.Header.Set("Last-Event-ID", c.last)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != c.code || c.code < 405 && c.code >= 400 && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s, want %d", c.call, w.Code, w.Body, c.code)
		}
	}
	for i, code := range []int{202, 200} { // a repeated request starts nothing
		req := httptest.NewRequest("POST", "/threads/once/runs", strings.NewReader(`{"topic":"Tides"}`))
		req.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != code {
			t.Errorf("call %d: %d %s", i, w.Code, w.Body)
		}
	}
}

// The picture in the README is that of the graph. // E15
func TestReadme(t *testing.T) {
	t.Parallel()
	app, err := report(0).Compile(graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if picture := fmt.Sprintf("```mermaid\n%s```\n", app.Mermaid()); !strings.Contains(string(text), picture) {
		t.Errorf("README.md does not have the picture\n%s", picture)
	}
}
