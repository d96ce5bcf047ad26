package openai

import (
	"encoding/json"

	"github.com/holdfast-go/holdfast/nodes"
)

// A chunk is one event of a stream. The client's own type of it loses the fields that OpenAI does not have, and replaces the
// halves of a character that was split.
type chunk struct {
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Usage   *usage          `json:"usage"`
	Choices []struct {
		Index        int    `json:"index"`
		Delta        delta  `json:"delta"`
		FinishReason string `json:"finish_reason"`
		Usage        *usage `json:"usage"` // Moonshot has it here
	} `json:"choices"`
}

type delta struct {
	Content          rawText     `json:"content"`
	ReasoningContent rawText     `json:"reasoning_content"` // DeepSeek, Qwen, Moonshot, older vLLM
	Reasoning        rawText     `json:"reasoning"`         // vLLM, Ollama, OpenRouter
	Refusal          rawText     `json:"refusal"`
	ToolCalls        []callDelta `json:"tool_calls"`
}

// reasoning is told under one name or under both.
func (d delta) reasoning() []byte {
	if b := d.ReasoningContent.bytes(); len(b) > 0 {
		return b
	}
	return d.Reasoning.bytes()
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string  `json:"name"`
		Arguments rawText `json:"arguments"`
	} `json:"function"`
}

// args are a string, but some endpoints send the object itself.
func (d callDelta) args() []byte {
	if a := d.Function.Arguments; len(a) > 0 && a[0] == '{' {
		return a
	}
	return d.Function.Arguments.bytes()
}

type usage struct {
	PromptTokens        int `json:"prompt_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CachedTokens         int `json:"cached_tokens"`           // Moonshot
	PromptCacheHitTokens int `json:"prompt_cache_hit_tokens"` // DeepSeek
}

func (u usage) told() nodes.Usage {
	return nodes.Usage{
		Input:     u.PromptTokens,
		Cached:    max(u.PromptTokensDetails.CachedTokens, u.CachedTokens, u.PromptCacheHitTokens),
		Output:    u.CompletionTokens,
		Reasoning: u.CompletionTokensDetails.ReasoningTokens,
	}
}
