package nodes

import (
	"context"

	"github.com/holdfast-go/holdfast/message"
)

// Completion returns a function that has a model answer one prompt with text, for what wants no more of a model:
//
//	longterm.Options{Rules: extract.Rules(), Extractor: extract.Model(nodes.Completion(model))}
//
// Its errors are those of the model. It does not retry.
func Completion(m Model) func(ctx context.Context, prompt string) (string, error) {
	return func(ctx context.Context, prompt string) (string, error) {
		a, err := m.Generate(ctx, Request{Messages: []message.Message{message.User(prompt)}}, nil)
		if err != nil {
			return "", err
		}
		return a.Message.Text(), nil
	}
}
