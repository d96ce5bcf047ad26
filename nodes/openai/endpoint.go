package openai

import (
	"errors"
	"net/url"
	"strings"

	"github.com/openai/openai-go/v3/option"
)

// An endpoint is where a model is asked, and by what name and key.
type endpoint struct{ url, host, key, model string }

// newEndpoint checks what every endpoint needs. No error repeats the key.
func newEndpoint(address, key, model string) (endpoint, error) {
	if model == "" {
		return endpoint{}, errors.New("openai: Options.Model is empty: name the model as the endpoint calls it")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return endpoint{}, errors.New("openai: Options.APIKey has white space or other characters that no key has: trim it")
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return endpoint{}, errors.New("openai: Options.BaseURL is no address such as " + defaultURL)
	}
	return endpoint{address, u.Host, key, model}, nil
}

// options are those of every request. It does not retry.
func (at endpoint) options() []option.RequestOption {
	opts := []option.RequestOption{option.WithBaseURL(at.url), option.WithMaxRetries(0), option.WithMiddleware(at.refuse)}
	if at.key != "" {
		opts = append(opts, option.WithAPIKey(at.key))
	}
	return opts
}

// String names the model and its endpoint, and not the key.
func (at endpoint) String() string { return at.model + " at " + at.host }

// GoString is String.
func (at endpoint) GoString() string { return at.String() }

// provider is "openai", or the host of another endpoint.
func (at endpoint) provider() string {
	if at.url == defaultURL {
		return "openai"
	}
	return at.host
}

func (at endpoint) redact(text string) string {
	if at.key == "" {
		return text
	}
	return strings.ReplaceAll(text, at.key, "[key]")
}
