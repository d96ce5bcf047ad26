package nodes

import (
	"cmp"
	"context"

	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/working"
)

// Memories is the long-term memory of a store. Somebody must run [longterm.Store.Work] if the store has an Extractor.
type Memories struct {
	Store   *longterm.Store
	Limit   int // items in a prompt, the profile among them; default 5
	Profile int // of them preferences and habits, whatever is asked, at most; default 3, negative: none
}

var _ LongTerm = Memories{}

// Recall implements LongTerm. It costs one read of the store.
func (m Memories) Recall(ctx context.Context, q Query) ([]working.Item, error) {
	hits, err := m.Store.Search(ctx, q.Scope, q.Agent, longterm.Query{
		Text: q.Text, Also: q.Entities, Limit: cmp.Or(m.Limit, 5), Profile: max(cmp.Or(m.Profile, 3), 0),
	})
	if err != nil {
		return nil, err
	}
	items := make([]working.Item, len(hits))
	for i, h := range hits {
		items[i] = working.Item{
			Source: working.LongTerm, ID: h.ID, Text: told(h), Subject: h.Key, Kind: string(h.Kind), At: h.From,
			Score: inOrder(i), // words that wait for their extraction come first, whatever their score in the search
		}
	}
	return items, nil
}

// inOrder is a score that keeps the order in which a store has put what it found. An assembler compares the places of items alone.
func inOrder(i int) float64 { return 1 / float64(i+1) }

// told is an item as a model reads it: the conclusion, and the words that said it, which alone have every id and number as it was.
func told(h longterm.Hit) string {
	text := h.Text
	if h.Words != "" && h.Words != h.Text {
		text += "\n" + h.Words
	}
	if h.Doubtful {
		text += "\n(?) What this followed from has changed. / 其依据已改变。"
	}
	return text
}

// Remember implements LongTerm. It costs one read of the store and one write.
func (m Memories) Remember(ctx context.Context, e Exchange) error {
	return m.Store.Remember(ctx, e.Scope, e.Agent, longterm.Exchange{Conversation: e.Conversation, Messages: e.Messages})
}
