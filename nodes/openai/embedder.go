package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/nodes"
)

const maxVectors = 256 << 20 // bytes of one answer

// errSlow is behind the error of a request that was not answered in time.
var errSlow = errors.New("the endpoint did not answer within EmbedderOptions.Timeout")

// EmbedderOptions say which model makes vectors, and where.
type EmbedderOptions struct {
	BaseURL string // up to and with /v1; "" is OpenAI's
	APIKey  string // "" if the endpoint wants none
	Model   string // as the endpoint calls it

	Dimensions int // how long vectors shall be, for models that let one choose; 0: as the model has it
	Batch      int // texts in one request; default 10, which every known endpoint takes

	HTTPClient *http.Client  // nil: a client without a timeout over http.DefaultTransport
	Timeout    time.Duration // of one request; default 30 s
}

// An Embedder makes vectors at one endpoint. It is safe for concurrent use. It does not retry: its errors are a *nodes.ModelError,
// whose Retryable says whether that is worth it, or that of the context.
type Embedder struct {
	endpoint
	o       EmbedderOptions
	service openai.EmbeddingService
	length  atomic.Int64 // of every vector; 0: none was made yet
}

var _ memory.Embedder = (*Embedder)(nil)

// NewEmbedder returns the embedder that the options name. It connects to nothing.
func NewEmbedder(o EmbedderOptions) (*Embedder, error) {
	base := Options{BaseURL: o.BaseURL, HTTPClient: o.HTTPClient}.withDefaults()
	o.BaseURL, o.HTTPClient = base.BaseURL, base.HTTPClient
	if o.Dimensions < 0 || o.Batch < 0 || o.Timeout < 0 {
		return nil, errors.New("openai: EmbedderOptions.Dimensions, Batch and Timeout must not be below zero")
	}
	if o.Batch == 0 {
		o.Batch = 10
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	at, err := newEndpoint(o.BaseURL, o.APIKey, o.Model)
	if err != nil {
		return nil, err
	}
	e := &Embedder{endpoint: at, o: o, service: openai.NewEmbeddingService(append(at.options(), option.WithHTTPClient(o.HTTPClient))...)}
	e.length.Store(int64(o.Dimensions))
	return e, nil
}

// EmbedQuery returns the vector of one text. It costs one request.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.EmbedDocuments(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// EmbedDocuments returns a vector for each text, in order: all of them or an error. It costs one request for each batch, one after
// the other. A text of nothing but white space is refused, as most endpoints do.
func (e *Embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, e.failure(ctx, &nodes.ModelError{Kind: nodes.KindInvalid, Text: fmt.Sprintf("text %d is empty", i)}, false)
		}
	}
	out := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, e.o.Batch) {
		vectors, err := e.ask(ctx, batch)
		if err != nil {
			return nil, e.failure(ctx, err, false)
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// ask sends one request and reads its vectors.
func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.o.Timeout, errSlow)
	defer cancel()
	doc, err := e.send(ctx, texts)
	if err != nil && context.Cause(ctx) == errSlow {
		return nil, errSlow
	}
	if err != nil {
		return nil, err
	}
	return e.read(doc, len(texts))
}

func (e *Embedder) send(ctx context.Context, texts []string) ([]byte, error) {
	p := openai.EmbeddingNewParams{Model: e.model, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}}
	if e.o.Dimensions > 0 {
		p.Dimensions = param.NewOpt(int64(e.o.Dimensions))
	}
	var resp *http.Response
	// The client's own reading takes whatever has the form of JSON, and numbers it from zero. The response is read here instead.
	if _, err := e.service.New(ctx, p, option.WithResponseBodyInto(&resp)); err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		return nil, &nodes.ModelError{Kind: nodes.KindUnavailable, Text: "it answered with a page: EmbedderOptions.BaseURL goes up to and with /v1"}
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxVectors))
}

// A vector is one of an answer. Some endpoints do not number them.
type vector struct {
	Index     *int      `json:"index"`
	Embedding []float32 `json:"embedding"`
}

// read returns n vectors in the order of their texts.
func (e *Embedder) read(doc []byte, n int) ([][]float32, error) {
	if f := readFault(doc); f.found {
		return nil, e.refusal(0, nil, doc)
	}
	if !json.Valid(doc) {
		return nil, &nodes.ModelError{Kind: nodes.KindCut, Text: "the answer ended in the middle"}
	}
	var answer struct {
		Data []vector `json:"data"`
	}
	if err := json.Unmarshal(doc, &answer); err != nil {
		return nil, broken("the answer has no vectors: %v", err)
	}
	if len(answer.Data) != n {
		return nil, broken("%d vectors for %d texts", len(answer.Data), n)
	}
	out := make([][]float32, n)
	for i, v := range answer.Data {
		if v.Index != nil {
			i = *v.Index
		}
		if i < 0 || i >= n || out[i] != nil {
			return nil, broken("the vectors are numbered wrong: %d of %d is there twice, or too much", i, n)
		}
		if err := e.fits(v.Embedding); err != nil {
			return nil, err
		}
		out[i] = v.Embedding
	}
	return out, nil
}

// fits makes sure that all vectors have one length, since others cannot be compared.
func (e *Embedder) fits(v []float32) error {
	got := int64(len(v))
	if got == 0 {
		return broken("a vector is empty")
	}
	e.length.CompareAndSwap(0, got)
	if want := e.length.Load(); got != want {
		return broken("a vector has %d dimensions, not %d: another model answers, or it has no choice of dimensions", got, want)
	}
	return nil
}

func broken(format string, args ...any) error {
	return &nodes.ModelError{Kind: nodes.KindInvalid, Text: fmt.Sprintf(format, args...)}
}
