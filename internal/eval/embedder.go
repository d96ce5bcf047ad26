package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// A server is an embedder that speaks as OpenAI does: url is what stands before /embeddings.
type server struct{ url, model, key string }

// EmbedDocuments implements memory.Embedder.
func (s server) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	asked, err := json.Marshal(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{s.model, texts})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(s.url, "/")+"/embeddings", bytes.NewReader(asked))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		return nil, fmt.Errorf("embeddings of %s: %s: %s", s.url, resp.Status, said)
	}
	return decodeEmbeddings(resp.Body, len(texts))
}

type embedding struct {
	Index     int       `json:"index"`
	Embedding []float32 `json:"embedding"`
}

func decodeEmbeddings(r io.Reader, n int) ([][]float32, error) {
	var answer struct {
		Data []embedding `json:"data"`
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return nil, fmt.Errorf("embeddings: %w", err)
	}
	slices.SortFunc(answer.Data, func(a, b embedding) int { return cmp.Compare(a.Index, b.Index) })
	vectors := make([][]float32, 0, n)
	for i, d := range answer.Data {
		if d.Index == i {
			vectors = append(vectors, d.Embedding)
		}
	}
	if len(vectors) != n || len(answer.Data) != n {
		return nil, fmt.Errorf("embeddings: %d for %d texts", len(answer.Data), n)
	}
	return vectors, nil
}

// EmbedQuery implements memory.Embedder.
func (s server) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := s.EmbedDocuments(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}
