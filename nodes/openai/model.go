package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/holdfast-go/holdfast/nodes"
)

const (
	maxRefusal = 64 << 10               // bytes that are read of an error's body
	drainTime  = 100 * time.Millisecond // how long the end of a body is waited for, so that its connection can be used again
)

// errSilent is behind the error of a request whose endpoint sent nothing for too long.
var errSilent = errors.New("the endpoint sent nothing for longer than Options.IdleTimeout")

// A Model is a model at one endpoint. It is safe for concurrent use.
type Model struct {
	endpoint
	o    Options
	chat openai.ChatCompletionService
}

var _ nodes.Model = (*Model)(nil)

// New returns the model that the options name. It connects to nothing.
func New(o Options) (*Model, error) {
	o = o.withDefaults()
	at, err := o.check()
	if err != nil {
		return nil, err
	}
	opts := append(at.options(), option.WithHTTPClient(o.HTTPClient), option.WithHeader("Accept", "text/event-stream"))
	// A service reads nothing of the environment, openai.NewClient does.
	return &Model{at, o, openai.NewChatCompletionService(opts...)}, nil
}

// Generate asks the model. See nodes.Model for what it promises, and the package for how.
func (m *Model) Generate(ctx context.Context, r nodes.Request, stream func(nodes.Delta)) (nodes.Answer, error) {
	a := newAssembly(stream)
	err := m.run(ctx, r, a)
	if err == nil {
		err = a.end(r.Output != nil)
	}
	if err != nil {
		return a.partial(), m.failure(ctx, err, a.started)
	}
	return a.whole(), nil
}

// run sends the request and reads events into the assembly until [DONE].
func (m *Model) run(caller context.Context, r nodes.Request, a *assembly) error {
	ctx, cancel := context.WithCancelCause(caller)
	defer cancel(nil)
	idle := time.AfterFunc(m.o.IdleTimeout, func() { cancel(errSilent) })
	defer idle.Stop()
	resp, err := m.send(ctx, r)
	if err == nil {
		defer resp.Body.Close()
		a.started = true
		err = m.read(ctx, resp, idle, a)
	}
	if err != nil && context.Cause(ctx) == errSilent {
		return errSilent
	}
	return err
}

func (m *Model) send(ctx context.Context, r nodes.Request) (*http.Response, error) {
	var resp *http.Response
	// The stream that it returns hides [DONE], and with it whether the answer is whole. The response is read here instead.
	s := m.chat.NewStreaming(ctx, m.params(r), option.WithResponseInto(&resp))
	if err := s.Err(); err != nil {
		return nil, err
	}
	return resp, nil
}

func (m *Model) read(ctx context.Context, resp *http.Response, idle *time.Timer, a *assembly) error {
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind {
	case "text/html":
		return &nodes.ModelError{Kind: nodes.KindUnavailable, Text: "it answered with a page: Options.BaseURL goes up to and with /v1"}
	case "application/json":
		doc, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
		if err != nil {
			return err
		}
		return m.noStream(doc)
	}
	alive := &aliveReader{resp.Body, idle, m.o.IdleTimeout}
	// A last event may lack the empty line that ends it. What was cut inside its JSON is none with that line either.
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(alive, strings.NewReader("\n\n")), resp.Body}
	events := ssestream.NewDecoder(resp)
	for ctx.Err() == nil && events.Next() {
		e := events.Event()
		data := bytes.TrimSpace(e.Data)
		if string(data) == "[DONE]" {
			idle.Reset(drainTime)
			io.CopyN(io.Discard, alive.r, 4<<10)
			a.done = true
			return nil
		}
		if err := m.event(e.Type, data, a); err != nil {
			return err
		}
	}
	return errors.Join(ctx.Err(), events.Err()) // nil: a clean end without [DONE], which is a cut all the same
}

func (m *Model) event(kind string, data []byte, a *assembly) error {
	if len(data) == 0 {
		return nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return errBroken
	}
	if kind == "error" || len(c.Error) > 0 && string(c.Error) != "null" {
		return m.refusal(0, nil, data)
	}
	a.add(c)
	return nil
}

// An aliveReader winds the timer up again whenever something arrives.
type aliveReader struct {
	r    io.Reader
	idle *time.Timer
	time time.Duration
}

func (a *aliveReader) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if n > 0 {
		a.idle.Reset(a.time)
	}
	return n, err
}
