// Package langchain makes a nodes.Model of any llms.Model of github.com/tmc/langchaingo.
//
//	llm, err := anthropic.New(anthropic.WithModel("claude-sonnet-4-5"))
//	model := langchain.New(llm, langchain.Options{})
//
// For OpenAI and endpoints that speak its protocol, Ollama and Mistral among them, use nodes/openai: it reads the stream itself.
// This package is for what has no such endpoint, and for a program that has its models in langchaingo already.
//
// # What is caught
//
// An answer counts only if nothing says that it is not whole. These are errors, whatever the client returned:
//
//   - the context has ended: the error of the context, with the text that had arrived, marked Partial
//   - no choices, or neither text nor calls: nodes.KindEmpty
//   - a streamed answer without a reason to stop: nodes.KindCut
//   - text that was streamed and is not in the answer: nodes.KindCut
//   - a model that stopped to call tools, without a call; a call without a name: nodes.KindCut
//   - calls whose parts a stream parser has mixed up, as far as it can be seen: an id that was streamed and is gone, an id used
//     twice, several calls of which one has no arguments or no JSON: nodes.KindCut
//
// A call without an id gets one. The arguments of a single call are passed on as they were written, JSON or not.
//
// # What cannot be told from outside
//
// Of langchaingo v0.1.14, by client. Options.NoStream avoids what is said of streams.
//
//   - openai: the parser of streams knows no index. Parts of parallel calls that come interleaved end up in the last call that
//     began, and a part without a type is not taken for a beginning. What that leaves is mostly no JSON, and caught; it is not
//     if all the parts of one call come as the first part of another. What an endpoint reports in the middle of a stream is
//     skipped: it is a cut answer, of which the provider's words are lost. So is a line that is no JSON: text that was in it is
//     missing unnoticed. An endpoint that sends another choice after the one that says why it stopped is taken for cut. A
//     line of more than 64 KiB is an error. Errors of HTTP have no body but its message, and no Retry-After.
//   - anthropic: arguments are written anew, with sorted keys, and a streamed call whose arguments are no JSON fails the whole
//     answer. A stream that is cut and one without an answer are the same error, told apart by whether text had arrived. The
//     signature of reasoning is lost in a stream, and reasoning cannot be sent back at all: leave extended thinking off with
//     tools. NoCalls and images by URL are not known to it. After an error event its goroutine may stay for ever.
//   - googleai, vertex: an error of the function that gets the stream ends it as a success; what we return there is only that
//     the context has ended, which is caught. A last part without content hides the reason to stop, and is taken for cut. Calls
//     have no ids. NoCalls is not known; the JSON mode is left off where there are tools, which the API refuses together.
//     Images by URL are fetched by this process, without the context: do not pass on addresses that a stranger wrote.
//   - bedrock: NoCalls is not known. The stream of Anthropic models drops all calls, which is caught; use NoStream with tools.
//     An answer that reached its limit of tokens is an error without one.
//   - mistral: the context is not passed on: a call that is not streamed ends when the provider or the client's own time limit
//     says so. Results do not name their calls.
//   - ollama: tools are not told to the model, and a history with calls is refused. There is no reason to stop, so an answer
//     that reached its limit of tokens looks complete.
//   - cloudflare, cohere, ernie, huggingface, llamafile, local, maritaca, palm, watsonx: neither tools nor reasons to stop.
//
// Clients without reasons to stop are not streamed: a cut stream would look like an answer. The stream gets the whole text at
// once.
package langchain

import (
	"context"
	"path"
	"reflect"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/holdfast-go/holdfast/nodes"
)

// Options of New.
type Options struct {
	// Provider is whose ways the client has, such as "anthropic": the name of its package in langchaingo, which is the default.
	// Name it for a client that is wrapped. It is the Provider of errors too.
	Provider string

	Model    string            // that is asked; "": the client's own
	Call     []llms.CallOption // of each call, such as llms.WithMaxTokens
	NoStream bool              // the client is not asked to stream: its parser is not to be trusted, or gives no reason to stop
}

// A Model asks a langchaingo model. It is safe for concurrent use if that is.
type Model struct {
	llm llms.Model
	o   Options
}

var _ nodes.Model = (*Model)(nil)

// New returns a model that asks m.
func New(m llms.Model, o Options) *Model {
	if o.Provider == "" {
		o.Provider = providerOf(m)
	}
	o.NoStream = o.NoStream || neverSaysWhy[o.Provider]
	return &Model{llm: m, o: o}
}

// unknown is the provider of a model that is none of langchaingo's own.
const unknown = "langchaingo"

func providerOf(m llms.Model) string {
	t := reflect.TypeOf(m)
	if t == nil {
		return unknown
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !strings.HasPrefix(t.PkgPath(), "github.com/tmc/langchaingo/llms/") {
		return unknown
	}
	return path.Base(t.PkgPath())
}

// neverSaysWhy are the clients that give no reason to stop.
var neverSaysWhy = map[string]bool{
	"cloudflare": true, "cohere": true, "ernie": true, "huggingface": true, "llamafile": true,
	"local": true, "maritaca": true, "ollama": true, "palm": true, "watsonx": true,
}

// Generate asks the model once. See the package for what it cannot know.
func (m *Model) Generate(ctx context.Context, r nodes.Request, stream func(nodes.Delta)) (nodes.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nodes.Answer{}, err
	}
	tell := stream
	if tell == nil {
		tell = func(nodes.Delta) {}
	}
	s := &stretch{tell: tell}
	streamed := stream != nil && !m.o.NoStream
	resp, err := m.llm.GenerateContent(ctx, m.messages(r), m.options(r, s, streamed)...)
	s.end()
	if ended := ctx.Err(); ended != nil {
		return s.partial(), ended
	}
	if err != nil {
		return s.partial(), m.failure(err, s)
	}
	a, err := m.answer(resp, s, streamed)
	if err != nil {
		return s.partial(), err
	}
	return a, nil
}

// options come after those of the program, so that nothing of the request is lost.
func (m *Model) options(r nodes.Request, s *stretch, streamed bool) []llms.CallOption {
	out := append([]llms.CallOption{}, m.o.Call...)
	if m.o.Model != "" {
		out = append(out, llms.WithModel(m.o.Model))
	}
	if len(r.Tools) > 0 {
		out = append(out, llms.WithTools(tools(r.Tools)))
	}
	if len(r.Tools) > 0 && r.NoCalls {
		out = append(out, llms.WithToolChoice("none"))
	}
	if r.Output != nil && (len(r.Tools) == 0 || !google(m.o.Provider)) {
		out = append(out, llms.WithJSONMode())
	}
	if !streamed {
		return append(out, llms.WithStreamingFunc(nil), llms.WithStreamingReasoningFunc(nil))
	}
	return append(out, llms.WithStreamingFunc(s.chunk), llms.WithStreamingReasoningFunc(s.reasoningChunk))
}

func google(provider string) bool { return provider == "googleai" || provider == "vertex" }
