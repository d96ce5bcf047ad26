package openai

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

const (
	defaultURL  = "https://api.openai.com/v1"
	defaultIdle = 5 * time.Minute
)

// Options say which model answers, and where.
type Options struct {
	BaseURL string // up to and with /v1; "" is OpenAI's
	APIKey  string // "" if the endpoint wants none
	Model   string // as the endpoint calls it

	MaxTokens   int      // of one answer, reasoning among them; 0: as the endpoint has it
	Temperature *float64 // nil: as the endpoint has it

	SendReasoning bool // send reasoning_content back; most endpoints ignore it, some refuse it, some want it
	PlainJSON     bool // the endpoint has no json_schema: ask for json_object, with the schema in the instructions

	HTTPClient  *http.Client  // nil: a client without a timeout over http.DefaultTransport
	IdleTimeout time.Duration // how long the endpoint may send nothing, 5 minutes by default; the context limits the whole
}

func (o Options) withDefaults() Options {
	if o.BaseURL == "" {
		o.BaseURL = defaultURL
	}
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{}
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = defaultIdle
	}
	return o
}

// check returns the endpoint.
func (o Options) check() (endpoint, error) {
	if o.MaxTokens < 0 || o.IdleTimeout < 0 {
		return endpoint{}, errors.New("openai: Options.MaxTokens and IdleTimeout must not be below zero")
	}
	return newEndpoint(o.BaseURL, o.APIKey, o.Model)
}

// FromEnv returns the model of OPENAI_MODEL at OPENAI_BASE_URL with OPENAI_API_KEY. Of the last two one is enough: the address
// is OpenAI's by default, and local endpoints want no key. It reports false if none of the three is set, and an error if what is
// set is not enough.
func FromEnv() (m *Model, ok bool, err error) {
	o := Options{BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: os.Getenv("OPENAI_API_KEY"), Model: os.Getenv("OPENAI_MODEL")}
	if o.BaseURL == "" && o.APIKey == "" && o.Model == "" {
		return nil, false, nil
	}
	if o.Model == "" {
		return nil, false, errors.New("openai: OPENAI_MODEL is not set: name the model as the endpoint calls it")
	}
	if o.BaseURL == "" && o.APIKey == "" {
		return nil, false, errors.New("openai: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint that wants no key")
	}
	if m, err = New(o); err != nil {
		return nil, false, fmt.Errorf("%w (from OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL)", err)
	}
	return m, true, nil
}
