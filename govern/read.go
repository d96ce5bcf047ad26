package govern

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/session"
)

const page = 1000

func (w *inquiry) readMessages(ctx context.Context) error {
	if w.boxes.Session == nil {
		return nil
	}
	for after := (session.Conversation{}); ; {
		found, err := w.boxes.Session.Conversations(ctx, w.q.Scope, after, page)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, c := range found {
			if err := w.readConversation(ctx, c.ID); err != nil {
				return err
			}
		}
		after = found[len(found)-1]
	}
}

func (w *inquiry) readConversation(ctx context.Context, id string) error {
	for after := int64(0); ; {
		found, err := w.boxes.Session.Messages(ctx, w.q.Scope, id, session.Page{After: after, Limit: page})
		if errors.Is(err, session.ErrNotFound) {
			return nil // it was deleted meanwhile
		}
		if err != nil || len(found) == 0 {
			return err
		}
		for _, m := range found {
			if s, ok := newSpoken(m); ok {
				w.messages = append(w.messages, s)
			}
		}
		after = found[len(found)-1].Seq
	}
}

func (w *inquiry) readJobs(ctx context.Context) error {
	if w.boxes.Longterm == nil {
		return nil
	}
	for after := ""; ; {
		found, err := w.boxes.Longterm.Jobs(ctx, w.q.Scope, w.q.Agent, after, page)
		if err != nil || len(found) == 0 {
			return err
		}
		w.jobs, after = append(w.jobs, found...), found[len(found)-1].ID
	}
}

// gather finds the items that may be what the words are about: those that drafts of the sayings have become, those that the turn has
// read, and those that a search for the words finds. Where none has the words, and no job says what became of them, it looks at all
// that the user has.
func (w *inquiry) gather(ctx context.Context, said []spoken) error {
	if w.boxes.Longterm == nil {
		return nil
	}
	for _, m := range said {
		for _, o := range m.outcomes {
			if err := w.get(ctx, cmp.Or(o.ID, o.Over)); err != nil {
				return err
			}
		}
	}
	if w.turn != nil {
		for _, i := range w.turn.read {
			if err := w.get(ctx, i.ID); err != nil {
				return err
			}
		}
	}
	hits, err := w.boxes.Longterm.Search(ctx, w.q.Scope, w.q.Agent, longterm.Query{Text: w.q.Words, Limit: 50})
	if err != nil {
		return err
	}
	for _, h := range hits {
		if !h.Pending {
			w.add(h.Item)
		}
	}
	if w.recorded(said) {
		return nil
	}
	return w.readItems(ctx)
}

// recorded reports whether what was found says what became of the words.
func (w *inquiry) recorded(said []spoken) bool {
	most := 1.0
	if len(said) > 0 {
		if _, ok := w.jobOf(said[0].Conversation, said[0].ID); ok {
			return true
		}
		most = said[0].cover
	}
	return slices.ContainsFunc(w.items, func(i longterm.Item) bool { return w.covered(termsOf(i)) >= 0.9*most })
}

func (w *inquiry) readItems(ctx context.Context) error {
	for after := ""; ; {
		found, err := w.boxes.Longterm.List(ctx, w.q.Scope, w.q.Agent, longterm.Page{After: after, Limit: page, Past: true, Inferred: true})
		if err != nil || len(found) == 0 {
			return err
		}
		for _, i := range found {
			w.add(i)
		}
		after = found[len(found)-1].ID
	}
}

// get adds an item, if the agent who asks may see it.
func (w *inquiry) get(ctx context.Context, id string) error {
	if id == "" || w.item(id) != nil {
		return nil
	}
	i, err := w.boxes.Longterm.Get(ctx, w.q.Scope, w.q.Agent, id)
	if errors.Is(err, longterm.ErrNotFound) {
		return nil
	}
	if err == nil {
		w.add(i)
	}
	return err
}

func (w *inquiry) add(i longterm.Item) {
	if _, there := w.byID[i.ID]; !there {
		w.byID[i.ID] = len(w.items)
		w.items = append(w.items, i)
	}
}

// item returns one that was found, or nil.
func (w *inquiry) item(id string) *longterm.Item {
	at, ok := w.byID[id]
	if !ok {
		return nil
	}
	return &w.items[at]
}
