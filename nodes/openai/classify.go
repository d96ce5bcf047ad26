package openai

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/nodes"
)

// classify returns the kind of a failure, and the limit of tokens if it is about that. Status 0 is an event in a stream.
func (f fault) classify(status int) (nodes.ErrorKind, int) {
	said := strings.ToLower(f.kind + " " + f.code + " " + f.text)
	limited := status == 429 || status == 0 && has(said, "rate_limit", "rate limit", "too many requests")
	if limited || status == 401 || status == 403 {
		return f.barred(said, limited), 0
	}
	if limit, ok := tooLong(said); ok {
		return nodes.KindContextLength, limit
	}
	switch {
	case status == 402 || has(said, noMoney...):
		return nodes.KindDenied, 0
	case has(said, filters...):
		return nodes.KindFiltered, 0
	case status == 408 || status == 409 || status == 425 || status >= 500:
		return nodes.KindUnavailable, 0
	case status == 0:
		return f.broke(said), 0
	}
	return nodes.KindInvalid, 0
}

// barred is about those whom the provider does not serve, now or at all.
func (f fault) barred(said string, limited bool) nodes.ErrorKind {
	switch {
	case limited && !has(said, noMoney...):
		return nodes.KindRateLimited
	case !limited && has(said, filters...):
		return nodes.KindFiltered
	}
	return nodes.KindDenied
}

// broke is about an event that ended a stream.
func (f fault) broke(said string) nodes.ErrorKind {
	switch {
	case has(said, "invalid_request", "bad_request", "badrequest"):
		return nodes.KindInvalid
	case has(said, "authentication", "permission", "invalid_api_key"):
		return nodes.KindDenied
	case has(said, "server_error", "internal", "overloaded", "unavailable", "timeout"):
		return nodes.KindUnavailable
	}
	return nodes.KindCut
}

func has(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

var (
	noMoney = []string{"insufficient_quota", "exceeded your current quota", "insufficient balance", "insufficient_balance", "arrearage",
		"billing_hard_limit", "余额不足", "欠费"}
	filters = []string{"content_filter", "content_policy", "content management policy", "data_inspection_failed", "datainspectionfailed",
		"content exists risk", "sensitive_words", "敏感内容"}
)

// tooLongTexts are how endpoints say that a request has too many tokens, in lower case; a group is the limit. Many of them give
// no code, or one that stands for every bad request.
var tooLongTexts = compile(
	`maximum (?:context|prompt) length (?:is|of) (\d+)`,                          // OpenAI, vLLM, DeepSeek, OpenRouter, xAI
	`longer than the maximum model length of (\d+)`,                              // vLLM
	`maximum context length[^\d]{0,20}(\d+)`,                                     // Fireworks
	`(?:longer than|exceeds) the model's (?:maximum )?context length[^\d]*(\d+)`, // SGLang
	`model with (\d+) maximum context length`,                                    // Mistral
	`range of input length should be \[\d+, ?(\d+)\]`,                            // Qwen
	`available context size \((\d+) tokens\)`,                                    // llama.cpp
	`exceeded model token limit: ?(\d+)`,                                         // Moonshot
	`input token count.*exceeds the maximum number of tokens allowed \(?(\d+)`,   // Gemini
	`prompt is too long: \d+ tokens > (\d+)`,                                     // Anthropic
	`context_length_exceeded`,
	`exceed_context_size_error`,
	`(?:input|prompt)[^.]{0,40} (?:exceeds|exceeded|is too long for)[^.]{0,30}context (?:length|window|size)`, // Ollama
	`reduce the length of the (?:messages|prompt|input)`,
	`prompt 超长|输入.{0,6}超过.{0,12}(?:长度|上限)`, // Zhipu
)

func compile(texts ...string) (out []*regexp.Regexp) {
	for _, t := range texts {
		out = append(out, regexp.MustCompile(t))
	}
	return out
}

// tooLong reports whether a text says that the request is too long, and the limit if it names it.
func tooLong(said string) (limit int, ok bool) {
	for _, re := range tooLongTexts {
		found := re.FindStringSubmatch(said)
		if found == nil {
			continue
		}
		if len(found) > 1 {
			limit, _ = strconv.Atoi(found[1]) // a number that is too long is none
		}
		return limit, true
	}
	return 0, false
}
