package langchain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/llms"
	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/langchain"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// R87: each of langchaingo's embedders makes vectors for the boxes that search.
var _ memory.Embedder = embeddings.Embedder(nil)

// A stub is a langchaingo model that a test scripts.
type stub func(ctx context.Context, in []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error)

func (s stub) GenerateContent(ctx context.Context, in []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, set := range options {
		set(&o)
	}
	return s(ctx, in, o)
}

func (s stub) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.New("not asked for")
}

// says answers with choices, whose text it streams in pieces if it is asked to.
func says(choices ...*llms.ContentChoice) stub {
	return func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		for _, c := range choices {
			for piece := range slices.Chunk([]byte(c.Content), 3) {
				if o.StreamingFunc != nil {
					if err := o.StreamingFunc(ctx, piece); err != nil {
						return nil, err
					}
				}
			}
		}
		return &llms.ContentResponse{Choices: choices}, nil
	}
}

func ask(text string) nodes.Request {
	return nodes.Request{Messages: []message.Message{message.User(text)}}
}

func generate(t *testing.T, s stub, o langchain.Options, r nodes.Request) (nodes.Answer, []nodes.Delta, error) {
	t.Helper()
	var deltas []nodes.Delta
	a, err := langchain.New(s, o).Generate(t.Context(), r, func(d nodes.Delta) { deltas = append(deltas, d) })
	return a, deltas, err
}

// put puts together what was streamed.
func put(deltas []nodes.Delta) (text, reasoning string, calls []message.Call) {
	for _, d := range deltas {
		if !utf8.ValidString(d.Text) {
			text += "<half a character>"
		}
		text += d.Text
		reasoning += d.Reasoning
		if d.Call != nil {
			calls = append(calls, message.Call{ID: d.Call.ID, Name: d.Call.Name, Args: d.Call.Args})
		}
	}
	return text, reasoning, calls
}

func toolCall(id, name, args string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

func TestMessagesAreConverted(t *testing.T) {
	t.Parallel()
	text := func(s string) llms.ContentPart { return llms.TextContent{Text: s} }
	result := func(id, name, s string) llms.ContentPart {
		return llms.ToolCallResponse{ToolCallID: id, Name: name, Content: s}
	}
	mc := func(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: role, Parts: parts}
	}
	a, b := message.Call{ID: "a", Name: "look", Args: `{"z":1,"a":2}`}, message.Call{ID: "b", Name: "see", Args: `{}`}
	png := message.ImageData("image/png", []byte{1, 2})
	seen := b.Ended(message.StatusError, "no light")
	shown := a.Done("a picture")
	shown.Parts = append(shown.Parts, png)
	step := []message.Message{message.User("q"), message.Assistant("I look.", a, b), message.Tool(shown, seen), message.Assistant("done")}
	human, ai, tool := llms.ChatMessageTypeHuman, llms.ChatMessageTypeAI, llms.ChatMessageTypeTool
	images := func(i llms.ContentPart) llms.MessageContent {
		return mc(human, text("Images of the result of look (a):"), i)
	}
	raw := llms.BinaryContent{MIMEType: "image/png", Data: []byte{1, 2}}
	callA, callB := toolCall("a", "look", `{"z":1,"a":2}`), toolCall("b", "see", `{}`)
	resultA, resultB := result("a", "look", "a picture"), result("b", "see", "[error] no light")
	for _, c := range []struct {
		name, provider string
		in             []message.Message
		want           []llms.MessageContent
	}{
		{"roles", "", []message.Message{message.System("s"), message.User("u"), message.Assistant("a")},
			[]llms.MessageContent{mc(llms.ChatMessageTypeSystem, text("s")), mc(human, text("u")), mc(ai, text("a"))}},
		{"texts that follow each other", "", []message.Message{message.User("u", message.Text("v"))},
			[]llms.MessageContent{mc(human, text("u\nv"))}},
		{"images in their place", "", []message.Message{message.User("u", png, message.Text("v"), message.ImageURL("https://x/y"))},
			[]llms.MessageContent{mc(human, text("u"), raw, text("v"), llms.ImageURLContent{URL: "https://x/y"})}},
		{"one text for ollama", "ollama", []message.Message{message.User("u", png, message.Text("v"))},
			[]llms.MessageContent{mc(human, raw, text("u\nv"))}},
		{"bytes for openai", "openai", []message.Message{message.User("u", png)},
			[]llms.MessageContent{mc(human, text("u"), llms.ImageURLContent{URL: "data:image/png;base64,AQI="})}},
		{"a step", "", step, []llms.MessageContent{mc(human, text("q")), mc(ai, text("I look."), callA, callB),
			mc(tool, resultA), mc(tool, resultB), images(raw), mc(ai, text("done"))}},
		{"a step for anthropic", "anthropic", step, []llms.MessageContent{mc(human, text("q")), mc(ai, text("I look.")),
			mc(ai, callA), mc(ai, callB), mc(tool, resultA), mc(tool, resultB), images(raw), mc(ai, text("done"))}},
		{"a step for googleai", "googleai", step, []llms.MessageContent{mc(human, text("q")), mc(ai, text("I look."), callA, callB),
			mc(tool, resultA, resultB), images(raw), mc(ai, text("done"))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []llms.MessageContent
			s := stub(func(_ context.Context, in []llms.MessageContent, _ llms.CallOptions) (*llms.ContentResponse, error) {
				got = in
				return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "x", StopReason: "stop"}}}, nil
			})
			before, err := message.Encode(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := generate(t, s, langchain.Options{Provider: c.provider}, nodes.Request{Messages: c.in}); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %#v\nwant %#v", got, c.want)
			}
			if after, err := message.Encode(c.in); err != nil || string(after) != string(before) {
				t.Errorf("the request was written to: %v", err)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	tool := working.Tool{Name: "look", Description: "looks", Schema: `{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}}}`}
	out, err := json.Marshal(map[string]string{"type": "object"})
	if err != nil {
		t.Fatal(err)
	}
	form := &nodes.Output{Name: "form", Schema: out}
	for _, c := range []struct {
		name    string
		options langchain.Options
		request nodes.Request
		check   func(o llms.CallOptions, in []llms.MessageContent) bool
	}{
		{"tools", langchain.Options{}, nodes.Request{Tools: []working.Tool{tool, {Name: "now"}}}, func(o llms.CallOptions, _ []llms.MessageContent) bool {
			schema, err := json.Marshal(o.Tools[0].Function.Parameters)
			empty, err2 := json.Marshal(o.Tools[1].Function.Parameters)
			return err == nil && err2 == nil && o.Tools[0].Function.Name == "look" && o.Tools[0].Function.Description == "looks" &&
				strings.Contains(string(schema), "9007199254740993") && string(empty) == `{"properties":{},"type":"object"}` && o.ToolChoice == nil
		}},
		{"no calls", langchain.Options{}, nodes.Request{Tools: []working.Tool{tool}, NoCalls: true},
			func(o llms.CallOptions, _ []llms.MessageContent) bool {
				return o.ToolChoice == "none" && len(o.Tools) == 1
			}},
		{"no calls without tools", langchain.Options{}, nodes.Request{NoCalls: true},
			func(o llms.CallOptions, _ []llms.MessageContent) bool { return o.ToolChoice == nil }},
		{"JSON mode tells the schema", langchain.Options{}, nodes.Request{Output: form}, func(o llms.CallOptions, in []llms.MessageContent) bool {
			return o.JSONMode && in[0].Role == llms.ChatMessageTypeSystem && strings.Contains(fmt.Sprint(in[0].Parts), `{"type":"object"}`)
		}},
		{"no JSON mode beside tools for Google", langchain.Options{Provider: "googleai"}, nodes.Request{Output: form, Tools: []working.Tool{tool}},
			func(o llms.CallOptions, in []llms.MessageContent) bool {
				return !o.JSONMode && strings.Contains(fmt.Sprint(in[0].Parts), `{"type":"object"}`)
			}},
		{"the program's own", langchain.Options{Model: "m", Call: []llms.CallOption{llms.WithMaxTokens(7), llms.WithModel("other")}}, nodes.Request{},
			func(o llms.CallOptions, _ []llms.MessageContent) bool { return o.MaxTokens == 7 && o.Model == "m" }},
		{"a stream", langchain.Options{}, nodes.Request{},
			func(o llms.CallOptions, _ []llms.MessageContent) bool {
				return o.StreamingFunc != nil && o.StreamingReasoningFunc != nil
			}},
		{"no stream", langchain.Options{NoStream: true}, nodes.Request{},
			func(o llms.CallOptions, _ []llms.MessageContent) bool {
				return o.StreamingFunc == nil && o.StreamingReasoningFunc == nil
			}},
		{"no stream of tools from bedrock", langchain.Options{Provider: "bedrock"}, nodes.Request{Tools: []working.Tool{tool}},
			func(o llms.CallOptions, _ []llms.MessageContent) bool { return o.StreamingFunc == nil }},
		{"a stream from bedrock", langchain.Options{Provider: "bedrock"}, nodes.Request{},
			func(o llms.CallOptions, _ []llms.MessageContent) bool { return o.StreamingFunc != nil }},
		{"no stream without a reason to stop", langchain.Options{Provider: "ollama"}, nodes.Request{},
			func(o llms.CallOptions, _ []llms.MessageContent) bool { return o.StreamingFunc == nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.request.Messages = []message.Message{message.User("u")}
			asked := false
			s := stub(func(_ context.Context, in []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
				asked = c.check(o, in)
				return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "x", StopReason: "stop"}}}, nil
			})
			if _, _, err := generate(t, s, c.options, c.request); err != nil || !asked {
				t.Errorf("asked as it should: %v; %v", asked, err)
			}
		})
	}
}

func TestSchemaIsToldInTheSystemMessage(t *testing.T) {
	t.Parallel()
	var got []llms.MessageContent
	s := stub(func(_ context.Context, in []llms.MessageContent, _ llms.CallOptions) (*llms.ContentResponse, error) {
		got = in
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "{}", StopReason: "stop"}}}, nil
	})
	r := nodes.Request{Messages: []message.Message{message.System("Be brief."), message.User("u")}, Output: &nodes.Output{Schema: []byte(`{"type":"object"}`)}}
	if _, _, err := generate(t, s, langchain.Options{}, r); err != nil {
		t.Fatal(err)
	}
	system, _ := got[0].Parts[0].(llms.TextContent)
	if len(got) != 2 || !strings.HasPrefix(system.Text, "Be brief.\n\n") || !strings.HasSuffix(system.Text, `{"type":"object"}`) {
		t.Errorf("got %#v", got)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, provider string
		choices        []*llms.ContentChoice
		text, thought  string
		calls          []message.Call
		stop           nodes.Stop
		usage          nodes.Usage
	}{
		{"text", "", []*llms.ContentChoice{{Content: "Hello, Zoë. 你好😀", StopReason: "stop"}}, "Hello, Zoë. 你好😀", "", nil, nodes.StopEnd, nodes.Usage{}},
		{"length", "", []*llms.ContentChoice{{Content: "a", StopReason: "length"}}, "a", "", nil, nodes.StopLength, nodes.Usage{}},
		{"length of Google", "", []*llms.ContentChoice{{Content: "a", StopReason: "FinishReasonMaxTokens"}}, "a", "", nil, nodes.StopLength, nodes.Usage{}},
		{"calls", "", []*llms.ContentChoice{{StopReason: "tool_calls", ToolCalls: []llms.ToolCall{toolCall("1", "f", `{"b": 1,"a":2}`), toolCall("2", "g", `{}`)}}},
			"", "", []message.Call{{ID: "1", Name: "f", Args: `{"b": 1,"a":2}`}, {ID: "2", Name: "g", Args: "{}"}}, nodes.StopEnd, nodes.Usage{}},
		{"a call that is no JSON", "", []*llms.ContentChoice{{StopReason: "tool_calls", ToolCalls: []llms.ToolCall{toolCall("1", "f", `{"b":`)}}},
			"", "", []message.Call{{ID: "1", Name: "f", Args: `{"b":`}}, nodes.StopEnd, nodes.Usage{}},
		{"the old form of a call", "", []*llms.ContentChoice{{StopReason: "function_call", FuncCall: &llms.FunctionCall{Name: "f", Arguments: "{}"}}},
			"", "", []message.Call{{Name: "f", Args: "{}"}}, nodes.StopEnd, nodes.Usage{}},
		{"reasoning and usage of openai", "openai", []*llms.ContentChoice{{Content: "a", ReasoningContent: "hm", StopReason: "stop", GenerationInfo: map[string]any{
			"PromptTokens": 10, "CompletionTokens": 5, "PromptCachedTokens": 4, "CompletionReasoningTokens": 3, "ThinkingContent": "hm"}}},
			"a", "hm", nil, nodes.StopEnd, nodes.Usage{Input: 10, Cached: 4, Output: 5, Reasoning: 3}},
		{"blocks of anthropic", "anthropic", []*llms.ContentChoice{
			{StopReason: "tool_use", GenerationInfo: map[string]any{"ThinkingContent": "hm", "ThinkingSignature": "sig", "InputTokens": 10}},
			{Content: "I ", StopReason: "tool_use"}, {Content: "look.", StopReason: "tool_use"},
			{StopReason: "tool_use", ToolCalls: []llms.ToolCall{toolCall("1", "f", "{}")}, GenerationInfo: map[string]any{
				"InputTokens": 10, "OutputTokens": 5, "CacheReadInputTokens": 100, "CacheCreationInputTokens": 20}}},
			"I look.", "hm", []message.Call{{ID: "1", Name: "f", Args: "{}"}}, nodes.StopEnd, nodes.Usage{Input: 130, Cached: 100, Output: 5}},
		{"usage of google", "googleai", []*llms.ContentChoice{{Content: "a", StopReason: "FinishReasonStop", GenerationInfo: map[string]any{
			"input_tokens": int32(10), "PromptTokens": int32(10), "CompletionTokens": int32(5), "CachedTokens": int32(4), "ThinkingTokens": 0}}},
			"a", "", nil, nodes.StopEnd, nodes.Usage{Input: 10, Cached: 4, Output: 5}},
		{"usage of mistral", "mistral", []*llms.ContentChoice{{Content: "a", StopReason: "stop", GenerationInfo: map[string]any{
			"usage": struct {
				PromptTokens     int `json:"prompt_tokens"`
				CompletionTokens int `json:"completion_tokens"`
			}{10, 5}}}}, "a", "", nil, nodes.StopEnd, nodes.Usage{Input: 10, Output: 5}},
	} {
		for _, noStream := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " no stream ", noStream), func(t *testing.T) {
				t.Parallel()
				a, deltas, err := generate(t, says(c.choices...), langchain.Options{Provider: c.provider, NoStream: noStream}, ask("q"))
				if err != nil {
					t.Fatal(err)
				}
				text, thought, calls := put(deltas)
				if a.Message.Text() != c.text || text != c.text || thought != c.thought || a.Stop != c.stop || a.Usage != c.usage || a.Message.Partial {
					t.Errorf("got %+v, streamed %q and %q", a, text, thought)
				}
				if !slices.Equal(a.Message.Calls(), calls) || len(calls) != len(c.calls) {
					t.Fatalf("calls: got %v, streamed %v, want %v", a.Message.Calls(), calls, c.calls)
				}
				for i, want := range c.calls {
					if got := calls[i]; got.ID == "" || want.ID != "" && got.ID != want.ID || got.Name != want.Name || got.Args != want.Args {
						t.Errorf("call %d: got %+v, want %+v", i, got, want)
					}
				}
			})
		}
	}
}

// What a client gives as its answer is not taken for one.
func TestWhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		client stub
		want   nodes.ErrorKind
		kept   string
	}{
		{"nothing at all", func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
			return nil, nil
		}, nodes.KindEmpty, ""},
		{"no choices", says(), nodes.KindEmpty, ""},
		{"a nil choice", says2(nil, ""), nodes.KindEmpty, ""},
		{"a nil choice after some text", says2(nil, "half"), nodes.KindCut, "half"},
		{"no reason to stop", says(&llms.ContentChoice{Content: "half"}), nodes.KindCut, "half"},
		{"the reason is null", says(&llms.ContentChoice{Content: "half", StopReason: "null"}), nodes.KindCut, "half"},
		{"neither text nor calls", says(&llms.ContentChoice{Content: " ", StopReason: "stop"}), nodes.KindEmpty, " "},
		{"filtered", says(&llms.ContentChoice{Content: "half", StopReason: "content_filter"}), nodes.KindFiltered, "half"},
		{"safety", says(&llms.ContentChoice{Content: "half", StopReason: "FinishReasonSafety"}), nodes.KindFiltered, "half"},
		{"text that is gone", says2(&llms.ContentChoice{Content: "ha", StopReason: "stop"}, "half"), nodes.KindCut, "half"},
		{"no call", says(&llms.ContentChoice{Content: "I look.", StopReason: "tool_calls"}), nodes.KindCut, "I look."},
		{"no name", says(&llms.ContentChoice{StopReason: "stop", ToolCalls: []llms.ToolCall{{ID: "a"}}}), nodes.KindCut, ""},
		{"one id twice", says(&llms.ContentChoice{StopReason: "tool_calls",
			ToolCalls: []llms.ToolCall{toolCall("a", "f", "{}"), toolCall("a", "f", "{}")}}), nodes.KindCut, ""},
		{"arguments of two in one", says(&llms.ContentChoice{StopReason: "tool_calls",
			ToolCalls: []llms.ToolCall{toolCall("a", "f", ""), toolCall("b", "f", `{"a":1}`)}}), nodes.KindCut, ""},
		{"a call that was streamed is gone", says2(&llms.ContentChoice{StopReason: "tool_calls", ToolCalls: []llms.ToolCall{toolCall("a", "f", "{}")}},
			`[{"id":"b","type":"","function":{"name":"g","arguments":"{}"}}]`), nodes.KindCut, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, deltas, err := generate(t, c.client, langchain.Options{}, ask("q"))
			text, _, calls := put(deltas)
			if nodes.KindOf(err) != c.want || a.Message.Text() != c.kept || !a.Message.Partial || len(a.Message.Calls()) != 0 {
				t.Errorf("got %v with %+v, want %v with %q", err, a, c.want, c.kept)
			}
			if text != c.kept || len(calls) > 0 {
				t.Errorf("streamed %q and %v", text, calls)
			}
		})
	}
}

// says2 streams one thing and answers with another.
func says2(c *llms.ContentChoice, streamed string) stub {
	return func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		if err := o.StreamingFunc(ctx, []byte(streamed)); err != nil {
			return nil, err
		}
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{c}}, nil
	}
}

// A choice without a stream needs no reason to stop: the client has read the whole document.
func TestWholeDocumentNeedsNoReason(t *testing.T) {
	t.Parallel()
	a, deltas, err := generate(t, says(&llms.ContentChoice{Content: "all"}), langchain.Options{NoStream: true}, ask("q"))
	if text, _, _ := put(deltas); err != nil || a.Stop != nodes.StopEnd || text != "all" {
		t.Errorf("got %+v, %q, %v", a, text, err)
	}
	two := says(&llms.ContentChoice{Content: "all"}, &llms.ContentChoice{Content: "another"})
	if a, err := langchain.New(two, langchain.Options{}).Generate(t.Context(), ask("q"), nil); err != nil || a.Message.Text() != "all" {
		t.Errorf("two choices: %+v, %v", a, err)
	}
	if _, err := langchain.New(says(), langchain.Options{}).Generate(t.Context(), ask("q"), nil); nodes.KindOf(err) != nodes.KindEmpty {
		t.Errorf("no choices, not streamed: %v", err)
	}
}

// The parts of calls that a client streams as if they were text are not told; text that looks like them is.
func TestPartsOfCallsAreNoText(t *testing.T) {
	t.Parallel()
	part := `[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]`
	a, deltas, err := generate(t, says2(&llms.ContentChoice{StopReason: "tool_calls", ToolCalls: []llms.ToolCall{toolCall("a", "f", "{}")}}, part),
		langchain.Options{}, ask("q"))
	if text, _, calls := put(deltas); err != nil || text != "" || len(calls) != 1 || len(a.Message.Calls()) != 1 {
		t.Errorf("calls: %+v, %q, %v", a, text, err)
	}
	quoted := `[{"function":"f"}]`
	a, deltas, err = generate(t, says2(&llms.ContentChoice{StopReason: "stop", Content: quoted}, quoted), langchain.Options{}, ask("q"))
	if text, _, _ := put(deltas); err != nil || text != quoted || a.Message.Text() != quoted {
		t.Errorf("text: %+v, %q, %v", a, text, err)
	}
}

// report 37: what the user has seen is kept, marked, whatever the client makes of it.
func TestCancelKeepsWhatHadArrived(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{"the client says success": nil, "the client says something": errors.New("request cancelled")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			s := stub(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
				if err := o.StreamingReasoningFunc(ctx, []byte("hm"), nil); err != nil {
					t.Error(err)
				}
				if err := o.StreamingFunc(ctx, []byte("half")); err != nil {
					t.Error(err)
				}
				cancel()
				if err := o.StreamingFunc(ctx, []byte(" more")); err == nil {
					t.Error("the stream goes on after the context has ended")
				}
				return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "half", StopReason: "stop"}}}, result
			})
			a, err := langchain.New(s, langchain.Options{}).Generate(ctx, ask("q"), func(nodes.Delta) {})
			if !errors.Is(err, context.Canceled) || nodes.KindOf(err) != "" {
				t.Errorf("got %v", err)
			}
			if a.Message.Text() != "half" || !a.Message.Partial || a.Message.Parts[0].Text != "hm" {
				t.Errorf("got %+v", a)
			}
		})
	}
}

func TestEndedContextAsksNobody(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := stub(func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
		t.Error("asked")
		return nil, nil
	})
	if _, err := langchain.New(s, langchain.Options{}).Generate(ctx, ask("q"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A client whose goroutine outlives the call can tell nothing any more.
func TestNothingIsStreamedAfterTheCall(t *testing.T) {
	t.Parallel()
	var late func() error
	s := stub(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		late = func() error {
			return errors.Join(o.StreamingFunc(ctx, []byte("late")), o.StreamingReasoningFunc(ctx, []byte("late"), nil))
		}
		return nil, errors.New("received error event: overloaded")
	})
	_, deltas, err := generate(t, s, langchain.Options{}, ask("q"))
	if late() == nil || len(deltas) != 0 || nodes.KindOf(err) != nodes.KindUnavailable {
		t.Errorf("streamed %v, error %v", deltas, err)
	}
}

func TestKindsOfErrors(t *testing.T) {
	t.Parallel()
	coded := func(c llms.ErrorCode) error { return fmt.Errorf("x: %w", llms.NewError(c, "p", "words")) }
	for _, c := range []struct {
		err  error
		want nodes.ModelError
	}{
		{coded(llms.ErrCodeRateLimit), nodes.ModelError{Kind: nodes.KindRateLimited, Code: "rate_limit"}},
		{coded(llms.ErrCodeAuthentication), nodes.ModelError{Kind: nodes.KindDenied, Code: "authentication"}},
		{coded(llms.ErrCodeQuotaExceeded), nodes.ModelError{Kind: nodes.KindDenied, Code: "quota_exceeded"}},
		{coded(llms.ErrCodeTokenLimit), nodes.ModelError{Kind: nodes.KindContextLength, Code: "token_limit"}},
		{coded(llms.ErrCodeContentFilter), nodes.ModelError{Kind: nodes.KindFiltered, Code: "content_filter"}},
		{coded(llms.ErrCodeProviderUnavailable), nodes.ModelError{Kind: nodes.KindUnavailable, Code: "provider_unavailable"}},
		{coded(llms.ErrCodeTimeout), nodes.ModelError{Kind: nodes.KindUnavailable, Code: "timeout"}},
		{llms.NewError(llms.ErrCodeInvalidRequest, "p", "This model's maximum context length is 8192 tokens."),
			nodes.ModelError{Kind: nodes.KindContextLength, Code: "invalid_request", Limit: 8192}},
		{errors.New("API returned unexpected status code: 429: Rate limit reached. Please try again in 1m2.5s."),
			nodes.ModelError{Kind: nodes.KindRateLimited, Status: 429, RetryAfter: 62500 * time.Millisecond}},
		{errors.New("API returned unexpected status code: 429: You exceeded your current quota"), nodes.ModelError{Kind: nodes.KindDenied, Status: 429}},
		{errors.New("API returned unexpected status code: 401: Incorrect API key"), nodes.ModelError{Kind: nodes.KindDenied, Status: 401}},
		{errors.New("API returned unexpected status code: 400: messages: bad"), nodes.ModelError{Kind: nodes.KindInvalid, Status: 400}},
		{errors.New("API returned unexpected status code: 400: prompt is too long: 212345 tokens > 200000 maximum"),
			nodes.ModelError{Kind: nodes.KindContextLength, Status: 400, Limit: 200000}},
		{errors.New("API returned unexpected status code: 400: content management policy"), nodes.ModelError{Kind: nodes.KindFiltered, Status: 400}},
		{errors.New("API returned unexpected status code: 529"), nodes.ModelError{Kind: nodes.KindUnavailable, Status: 529}},
		{errors.New("googleapi: Error 503: try later"), nodes.ModelError{Kind: nodes.KindUnavailable, Status: 503}},
		{errors.New("error reading streaming response: bufio.Scanner: token too long"), nodes.ModelError{Kind: nodes.KindCut}},
		{errors.New("unexpected EOF"), nodes.ModelError{Kind: nodes.KindCut}},
		{errors.New("network error: failed to reach API server"), nodes.ModelError{Kind: nodes.KindUnavailable}},
		{errors.New("only support Text and BinaryContent parts right now"), nodes.ModelError{Kind: nodes.KindInvalid}},
		{errors.New("no response"), nodes.ModelError{Kind: nodes.KindEmpty}},
		{fmt.Errorf("client: %w", context.DeadlineExceeded), nodes.ModelError{Kind: nodes.KindUnavailable}},
		{errors.New("gremlins"), nodes.ModelError{Kind: nodes.KindUnavailable}},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			t.Parallel()
			s := stub(func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
				return nil, c.err
			})
			_, _, err := generate(t, s, langchain.Options{Provider: "p", Model: "m"}, ask("q"))
			got, ok := errors.AsType[*nodes.ModelError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			c.want.Provider, c.want.Model, c.want.Err = "p", "m", c.err
			if !reflect.DeepEqual(*got, c.want) {
				t.Errorf("got %+v, want %+v", *got, c.want)
			}
		})
	}
}

// An answer of which some had arrived is not empty but cut.
func TestNoAnswerAfterSomeTextIsCut(t *testing.T) {
	t.Parallel()
	s := stub(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		return nil, errors.Join(o.StreamingFunc(ctx, []byte("half")), errors.New("no response"))
	})
	a, _, err := generate(t, s, langchain.Options{}, ask("q"))
	if nodes.KindOf(err) != nodes.KindCut || a.Message.Text() != "half" || !a.Message.Partial {
		t.Errorf("got %+v, %v", a, err)
	}
}
