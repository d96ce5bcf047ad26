package govern

import (
	"context"
	"errors"

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

func (w *inquiry) readItems(ctx context.Context) error {
	if w.boxes.Longterm == nil {
		return nil
	}
	for after := ""; ; {
		found, err := w.boxes.Longterm.List(ctx, w.q.Scope, w.q.Agent, longterm.Page{After: after, Limit: page, Past: true, Inferred: true})
		if err != nil || len(found) == 0 {
			return err
		}
		w.items, after = append(w.items, found...), found[len(found)-1].ID
	}
}
