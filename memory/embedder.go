package memory

import "context"

// An Embedder turns texts into vectors. It has the methods of langchaingo's embeddings.Embedder, so that each of those is one.
// It must be safe for concurrent use. Vectors of one embedder have one length.
type Embedder interface {
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) // one for each text, in order
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}
