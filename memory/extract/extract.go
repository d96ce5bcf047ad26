// Package extract makes drafts of what was said, for memory/longterm: by rules, which need no model, and by a model.
//
// A source is what the user says in their own words, and what a tool reports. Questions, what would be, what others like,
// quotations, code, logs, prompts, recalled memories and the answers of an assistant are none. Every draft quotes the text that
// it is from.
package extract

import (
	"context"

	"github.com/holdfast-go/holdfast/memory/longterm"
)

// All returns an extractor that joins what several say, in their order; it fails if one does, since what that would have said is
// not known.
func All(es ...longterm.Extractor) longterm.Extractor { return all(es) }

type all []longterm.Extractor

func (a all) Extract(ctx context.Context, texts []longterm.Text, known []longterm.Item) ([]longterm.Draft, error) {
	var out []longterm.Draft
	for _, e := range a {
		drafts, err := e.Extract(ctx, texts, known)
		if err != nil {
			return nil, err
		}
		out = append(out, drafts...)
	}
	return out, nil
}
