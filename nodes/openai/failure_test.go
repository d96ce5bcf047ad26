package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

func body(status int, doc string) *openaitest.Error {
	return &openaitest.Error{Status: status, Body: doc}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	with := func(e *openaitest.Error, ms string) *openaitest.Error { e.RetryAfterMS = ms; return e }
	for name, c := range map[string]struct {
		err   *openaitest.Error
		kind  nodes.ErrorKind
		after time.Duration
		limit int
		text  string // in the error
	}{
		"429":                 {openaitest.RateLimited(""), nodes.KindRateLimited, 0, 0, "Rate limit reached."},
		"429, seconds":        {openaitest.RateLimited("7"), nodes.KindRateLimited, 7 * time.Second, 0, "try again after 7s"},
		"429, fraction":       {openaitest.RateLimited("0.5"), nodes.KindRateLimited, time.Second / 2, 0, ""},
		"429, past":           {openaitest.RateLimited("-3"), nodes.KindRateLimited, 0, 0, ""},
		"429, nonsense":       {openaitest.RateLimited("soon"), nodes.KindRateLimited, 0, 0, ""},
		"429, old date":       {openaitest.RateLimited("Mon, 02 Jan 2006 15:04:05 GMT"), nodes.KindRateLimited, 0, 0, ""},
		"429, endless":        {openaitest.RateLimited("1e300"), nodes.KindRateLimited, 365 * 24 * time.Hour, 0, ""},
		"429, ms first":       {with(openaitest.RateLimited("7"), "1500"), nodes.KindRateLimited, 1500 * time.Millisecond, 0, ""},
		"429, no quota":       {openaitest.NoQuota(), nodes.KindDenied, 0, 0, "insufficient_quota"},
		"429, no money":       {body(429, `{"error":{"code":"1113","message":"账户已欠费"}}`), nodes.KindDenied, 0, 0, "1113"},
		"429, length":         {body(429, `{"error":{"message":"Please reduce the length of the messages"}}`), nodes.KindRateLimited, 0, 0, ""},
		"400":                 {&openaitest.Error{Status: 400, Text: "No."}, nodes.KindInvalid, 0, 0, "No."},
		"401":                 {openaitest.Denied(), nodes.KindDenied, 0, 0, "invalid_api_key"},
		"402":                 {body(402, `{"error":{"message":"Insufficient Balance"}}`), nodes.KindDenied, 0, 0, ""},
		"403":                 {&openaitest.Error{Status: 403}, nodes.KindDenied, 0, 0, ""},
		"404":                 {body(404, `{"error":"model 'x' not found"}`), nodes.KindInvalid, 0, 0, "model 'x' not found"},
		"408":                 {&openaitest.Error{Status: 408}, nodes.KindUnavailable, 0, 0, ""},
		"409":                 {&openaitest.Error{Status: 409}, nodes.KindUnavailable, 0, 0, ""},
		"422":                 {body(422, `{"detail":[{"loc":["body"]}]}`), nodes.KindInvalid, 0, 0, `[{"loc":["body"]}]`},
		"500":                 {openaitest.Unavailable(500), nodes.KindUnavailable, 0, 0, "server_error"},
		"502, page":           {body(502, "<html>Bad Gateway</html>"), nodes.KindUnavailable, 0, 0, "a page of 24 bytes"},
		"503, text":           {body(503, "upstream connect error"), nodes.KindUnavailable, 0, 0, "upstream connect error"},
		"503, when":           {&openaitest.Error{Status: 503, RetryAfter: "2"}, nodes.KindUnavailable, 2 * time.Second, 0, ""},
		"529":                 {&openaitest.Error{Status: 529}, nodes.KindUnavailable, 0, 0, ""},
		"filter":              {openaitest.Filtered(), nodes.KindFiltered, 0, 0, "content_filter"},
		"filter, Qwen":        {body(400, `{"error":{"code":"data_inspection_failed","message":"x"}}`), nodes.KindFiltered, 0, 0, ""},
		"array":               {body(400, `[{"error":{"code":400,"message":"Bad."}}]`), nodes.KindInvalid, 0, 0, "Bad."},
		"flat":                {body(400, `{"object":"error","message":"Bad.","code":40001}`), nodes.KindInvalid, 0, 0, "Bad."},
		"too long":            {openaitest.TooLong(8192, 9000), nodes.KindContextLength, 0, 8192, "context_length_exceeded"},
		"too long, only code": {body(400, `{"error":{"code":"context_length_exceeded","message":"Too much."}}`), nodes.KindContextLength, 0, 0, ""},
		"answer too long": {body(400, `{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens"}}`),
			nodes.KindInvalid, 0, 0, ""},
	} {
		m, _ := provide(t, replies(openaitest.Reply{Error: c.err}), openai.Options{})
		_, err := m.Generate(within(t), hello(), nil)
		e, ok := errors.AsType[*nodes.ModelError](err)
		if !ok || e.Kind != c.kind || e.Status != c.err.Status || e.RetryAfter != c.after || e.Limit != c.limit || !strings.Contains(e.Error(), c.text) {
			t.Errorf("%s: %v (limit %d)", name, err, e.Limit)
		}
		if e.Model != "test" || !strings.HasPrefix(e.Provider, "127.0.0.1:") {
			t.Errorf("%s: model %q of %q", name, e.Model, e.Provider)
		}
	}
}

// Texts of real endpoints about requests that are too long.
func TestContextLength(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit int
		text  string
	}{
		{4096, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in " +
			"the messages, 1000 in the completion)."},
		{2048, "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is " +
			"2048 tokens and your request has 1900 input tokens"},
		{4097, "The decoder prompt (length 5000) is longer than the maximum model length of 4097."},
		{8192, "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens."},
		{131072, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."},
		{129024, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]"},
		{4096, "the request exceeds the available context size (4096 tokens), try increasing it"},
		{8192, "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"},
		{4098, "The input (5000 tokens) is longer than the model's context length (4098 tokens)."},
		{4099, "Requested token count exceeds the model's maximum context length of 4099 tokens."},
		{32768, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"},
		{1048576, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."},
		{200000, "prompt is too long: 210000 tokens > 200000 maximum"},
		{0, "the input length exceeds the context length"},
		{0, "input length exceeds maximum context length"},
		{0, "Please reduce the length of the messages or completion."},
	} {
		doc, err := json.Marshal(map[string]map[string]string{"error": {"message": c.text, "type": "invalid_request_error"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, status := range []int{400, 500} {
			m, _ := provide(t, replies(openaitest.Reply{Error: body(status, string(doc))}), openai.Options{})
			_, err = m.Generate(within(t), hello(), nil)
			if e, _ := errors.AsType[*nodes.ModelError](err); e == nil || e.Kind != nodes.KindContextLength || e.Limit != c.limit {
				t.Errorf("%q: %v, limit %+v", c.text, err, e)
			}
		}
	}
}

func TestRetryAfterDate(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(time.Hour).UTC()
	m, _ := provide(t, replies(openaitest.Reply{Error: openaitest.RateLimited(at.Format(http.TimeFormat))}), openai.Options{})
	_, err := m.Generate(within(t), hello(), nil)
	e, ok := errors.AsType[*nodes.ModelError](err)
	if !ok || e.RetryAfter <= 50*time.Minute || e.RetryAfter > time.Hour {
		t.Error(err)
	}
}

// An error event ends the answer, wherever it comes.
func TestErrorEvents(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]nodes.ModelError{
		`{"error":{"message":"m","type":"server_error","code":null}}`:                      {Kind: nodes.KindUnavailable, Code: "server_error"},
		`{"error":{"message":"m","type":"rate_limit_error","code":"rate_limit_exceeded"}}`: {Kind: nodes.KindRateLimited, Code: "rate_limit_exceeded"},
		`{"error":{"message":"m","code":"insufficient_quota"}}`:                            {Kind: nodes.KindDenied, Code: "insufficient_quota"},
		`{"error":{"message":"m","code":502}}`:                                             {Kind: nodes.KindUnavailable, Code: "502", Status: 502},
		`{"error":{"message":"m","code":"429"}}`:                                           {Kind: nodes.KindRateLimited, Code: "429", Status: 429},
		`{"error":{"message":"m","type":"BadRequestError","code":400}}`:                    {Kind: nodes.KindInvalid, Code: "400", Status: 400},
		`{"error":{"message":"m","type":"invalid_request_error"}}`:                         {Kind: nodes.KindInvalid, Code: "invalid_request_error"},
		`{"error":{"message":"m","code":"context_length_exceeded"}}`:                       {Kind: nodes.KindContextLength, Code: "context_length_exceeded"},
		`{"error":{"message":"m","code":"content_filter"}}`:                                {Kind: nodes.KindFiltered, Code: "content_filter"},
		`{"error":"m"}`: {Kind: nodes.KindCut},
		`{"error":{"message":"m"},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`: {Kind: nodes.KindCut},
	} {
		for _, at := range []int{1, 4, 1000} {
			r := full
			r.Error, r.Style.Break = body(200, doc), at
			m, _ := provide(t, replies(r), openai.Options{})
			a, err := m.Generate(within(t), hello(), nil)
			e, ok := errors.AsType[*nodes.ModelError](err)
			if at == 1000 { // after [DONE] nothing counts
				if err != nil {
					t.Errorf("%s after the end: %v", doc, err)
				}
				continue
			}
			if !ok || e.Kind != want.Kind || e.Code != want.Code || e.Status != want.Status || e.Text != "m" || !a.Message.Partial {
				t.Errorf("%s after %d events: %v", doc, at, err)
			}
		}
	}
}

// serve answers each request with a body as it is.
func serve(t *testing.T, kind, doc string) *openai.Model {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, doc)
	}))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); s.Close() })
	m, err := openai.New(openai.Options{BaseURL: s.URL, Model: "test", HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Bodies that no provider of this package writes.
func TestOddBodies(t *testing.T) {
	t.Parallel()
	const yes = `data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}],"error":null}` + "\n\n"
	for name, c := range map[string]struct {
		kind, doc string
		want      nodes.ErrorKind
	}{
		"no line after [DONE]":  {"text/event-stream", yes + "data: [DONE]", ""},
		"one line after [DONE]": {"text/event-stream", yes + "data:[DONE]\n", ""},
		"[DONE] cut":            {"text/event-stream", yes + "data: [DON", nodes.KindCut},
		"no type of content":    {"", yes + "data: [DONE]\n\n", ""},
		"event of errors": {"text/event-stream",
			"event: error\ndata: {\"message\":\"m\",\"code\":\"overloaded\"}\n\n" + yes + "data: [DONE]\n\n", nodes.KindUnavailable},
		"broken event":             {"text/event-stream", "data: {\"choices\n\n" + yes + "data: [DONE]\n\n", nodes.KindCut},
		"nothing":                  {"text/event-stream", "", nodes.KindCut},
		"only [DONE]":              {"text/event-stream", "data: [DONE]\n\n", nodes.KindCut},
		"a document":               {"application/json", `{"choices":[{"index":0,"message":{"content":"Yes."},"finish_reason":"stop"}]}`, nodes.KindInvalid},
		"an error with status 200": {"application/json", `{"error":{"message":"m","type":"server_error"}}`, nodes.KindUnavailable},
		"a page":                   {"text/html; charset=utf-8", "<html>Log in</html>", nodes.KindUnavailable},
		"usage before the end":     {"text/event-stream", `data: {"choices":[],"usage":{"prompt_tokens":1}}` + "\n\n" + yes + "data: [DONE]\n\n", ""},
		"arguments as an object": {"text/event-stream", `data: {"choices":[{"index":0,"delta":{"tool_calls":[` +
			`{"index":0,"id":"c1","function":{"name":"f","arguments":{"a":1}}}]}}]}` + "\n\n" + yes + "data: [DONE]\n\n", ""},
	} {
		a, err := serve(t, c.kind, c.doc).Generate(within(t), hello(), nil)
		if nodes.KindOf(err) != c.want || (err == nil) != (c.want == "") || err == nil && a.Message.Text() != "Yes." {
			t.Errorf("%s: %q, %v", name, a.Message.Text(), err)
		}
		if name == "arguments as an object" && (len(a.Message.Calls()) != 1 || a.Message.Calls()[0].Args != `{"a":1}`) {
			t.Errorf("%s: %+v", name, a.Message.Calls())
		}
	}
}

func TestNoConnection(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	m, err := openai.New(openai.Options{BaseURL: "http://secret:password@" + l.Addr().String() + "/v1", Model: "test", APIKey: key})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(within(t), hello(), nil)
	if nodes.KindOf(err) != nodes.KindUnavailable || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "password") {
		t.Error(err)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	m, p := provide(t, replies(openaitest.Reply{Text: "Yes."}), openai.Options{})
	if _, err := m.Generate(ctx, hello(), nil); !errors.Is(err, context.DeadlineExceeded) || len(p.Requests()) > 0 {
		t.Error(err)
	}
}

// It asks once: whoever calls it retries.
func TestNoRetries(t *testing.T) {
	t.Parallel()
	m, p := provide(t, replies(openaitest.Reply{Error: openaitest.Unavailable(503)}, openaitest.Reply{Text: "Yes."}), openai.Options{})
	if _, err := m.Generate(within(t), hello(), nil); err == nil || len(p.Requests()) != 1 {
		t.Errorf("%d requests, %v", len(p.Requests()), err)
	}
}

// No way of printing a model or its errors shows the key, even if the endpoint repeats it.
func TestNoKeyInErrors(t *testing.T) {
	t.Parallel()
	said := fmt.Sprintf(`{"error":{"message":"Incorrect API key provided: %s.","code":"bad %s"}}`, key, key)
	broken := full
	broken.Error, broken.Style.Break = body(200, said), 2
	m, _ := provide(t, replies(openaitest.Reply{Error: body(401, said)}, openaitest.Reply{Error: body(500, key)}, broken), openai.Options{})
	var log bytes.Buffer
	for range 3 {
		_, err := m.Generate(within(t), hello(), nil)
		e, ok := errors.AsType[*nodes.ModelError](err)
		if !ok {
			t.Fatal(err)
		}
		fmt.Fprintf(&log, "%v %+v %#v %q\n", err, err, *e, e.Err)
		slog.New(slog.NewJSONHandler(&log, nil)).Error("failed", "err", err, "model", m)
	}
	fmt.Fprintf(&log, "%v %+v %#v %s\n", m, m, m, m)
	if strings.Contains(log.String(), key) || !strings.Contains(log.String(), "[key]") {
		t.Error(log.String())
	}
}

// Nor does half of it stay where a text is cut, nor an address that the endpoint sends the request on to.
func TestNoKeyAtTheEndOfErrors(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			fmt.Fprintf(w, `{"error":{"message":"%s%s"}}`, strings.Repeat("x", 1000-len(key)/2), key)
		},
		"redirect": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://%zz?key="+key)
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
	} {
		s := httptest.NewServer(answer)
		t.Cleanup(s.Close)
		m, err := openai.New(openai.Options{BaseURL: s.URL, Model: "test", APIKey: key, HTTPClient: s.Client()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.Generate(within(t), hello(), nil); err == nil || strings.Contains(fmt.Sprintf("%v %#v", err, err), key[:len(key)/2]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    openai.Options
		says string
	}{
		{openai.Options{}, "Options.Model"},
		{openai.Options{Model: "m", BaseURL: "api.example.com/v1"}, "Options.BaseURL"},
		{openai.Options{Model: "m", BaseURL: "ftp://api.example.com"}, "Options.BaseURL"},
		{openai.Options{Model: "m", APIKey: key + "\n"}, "Options.APIKey"},
		{openai.Options{Model: "m", MaxTokens: -1}, "MaxTokens"},
	} {
		if _, err := openai.New(c.o); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), key) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		url, key, model string
		ok              bool
		says            string
	}{
		{"", "", "", false, ""},
		{"", key, "", false, "OPENAI_MODEL is not set"},
		{"", "", "m", false, "OPENAI_API_KEY"},
		{"nowhere", key, "m", false, "OPENAI_BASE_URL"},
		{"", key, "m", true, ""},
		{"http://localhost:11434/v1", "", "m", true, ""},
	} {
		t.Setenv("OPENAI_BASE_URL", c.url)
		t.Setenv("OPENAI_API_KEY", c.key)
		t.Setenv("OPENAI_MODEL", c.model)
		m, ok, err := openai.FromEnv()
		if ok != c.ok || ok != (m != nil) || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, %v, %v", c, m, ok, err)
		}
	}
}
