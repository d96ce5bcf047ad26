package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

// embedder returns an embedder at an address. o names what differs from the defaults.
func embedder(t *testing.T, url string, o openai.EmbedderOptions) *openai.Embedder {
	t.Helper()
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	o.BaseURL, o.APIKey, o.Model, o.HTTPClient = url, key, "vectors", &http.Client{Transport: transport}
	e, err := openai.NewEmbedder(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func vectorsFrom(t *testing.T, c openaitest.Config, o openai.EmbedderOptions) (*openai.Embedder, *openaitest.Provider) {
	t.Helper()
	p := openaitest.New(c)
	t.Cleanup(p.Close)
	return embedder(t, p.URL, o), p
}

// answering returns an embedder whose endpoint answers with one body.
func answering(t *testing.T, kind, body string) *openai.Embedder {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return embedder(t, s.URL, openai.EmbedderOptions{})
}

// R87: any endpoint makes vectors; many texts go in batches, and each gets its own vector.
func TestEmbed(t *testing.T) {
	t.Parallel()
	e, p := vectorsFrom(t, openaitest.Config{APIKey: key}, openai.EmbedderOptions{Dimensions: 64, Batch: 3})
	texts := []string{"one", "two", "three", "four", "five", "six", "seven"}
	got, err := e.EmbedDocuments(within(t), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if !slices.Equal(got[i], openaitest.Vector(text, 64)) {
			t.Errorf("%q has the vector of another text", text)
		}
	}
	query, err := e.EmbedQuery(within(t), "five")
	if err != nil || !slices.Equal(query, got[4]) {
		t.Errorf("a query has another vector than the same text: %v", err)
	}
	var sent []int
	for _, q := range p.Embeddings() {
		sent = append(sent, len(q.Input))
		if q.Model != "vectors" || q.Dimensions != 64 || q.APIKey != key {
			t.Errorf("asked %+v", q)
		}
	}
	if !slices.Equal(sent, []int{3, 3, 1, 1}) {
		t.Errorf("the requests have %v texts", sent)
	}
	if none, err := e.EmbedDocuments(within(t), nil); err != nil || len(none) != 0 || len(p.Embeddings()) != 4 {
		t.Errorf("no texts: %v, %v", none, err)
	}
}

// Vectors are put in the order of their texts by their index; where there is none, they come in that order.
func TestEmbedOrder(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"reversed":   `{"data":[{"index":2,"embedding":[3,0]},{"index":1,"embedding":[2,0]},{"index":0,"embedding":[1,0]}]}`,
		"no numbers": `{"data":[{"embedding":[1,0]},{"embedding":[2,0]},{"embedding":[3,0]}]}`,
	} {
		got, err := answering(t, "application/json", body).EmbedDocuments(within(t), []string{"a", "b", "c"})
		if err != nil || got[0][0] != 1 || got[1][0] != 2 || got[2][0] != 3 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// Whatever an endpoint answers that is not one vector for each text, of one length, is an error, of a kind that says what to do.
func TestEmbedFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, body string
		want       nodes.ErrorKind
	}{
		"too few":        {"application/json", `{"data":[{"index":0,"embedding":[1]}]}`, nodes.KindInvalid},
		"too many":       {"application/json", `{"data":[{"embedding":[1]},{"embedding":[1]},{"embedding":[1]}]}`, nodes.KindInvalid},
		"twice":          {"application/json", `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, nodes.KindInvalid},
		"out of range":   {"application/json", `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`, nodes.KindInvalid},
		"below zero":     {"application/json", `{"data":[{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}]}`, nodes.KindInvalid},
		"empty":          {"application/json", `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, nodes.KindInvalid},
		"two lengths":    {"application/json", `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, nodes.KindInvalid},
		"no numbers":     {"application/json", `{"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":"AAAA"}]}`, nodes.KindInvalid},
		"cut":            {"application/json", `{"data":[{"index":0,"embed`, nodes.KindCut},
		"nothing":        {"application/json", ``, nodes.KindCut},
		"a page":         {"text/html", `<html>`, nodes.KindUnavailable},
		"an error in it": {"application/json", `{"error":{"message":"overloaded","type":"server_error"}}`, nodes.KindUnavailable},
	} {
		got, err := answering(t, c.kind, c.body).EmbedDocuments(within(t), []string{"a", "b"})
		if nodes.KindOf(err) != c.want || got != nil {
			t.Errorf("%s: %v, %v; want %s", name, got, err, c.want)
		}
	}
}

// Errors are those of the Model: with the kind, the status and when to try again, without the key.
func TestEmbedRefused(t *testing.T) {
	t.Parallel()
	e, p := vectorsFrom(t, openaitest.Config{Embed: func(openaitest.EmbeddingRequest) ([][]float32, *openaitest.Error) {
		return nil, &openaitest.Error{Status: 429, Text: "slow down, " + key, RetryAfter: "7"}
	}}, openai.EmbedderOptions{})
	_, err := e.EmbedQuery(within(t), "a")
	m, ok := errors.AsType[*nodes.ModelError](err)
	if !ok || m.Kind != nodes.KindRateLimited || m.Status != 429 || m.RetryAfter != 7*time.Second || m.Model != "vectors" || !m.Retryable() {
		t.Errorf("refused with %+v", err)
	}
	if said := fmt.Sprintf("%v %+v %#v", err, e, e); strings.Contains(said, key) {
		t.Errorf("the key is told: %s", said)
	}
	if n := len(p.Embeddings()); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	if _, err = e.EmbedDocuments(within(t), []string{"a", " \n"}); nodes.KindOf(err) != nodes.KindInvalid || !strings.Contains(err.Error(), "text 1") {
		t.Errorf("an empty text: %v", err)
	}
	if n := len(p.Embeddings()); n != 1 {
		t.Errorf("an empty text was sent")
	}
}

// A vector of another length than those before is refused: it cannot be compared with them.
func TestEmbedKeepsItsLength(t *testing.T) {
	t.Parallel()
	n := 0
	e, _ := vectorsFrom(t, openaitest.Config{Embed: func(openaitest.EmbeddingRequest) ([][]float32, *openaitest.Error) {
		n++
		return [][]float32{make([]float32, n)}, nil
	}}, openai.EmbedderOptions{})
	if _, err := e.EmbedQuery(within(t), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.EmbedQuery(within(t), "a"); nodes.KindOf(err) != nodes.KindInvalid || !strings.Contains(err.Error(), "2 dimensions, not 1") {
		t.Errorf("another length: %v", err)
	}
}

// The context ends a request, and its error is the context's; an endpoint that does not answer is unavailable.
func TestEmbedEnds(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 2)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // a server that has not read all of it does not see that the client is gone
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(within(t))
	go func() {
		<-asked
		cancel()
	}()
	if _, err := embedder(t, s.URL, openai.EmbedderOptions{}).EmbedQuery(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_, err := embedder(t, s.URL, openai.EmbedderOptions{Timeout: time.Millisecond}).EmbedQuery(within(t), "a")
	if nodes.KindOf(err) != nodes.KindUnavailable || !strings.Contains(err.Error(), "Timeout") || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("too slow: %v", err)
	}
}

func TestEmbedderOptions(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]openai.EmbedderOptions{
		"Model":      {},
		"BaseURL":    {Model: "m", BaseURL: "nowhere"},
		"APIKey":     {Model: "m", APIKey: "a b"},
		"Dimensions": {Model: "m", Dimensions: -1},
	} {
		if _, err := openai.NewEmbedder(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %s", o, err, want)
		}
	}
}
