package langchain

import (
	"context"
	"errors"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/holdfast-go/holdfast/nodes"
)

// failure makes a ModelError of what a client returned: by langchaingo's own code if there is one, by the status of HTTP in the
// text, by the words.
func (m *Model) failure(err error, s *stretch) error {
	if e, ok := errors.AsType[*nodes.ModelError](err); ok {
		return e
	}
	e := &nodes.ModelError{Provider: m.o.Provider, Model: m.o.Model, Err: err}
	text := strings.ToLower(err.Error())
	e.Status = statusIn(text)
	e.RetryAfter = waitIn(text)
	e.Limit = limitIn(text)
	if known, ok := errors.AsType[*llms.Error](err); ok {
		e.Code = string(known.Code)
		e.Kind = kindOfCode[known.Code]
	}
	if e.Kind == "" || e.Kind == nodes.KindInvalid {
		e.Kind = kindOf(err, text, e.Status)
	}
	if e.Kind == nodes.KindEmpty && s.any() {
		e.Kind = nodes.KindCut
	}
	return e
}

// kindOfCode are langchaingo's codes that say enough. It calls many a thing invalid that its text tells better.
var kindOfCode = map[llms.ErrorCode]nodes.ErrorKind{
	llms.ErrCodeAuthentication:      nodes.KindDenied,
	llms.ErrCodeQuotaExceeded:       nodes.KindDenied,
	llms.ErrCodeRateLimit:           nodes.KindRateLimited,
	llms.ErrCodeTimeout:             nodes.KindUnavailable,
	llms.ErrCodeCanceled:            nodes.KindUnavailable, // not by us: the context lives
	llms.ErrCodeProviderUnavailable: nodes.KindUnavailable,
	llms.ErrCodeContentFilter:       nodes.KindFiltered,
	llms.ErrCodeTokenLimit:          nodes.KindContextLength,
	llms.ErrCodeInvalidRequest:      nodes.KindInvalid,
	llms.ErrCodeResourceNotFound:    nodes.KindInvalid,
	llms.ErrCodeNotImplemented:      nodes.KindInvalid,
}

func kindOf(err error, text string, status int) nodes.ErrorKind {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nodes.KindCut
	}
	if _, ok := errors.AsType[net.Error](err); ok || errors.Is(err, context.DeadlineExceeded) {
		return nodes.KindUnavailable
	}
	switch kind := kindOfText(text); {
	case kind == nodes.KindContextLength, kind == nodes.KindFiltered:
		return kind // they come with 400 or 413, which say less
	case status != 0:
		return kindOfStatus(status, kind)
	case kind != "":
		return kind
	}
	return nodes.KindUnavailable
}

func kindOfStatus(status int, kind nodes.ErrorKind) nodes.ErrorKind {
	switch {
	case status == 429 && kind == nodes.KindDenied: // no quota left: waiting does not help
		return kind
	case status == 429:
		return nodes.KindRateLimited
	case status == 401, status == 402, status == 403:
		return nodes.KindDenied
	case status == 408, status >= 500:
		return nodes.KindUnavailable
	}
	return nodes.KindInvalid
}

// words say the kind of an error, the first that is found.
var words = []struct {
	kind nodes.ErrorKind
	are  []string
}{
	{nodes.KindCut, []string{"unexpected eof", "unexpected end of json", "streaming response", "token too long",
		"scanning response", "error in stream mode", "stream event"}},
	{nodes.KindContextLength, []string{"context length", "context_length", "maximum context", "context window",
		"prompt is too long", "input is too long", "token limit", "input token count", "too many tokens"}},
	{nodes.KindFiltered, []string{"content filter", "content_filter", "content management policy", "content policy",
		"safety", "blocked"}},
	{nodes.KindDenied, []string{"insufficient_quota", "exceeded your current quota", "credit balance", "billing",
		"api key", "api_key", "unauthorized", "authentication", "permission"}},
	{nodes.KindRateLimited, []string{"rate limit", "rate_limit", "too many requests", "throttl", "resource exhausted",
		"resource_exhausted"}},
	{nodes.KindUnavailable, []string{"overloaded", "unavailable", "timeout", "timed out", "connection re",
		"network error", "cancelled", "bad gateway", "internal server", "no such host"}},
	{nodes.KindEmpty, []string{"empty response", "no response", "no content", "no results"}},
	{nodes.KindInvalid, []string{"unsupported", "not supported", "only support", "expect", "invalid", "not found",
		"failed to process", "bad request", "unmarshal", "completed due to"}},
}

func kindOfText(text string) nodes.ErrorKind {
	for _, w := range words {
		for _, s := range w.are {
			if strings.Contains(text, s) {
				return w.kind
			}
		}
	}
	return ""
}

var (
	statusWords = regexp.MustCompile(`(?:status ?code|status|error|http)[^0-9a-z]{0,3}([45]\d\d)\b`)
	limitWords  = regexp.MustCompile(`maximum context length is (\d+)|> ?(\d+) maximum`)
	waitWords   = regexp.MustCompile(`try again in ((?:[0-9.]+(?:ms|s|m|h))+)`)
)

func statusIn(text string) int {
	if m := statusWords.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}

func limitIn(text string) int {
	if m := limitWords.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1] + m[2])
		return n
	}
	return 0
}

func waitIn(text string) time.Duration {
	if m := waitWords.FindStringSubmatch(text); m != nil {
		d, _ := time.ParseDuration(m[1])
		return max(d, 0)
	}
	return 0
}
