package openaitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A Config says what a provider answers.
type Config struct {
	Answer  func(Request) Reply // concurrent if the requests are; nil: Replies
	Replies []Reply             // one for each request that was not refused, in their order; then status 500
	Limit   int                 // tokens that a request may have, by Request.Tokens; 0: any number
	APIKey  string              // that requests must carry; "": any, or none

	Embed func(EmbeddingRequest) ([][]float32, *Error) // the vectors of the texts, or why there are none; nil: Vector of each
}

// A Provider is a running endpoint. Its handler serves POST /v1/chat/completions and /v1/embeddings, and GET /v1/models.
type Provider struct {
	URL string // the base URL, with /v1

	c      Config
	server *httptest.Server

	mu       sync.Mutex
	next     int
	requests []Request
	refused  []string

	embeddings []EmbeddingRequest
}

// New starts a provider on a free local port. Close it.
func New(c Config) *Provider {
	p := &Provider{c: c}
	p.server = httptest.NewServer(p)
	p.URL = p.server.URL + "/v1"
	return p
}

// Close ends the provider, breaks the connections of requests that are still being answered, and waits for these.
func (p *Provider) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// Requests returns what was asked so far and not refused as malformed, in order.
func (p *Provider) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Refused returns why requests were refused as malformed. A test of a client wants it to be empty.
func (p *Provider) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

// ServeHTTP answers one request.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case p.c.APIKey != "" && key != p.c.APIKey:
		Denied().write(w)
	case r.URL.Path == "/v1/models" && r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"object":"list","data":[{"id":"test","object":"model","created":1,"owned_by":"test"}]}`)
	case r.URL.Path == "/v1/chat/completions" && r.Method == http.MethodPost:
		p.chat(w, r, key)
	case r.URL.Path == "/v1/embeddings" && r.Method == http.MethodPost:
		p.embed(w, r, key)
	default:
		text := fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path)
		(&Error{Status: 404, Type: "invalid_request_error", Text: text}).write(w)
	}
}

func (p *Provider) chat(w http.ResponseWriter, r *http.Request, key string) {
	doc, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	q, fault := read(doc)
	if fault != "" {
		p.refuse(w, fault)
		return
	}
	q.APIKey = key
	reply := p.answer(q)
	switch {
	case reply.Error != nil && reply.Style.Break == 0:
		reply.Error.write(w)
	case !q.Stream:
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, reply.completion(q))
	default:
		reply.send(w, r, q)
	}
}

func read(doc []byte) (Request, string) {
	var b body
	if !utf8.Valid(doc) {
		return Request{}, "the body is not UTF-8"
	}
	if err := json.Unmarshal(doc, &b); err != nil {
		return Request{}, "we could not parse the JSON body of your request: " + err.Error()
	}
	if fault := check(b); fault != "" {
		return Request{}, fault
	}
	q := b.request()
	q.Body = string(doc)
	return q, ""
}

func (p *Provider) refuse(w http.ResponseWriter, fault string) {
	p.mu.Lock()
	p.refused = append(p.refused, fault)
	p.mu.Unlock()
	(&Error{Status: 400, Type: "invalid_request_error", Text: fault}).write(w)
}

// answer records the request and returns its reply.
func (p *Provider) answer(q Request) Reply {
	p.mu.Lock()
	p.requests = append(p.requests, q)
	p.mu.Unlock()
	if n := q.Tokens(); p.c.Limit > 0 && n > p.c.Limit {
		return Reply{Error: TooLong(p.c.Limit, n)}
	}
	if p.c.Answer != nil {
		return p.c.Answer(q)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == len(p.c.Replies) {
		return Reply{Error: &Error{Status: 500, Type: "server_error", Text: "openaitest: Config.Replies has no reply left"}}
	}
	p.next++
	return p.c.Replies[p.next-1]
}

// send streams the reply, as far as its cut lets it.
func (r Reply) send(w http.ResponseWriter, q *http.Request, asked Request) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	left := -1
	if r.Cut != nil {
		left = r.Cut.After
	}
	out.Flush() // a connection that is cut at the first byte has had its headers
	for i, event := range r.Events(asked) {
		if !r.wait(q) {
			return
		}
		if left >= 0 && len(event) > left {
			io.WriteString(w, event[:left])
			out.Flush()
			if !r.Cut.Clean {
				panic(http.ErrAbortHandler)
			}
			return
		}
		if left >= 0 {
			left -= len(event)
		}
		if _, err := io.WriteString(w, event); err != nil || out.Flush() != nil {
			return
		}
		if r.Sent != nil {
			r.Sent(i)
		}
	}
}

// wait reports whether the client is still there after the delay.
func (r Reply) wait(q *http.Request) bool {
	if r.Delay <= 0 {
		return true
	}
	t := time.NewTimer(r.Delay)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-q.Context().Done():
		return false
	}
}
