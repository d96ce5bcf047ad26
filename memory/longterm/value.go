package longterm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// Put stores a document of a type under a key of a namespace, in place of the one before, which stays in its history. The user
// has said so in the message that is named. Its strings are searched like other items. A secret in it is blotted out, so that
// what is stored is less than v; an instruction to a model in it is ErrRefused.
func Put[T any](ctx context.Context, s *Store, sc memory.Scope, a memory.Agent, namespace, key string, v T, by Source) (Item, error) {
	doc, err := json.Marshal(v)
	if err != nil {
		return Item{}, fmt.Errorf("%w: its value: %w", ErrDraft, err)
	}
	if key == "" {
		return Item{}, fmt.Errorf("%w: a document needs a key", ErrDraft)
	}
	out, err := s.Add(ctx, sc, a, Draft{
		Namespace: namespace, Kind: Semantic, Key: key, Text: key + ": " + string(doc), Value: doc, Origin: FromUser, Source: by,
	})
	if err != nil {
		return Item{}, err
	}
	if out[0].Fate == Dropped {
		return Item{}, fmt.Errorf("%w (%s)", ErrRefused, out[0].Reason)
	}
	return s.Get(ctx, sc, a, out[0].ID)
}

// Value returns the document of a type under a key, or ErrNotFound. One that does not fit the type is ErrCorrupt.
func Value[T any](ctx context.Context, s *Store, sc memory.Scope, a memory.Agent, namespace, key string) (T, error) {
	var v T
	i, err := s.AsOf(ctx, sc, a, namespace, key, time.Time{})
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(i.Value, &v); err != nil {
		return v, fmt.Errorf("%w: the document under %.80q: %w", ErrCorrupt, key, err)
	}
	return v, nil
}
