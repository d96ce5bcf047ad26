package main

import (
	"context"
	"embed"
	"errors"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

//go:embed handbook/*.md
var chapters embed.FS

// edition is the version of all chapters: raise it when one of them changes.
const edition = "2026-01"

// openHandbook indexes what the shop rules, anew at every start: it comes with the program.
func openHandbook(ctx context.Context) (*knowledge.Store, error) {
	files, err := chapters.ReadDir("handbook")
	if err != nil {
		return nil, err
	}
	var docs []knowledge.Document
	for _, f := range files {
		text, err := chapters.ReadFile("handbook/" + f.Name())
		if err != nil {
			return nil, err
		}
		docs = append(docs, knowledge.Document{ID: f.Name(), Version: edition, Text: string(text), Roles: []string{knowledge.Everyone}})
	}
	s, err := knowledge.NewMemory(knowledge.Options{})
	if err != nil {
		return nil, err
	}
	if err := s.Index(ctx, tenant, docs...); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
