package langchain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms/openai"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/langchain"
)

// client is langchaingo's own client for OpenAI against a server of ours.
func client(t *testing.T, handle http.HandlerFunc, o langchain.Options) *langchain.Model {
	t.Helper()
	srv := httptest.NewServer(handle)
	t.Cleanup(srv.Close)
	llm, err := openai.New(openai.WithBaseURL(srv.URL), openai.WithToken("none"), openai.WithModel("m"), openai.WithHTTPClient(srv.Client()))
	if err != nil {
		t.Fatal(err)
	}
	return langchain.New(llm, o)
}

// lines answers with events of a stream, each of them a line of data.
func lines(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
}

func delta(fields, reason string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}`, fields, reason)
}

func text(s string) string { return delta(fmt.Sprintf(`"content":%q`, s), "null") }

// begins is the first part of a call, adds is what follows.
func begins(index int, id, args string) string {
	return delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":"f%d","arguments":%q}}]`, index, id, index, args), "null")
}

func adds(index int, args string) string {
	return delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"function":{"arguments":%q}}]`, index, args), "null")
}

func stops(reason string) string { return delta("", fmt.Sprintf("%q", reason)) }

// What the package says of langchaingo's client for OpenAI, fault by fault.
func TestFaultsOfTheOpenAIClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		events []string
		want   nodes.ErrorKind // "": the fault cannot be seen
		text   string
		calls  string // names and arguments
	}{
		{"a whole answer", []string{text("Hello"), text(" there"), stops("stop"), "[DONE]"}, "", "Hello there", ""},
		{"calls one after the other", []string{begins(0, "a", ""), adds(0, `{"x":`), adds(0, `1}`), begins(1, "b", ""), adds(1, `{"y":2}`), stops("tool_calls"), "[DONE]"},
			"", "", `f0{"x":1} f1{"y":2}`},
		{"text and a call", []string{text("I look."), begins(0, "a", "{}"), stops("tool_calls"), "[DONE]"}, "", "I look.", "f0{}"},

		{"caught: cut before the end", []string{text("Hel")}, nodes.KindCut, "Hel", ""},
		{"caught: cut in a call", []string{begins(0, "a", `{"x":`)}, nodes.KindCut, "", ""},
		{"caught: an error in the stream", []string{text("Hel"), `{"error":{"message":"overloaded","code":"503"}}`}, nodes.KindCut, "Hel", ""},
		{"caught: interleaved calls", []string{begins(0, "a", ""), begins(1, "b", ""), adds(0, `{"x":1}`), adds(1, `{"y":2}`), stops("tool_calls"), "[DONE]"},
			nodes.KindCut, "", ""},
		{"caught: interleaved calls, the second without arguments", []string{begins(0, "a", ""), begins(1, "b", ""), adds(0, `{"x":1}`), stops("tool_calls"), "[DONE]"},
			nodes.KindCut, "", ""},
		{"caught: a call without a type", []string{delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f0","arguments":"{}"}}]`, "null"), stops("tool_calls"), "[DONE]"},
			nodes.KindCut, "", ""},
		{"caught: a second call without a type", []string{begins(0, "a", "{}"),
			delta(`"tool_calls":[{"index":1,"id":"b","function":{"name":"f1","arguments":"{}"}}]`, "null"), stops("tool_calls"), "[DONE]"}, nodes.KindCut, "", ""},
		{"caught: a type on every part", []string{begins(0, "a", `{"x":`), begins(0, "a", `1}`), stops("tool_calls"), "[DONE]"}, nodes.KindCut, "", ""},
		{"caught: a line that is too long", []string{text(strings.Repeat("x", 70000)), stops("stop"), "[DONE]"}, nodes.KindCut, "", ""},
		{"refused although it is whole: a choice after the end", []string{text("Hello"), stops("stop"), delta("", "null"), "[DONE]"}, nodes.KindCut, "Hello", ""},
		{"not seen: a line that is no JSON", []string{text("Pay "), `{"choices":[{"delta":{"content":"not "`, text("now"), stops("stop"), "[DONE]"},
			"", "Pay now", ""},
		{"not seen: parts of the first call are those of the second", []string{begins(0, "a", "{}"), begins(1, "b", ""), adds(0, `{"x":1}`), stops("tool_calls"), "[DONE]"},
			"", "", `f0{} f1{"x":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var streamed strings.Builder
			a, err := client(t, lines(c.events...), langchain.Options{}).Generate(t.Context(), ask("q"), func(d nodes.Delta) { streamed.WriteString(d.Text) })
			if nodes.KindOf(err) != c.want || (err != nil) != (c.want != "") {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if a.Message.Text() != c.text || streamed.String() != c.text || a.Message.Partial != (c.want != "") {
				t.Errorf("got %+v, streamed %q", a, streamed.String())
			}
			var calls []string
			for _, call := range a.Message.Calls() {
				calls = append(calls, call.Name+call.Args)
			}
			if got := strings.Join(calls, " "); got != c.calls {
				t.Errorf("calls: got %s, want %s", got, c.calls)
			}
		})
	}
}

// report 37
func TestOpenAIClientIsCancelled(t *testing.T) {
	t.Parallel()
	model := client(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "data: %s\n\n", text("half"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, langchain.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	a, err := model.Generate(ctx, ask("q"), func(nodes.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) || a.Message.Text() != "half" || !a.Message.Partial {
		t.Errorf("got %+v, %v", a, err)
	}
}

// Without a stream, calls come as they are, and a document that is cut is an error.
func TestOpenAIClientWithoutStream(t *testing.T) {
	t.Parallel()
	const doc = `{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"I look.","tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","function":{"name":"g","arguments":"{}"}}]}}],` +
		`"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}`
	send := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, s) }
	}
	a, err := client(t, send(doc), langchain.Options{NoStream: true}).Generate(t.Context(), ask("q"), func(nodes.Delta) {})
	if err != nil || len(a.Message.Calls()) != 2 || a.Message.Calls()[0].Args != `{"x":1}` || a.Usage != (nodes.Usage{Input: 9, Cached: 2, Output: 4}) {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := client(t, send(doc[:200]), langchain.Options{NoStream: true}).Generate(t.Context(), ask("q"), nil); nodes.KindOf(err) != nodes.KindCut {
		t.Errorf("a cut document: %v", err)
	}
}

func TestOpenAIClientSends(t *testing.T) {
	t.Parallel()
	var body []byte
	model := client(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		lines(text("ok"), stops("stop"))(w, r)
	}, langchain.Options{})
	call := message.Call{ID: "a", Name: "f", Args: `{"x":1}`}
	_, err := model.Generate(t.Context(), nodes.Request{NoCalls: true, Tools: []working.Tool{{Name: "f"}}, Messages: []message.Message{
		message.System("s"), message.User("u", message.ImageData("image/png", []byte{1})), message.Assistant("", call), message.Tool(call.Done("r"))}},
		func(nodes.Delta) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"role":"system","content":"s"}`, `"url":"data:image/png;base64,AQ=="`, `"tool_choice":"none"`,
		`{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}`, `{"role":"tool","content":"r","tool_call_id":"a"}`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("%s is missing in %s", want, body)
		}
	}
}

func TestOpenAIClientErrors(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]nodes.ErrorKind{400: nodes.KindInvalid, 401: nodes.KindDenied, 429: nodes.KindRateLimited, 503: nodes.KindUnavailable} {
		model := client(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, `{"error":{"message":"words"}}`)
		}, langchain.Options{})
		_, err := model.Generate(t.Context(), ask("q"), nil)
		e, ok := errors.AsType[*nodes.ModelError](err)
		if !ok || e.Kind != want || e.Status != status || e.Provider != "openai" {
			t.Errorf("%d: got %v", status, err)
		}
	}
}
