package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
)

// A slowEndpoint writes one piece a minute, and then says nothing more. Without pieces it does not even answer.
type slowEndpoint struct{ pieces []string }

func (s slowEndpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(s.pieces) == 0 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	in, out := io.Pipe()
	context.AfterFunc(r.Context(), func() { out.CloseWithError(r.Context().Err()) })
	go func() {
		for _, p := range s.pieces {
			time.Sleep(time.Minute)
			io.WriteString(out, p)
		}
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: in, Request: r}, nil
}

// An endpoint that falls silent is given up, before its answer and in the middle of it, and one that is only slow is not: a
// comment is a sign of life too.
func TestSilence(t *testing.T) {
	t.Parallel()
	const yes = `data: {"choices":[{"index":0,"delta":{"content":"Yes"},"finish_reason":"stop"}]}` + "\n\n"
	for name, c := range map[string]struct {
		pieces []string
		want   nodes.ErrorKind
		text   string
	}{
		"no answer":  {nil, nodes.KindUnavailable, ""},
		"no end":     {[]string{yes}, nodes.KindCut, "Yes"},
		"no [DONE]":  {[]string{": alive\n\n", ": alive\n\n", yes, "data: [DO"}, nodes.KindCut, "Yes"},
		"slow":       {[]string{": alive\n\n", ": alive\n\n", yes, ": alive\n\n", "data: [DONE]\n\n"}, "", "Yes"},
		"never ends": {[]string{yes + "data: [DONE]\n\n"}, "", "Yes"},
	} {
		synctest.Test(t, func(t *testing.T) {
			m, err := openai.New(openai.Options{BaseURL: "http://localhost/v1", Model: "test", IdleTimeout: 90 * time.Second,
				HTTPClient: &http.Client{Transport: slowEndpoint{c.pieces}}})
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			a, err := m.Generate(t.Context(), hello(), nil)
			if nodes.KindOf(err) != c.want || a.Message.Text() != c.text || err != nil && !strings.Contains(err.Error(), "IdleTimeout") {
				t.Errorf("%s: %q, %v", name, a.Message.Text(), err)
			}
			if took := time.Since(begin); name == "never ends" && took > time.Minute+time.Second {
				t.Errorf("the end of the body was waited for until %v", took)
			}
		})
	}
}

// The end of a body is waited for a moment, or each answer would cost a connection.
func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"Yes"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done(): // the client did not wait
		case <-time.After(10 * time.Millisecond):
		}
	}))
	defer s.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	m, err := openai.New(openai.Options{BaseURL: s.URL, Model: "test", HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	reused := 0
	ctx := httptrace.WithClientTrace(within(t), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if c.Reused {
			reused++
		}
	}})
	for range 20 {
		if _, err := m.Generate(ctx, hello(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if reused == 0 {
		t.Error("no connection was used again")
	}
}
