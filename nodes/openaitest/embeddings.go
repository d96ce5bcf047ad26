package openaitest

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	defaultDimensions = 256
	maxInputs         = 2048
)

// An EmbeddingRequest is what a client wants vectors of.
type EmbeddingRequest struct {
	Model      string
	Input      []string // one for an input that is a string
	Dimensions int      // 0: not sent
	APIKey     string   // the bearer
	Body       string   // as it was sent
}

// Vector returns the vector of a text that a provider answers by default: its words, and the pairs of its Chinese characters, are hashed to
// dimensions. So texts that share words are near each other, the same in every process.
func Vector(text string, dimensions int) []float32 {
	out := make([]float32, dimensions)
	for _, w := range words(text) {
		h := fnv.New64a()
		h.Write([]byte(w))
		sum := h.Sum64()
		out[sum%uint64(dimensions)] += 1 - 2*float32(sum>>63)
	}
	var square float64
	for _, x := range out {
		square += float64(x) * float64(x)
	}
	if square == 0 { // no word, or words that cancel each other
		out[0], square = 1, 1
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(square))
	}
	return out
}

func words(text string) (out []string) {
	han := func(r rune) bool { return unicode.Is(unicode.Han, r) }
	out = append(out, strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) || han(r) })...)
	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return !han(r) }) {
		runes := []rune(s)
		for i := range runes {
			out = append(out, string(runes[i:min(i+2, len(runes))]))
		}
	}
	return out
}

// Embeddings returns which vectors were asked for so far, without what was refused as malformed, in order.
func (p *Provider) Embeddings() []EmbeddingRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.embeddings)
}

func (p *Provider) embed(w http.ResponseWriter, r *http.Request, key string) {
	doc, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	q, fault := readEmbedding(doc)
	if fault != "" {
		p.refuse(w, fault)
		return
	}
	q.APIKey = key
	p.mu.Lock()
	p.embeddings = append(p.embeddings, q)
	p.mu.Unlock()
	vectors, refusal := p.vectors(q)
	if refusal != nil {
		refusal.write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(embedded(q, vectors))
}

func (p *Provider) vectors(q EmbeddingRequest) (out [][]float32, refusal *Error) {
	if p.c.Embed != nil {
		return p.c.Embed(q)
	}
	dimensions := q.Dimensions
	if dimensions == 0 {
		dimensions = defaultDimensions
	}
	for _, text := range q.Input {
		out = append(out, Vector(text, dimensions))
	}
	return out, nil
}

// readEmbedding reads a request and returns why a provider would refuse it, or "".
func readEmbedding(doc []byte) (q EmbeddingRequest, fault string) {
	var b struct {
		Model          string          `json:"model"`
		Input          json.RawMessage `json:"input"`
		Dimensions     *int            `json:"dimensions"`
		EncodingFormat string          `json:"encoding_format"`
	}
	if !utf8.Valid(doc) || json.Unmarshal(doc, &b) != nil {
		return q, "we could not parse the JSON body of your request"
	}
	q = EmbeddingRequest{Model: b.Model, Body: string(doc)}
	var one string
	if json.Unmarshal(b.Input, &one) == nil {
		q.Input = []string{one}
	} else if json.Unmarshal(b.Input, &q.Input) != nil {
		return q, "input is neither a string nor an array of strings"
	}
	if b.Dimensions != nil {
		q.Dimensions = *b.Dimensions
	}
	switch {
	case b.Model == "":
		fault = "you must provide a model parameter"
	case len(q.Input) == 0 || len(q.Input) > maxInputs:
		fault = "input has no text, or more than 2048"
	case slices.ContainsFunc(q.Input, func(s string) bool { return strings.TrimSpace(s) == "" }):
		fault = "input cannot be an empty string"
	case b.Dimensions != nil && *b.Dimensions < 1:
		fault = "dimensions must be above zero"
	case b.EncodingFormat != "" && b.EncodingFormat != "float":
		fault = "encoding_format is not float"
	}
	return q, fault
}

// embedded is the answer to a request.
func embedded(q EmbeddingRequest, vectors [][]float32) any {
	type object struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	type usage struct {
		Input int `json:"prompt_tokens"`
		Total int `json:"total_tokens"`
	}
	answer := struct {
		Object string   `json:"object"`
		Model  string   `json:"model"`
		Data   []object `json:"data"`
		Usage  usage    `json:"usage"`
	}{Object: "list", Model: q.Model, Data: []object{}}
	for i, v := range vectors {
		answer.Data = append(answer.Data, object{"embedding", i, v})
	}
	var m Message
	for _, text := range q.Input {
		m.Parts = append(m.Parts, Part{Text: text})
	}
	n := Request{Messages: []Message{m}}.Tokens()
	answer.Usage = usage{n, n}
	return answer
}
