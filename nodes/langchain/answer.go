package langchain

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// A reply is the choices of a response as one.
type reply struct {
	text, reasoning, signature string
	calls                      []message.Call
	stop                       string
	info                       map[string]any
}

// answer takes a response for an answer if nothing says that it is not whole.
func (m *Model) answer(resp *llms.ContentResponse, s *stretch, streamed bool) (nodes.Answer, error) {
	r := m.reply(resp)
	stop, kind := stopOf(r.stop, streamed)
	if kind == nodes.KindCut && r.none() && !s.any() {
		kind = nodes.KindEmpty
	}
	if kind == "" && streamed {
		kind = mixedUp(r, s)
	}
	if kind == "" {
		kind = r.fault()
	}
	if kind == "" && !s.finish(r.reasoning, r.text) {
		kind = nodes.KindCut
	}
	if kind != "" {
		return nodes.Answer{}, m.incomplete(kind, r.stop, streamed)
	}
	for i := range r.calls {
		if r.calls[i].ID == "" {
			r.calls[i].ID = "call_" + rand.Text()
		}
		c := r.calls[i]
		s.tell(nodes.Delta{Call: &nodes.CallDelta{Index: i, ID: c.ID, Name: c.Name, Args: c.Args}})
	}
	return nodes.Answer{
		Message: said(r.reasoning, r.signature, r.text, r.calls...),
		Stop:    stop,
		Usage:   usageOf(r.info, m.o.Provider),
		Model:   m.modelOf(r.info),
	}, nil
}

// reply reads the first choice. The client for Anthropic makes one choice of each block of the one answer.
func (m *Model) reply(resp *llms.ContentResponse) (r reply) {
	if resp == nil {
		return r
	}
	choices := slices.DeleteFunc(slices.Clone(resp.Choices), func(c *llms.ContentChoice) bool { return c == nil })
	if m.o.Provider != "anthropic" {
		choices = choices[:min(1, len(choices))]
	}
	for _, c := range choices {
		r.add(c)
	}
	return r
}

func (r *reply) add(c *llms.ContentChoice) {
	r.text += c.Content
	r.reasoning += reasoningOf(c)
	if signature, ok := c.GenerationInfo["ThinkingSignature"].(string); ok {
		r.signature = signature
	}
	r.stop, r.info = c.StopReason, c.GenerationInfo
	for _, t := range c.ToolCalls {
		call := message.Call{ID: t.ID}
		if t.FunctionCall != nil {
			call.Name, call.Args = t.FunctionCall.Name, t.FunctionCall.Arguments
		}
		r.calls = append(r.calls, call)
	}
	if len(c.ToolCalls) == 0 && c.FuncCall != nil {
		r.calls = append(r.calls, message.Call{Name: c.FuncCall.Name, Args: c.FuncCall.Arguments})
	}
}

// reasoningOf is apart from the text. What a client says it has found inside the text stays there.
func reasoningOf(c *llms.ContentChoice) string {
	if c.ReasoningContent != "" {
		return c.ReasoningContent
	}
	if thinking, ok := c.GenerationInfo["ThinkingContent"].(string); ok && c.Content == "" {
		return thinking
	}
	return ""
}

// fault says what is wrong with a reply that claims to be whole.
func (r reply) fault() nodes.ErrorKind {
	switch {
	case slices.ContainsFunc(r.calls, func(c message.Call) bool { return c.Name == "" }):
		return nodes.KindCut
	case len(r.calls) == 0 && toCall(r.stop):
		return nodes.KindCut
	case r.none():
		return nodes.KindEmpty
	}
	return ""
}

func (r reply) none() bool { return len(r.calls) == 0 && strings.TrimSpace(r.text) == "" }

// mixedUp reports calls that a parser of streams has lost or run into each other.
func mixedUp(r reply, s *stretch) nodes.ErrorKind {
	seen := map[string]bool{}
	for _, c := range r.calls {
		if c.ID != "" && seen[c.ID] || len(r.calls) > 1 && !json.Valid([]byte(c.Args)) {
			return nodes.KindCut
		}
		seen[c.ID] = true
	}
	for _, id := range s.calls {
		if !seen[id] {
			return nodes.KindCut
		}
	}
	return ""
}

func (m *Model) incomplete(kind nodes.ErrorKind, stop string, streamed bool) error {
	e := &nodes.ModelError{Kind: kind, Provider: m.o.Provider, Model: m.o.Model, Code: stop}
	switch {
	case kind == nodes.KindCut && streamed && stop == "":
		e.Text = "the stream ended without a reason; if this client never gives one, set Options.NoStream"
	case kind == nodes.KindCut && streamed:
		e.Text = "the client has lost a part of the stream; if it happens again, set Options.NoStream"
	case kind == nodes.KindCut:
		e.Text = "the client has returned a part of the answer"
	}
	return e
}

func (m *Model) modelOf(info map[string]any) string {
	for _, k := range []string{"model", "Model"} {
		if s, ok := info[k].(string); ok && s != "" {
			return s
		}
	}
	return m.o.Model
}

// stopOf reads the providers' words for why a model stopped.
func stopOf(reason string, streamed bool) (nodes.Stop, nodes.ErrorKind) {
	switch word(reason) {
	case "", "null", "nil", "unspecified":
		if streamed {
			return "", nodes.KindCut
		}
	case "length", "maxtokens", "modellength", "maxtokensreached":
		return nodes.StopLength, ""
	case "contentfilter", "contentfiltered", "safety", "recitation", "refusal", "errortoxic", "guardrailintervened",
		"blocklist", "prohibitedcontent", "spii":
		return "", nodes.KindFiltered
	case "error", "other", "pauseturn", "malformedfunctioncall", "usercancel", "errorlimit":
		return "", nodes.KindCut
	}
	return nodes.StopEnd, ""
}

func toCall(reason string) bool {
	switch word(reason) {
	case "tooluse", "toolcalls", "functioncall":
		return true
	}
	return false
}

// word makes "FinishReasonMaxTokens", "MAX_TOKENS" and "max_tokens" one.
func word(reason string) string {
	w := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(reason))
	return strings.TrimPrefix(w, "finishreason")
}

// usageOf reads what the clients say about tokens, each under names of its own.
func usageOf(info map[string]any, provider string) nodes.Usage {
	n := map[string]int{}
	count(n, info)
	if nested, ok := info["usage"]; ok {
		doc, err := json.Marshal(nested)
		var inner map[string]any
		if err == nil && json.Unmarshal(doc, &inner) == nil {
			count(n, inner)
		}
	}
	u := nodes.Usage{
		Input:     first(n, "prompttokens", "inputtokens", "prompttokencount", "inputtokencount"),
		Output:    first(n, "completiontokens", "outputtokens", "candidatestokencount", "outputtokencount"),
		Cached:    first(n, "promptcachedtokens", "cachedtokens", "cachereadinputtokens", "cachedcontenttokencount"),
		Reasoning: first(n, "completionreasoningtokens", "reasoningtokens", "thinkingtokens"),
	}
	if provider == "anthropic" { // it counts the input beside its cache
		u.Input += u.Cached + n["cachecreationinputtokens"]
	}
	return u
}

func count(n map[string]int, info map[string]any) {
	for k, v := range info {
		var f float64
		if _, err := fmt.Sscan(fmt.Sprint(v), &f); err == nil && f > 0 {
			n[word(k)] = int(f)
		}
	}
}

func first(n map[string]int, keys ...string) int {
	for _, k := range keys {
		if n[k] > 0 {
			return n[k]
		}
	}
	return 0
}
