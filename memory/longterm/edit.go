package longterm

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
)

// An Edit changes an item. What is not set stays; a Meta value of "" removes its name.
type Edit struct {
	Text    *string
	Label   *memory.Label // also a lower one; at least that of what the item depends on
	Expires *time.Time    // the zero time: never
	Meta    map[string]string
	Source  Source // the message in which the user asked for it; required
}

// Update makes a new version of an item that holds, and returns it: the user has said so. The old one is superseded. It returns
// ErrEnded for one that holds no longer, ErrRefused for a text that must not be kept.
func (s *Store) Update(ctx context.Context, sc memory.Scope, a memory.Agent, id string, e Edit) (out Item, err error) {
	acc := access(sc, a.Name(), "Update", e.Source.Conversation, id)
	if err := s.audit.Begin(ctx, acc); err != nil {
		return out, err
	}
	defer audited.End(ctx, s.audit, acc, &out, &err, itemID)
	err = s.update(ctx, sc, a, func(ctx context.Context, u *unit) error {
		old, err := u.item(ctx, id)
		if err != nil {
			return err
		}
		p, err := u.edited(old, e)
		if err != nil {
			return err
		}
		r, err := u.replace(ctx, old, p)
		if err == nil {
			out = r.shown()
		}
		return err
	})
	return out, err
}

// edited is what an edit makes of an item.
func (u *unit) edited(old *record, e Edit) (*prepared, error) {
	d := Draft{
		Namespace: old.Namespace, Label: old.Label, Kind: old.Kind, Key: old.Key, Text: old.Text, Words: old.Words, Value: old.Value,
		Meta: maps.Clone(old.Meta), Origin: FromUser, Source: e.Source, Expires: old.Expires, Depends: old.Depends,
	}
	if e.Text != nil {
		d.Text, d.Words = *e.Text, ""
	}
	if e.Label != nil {
		d.Label = *e.Label
	}
	if e.Expires != nil {
		d.Expires = *e.Expires
	}
	for name, text := range e.Meta {
		if d.Meta == nil {
			d.Meta = map[string]string{}
		}
		if d.Meta[name] = text; text == "" {
			delete(d.Meta, name)
		}
	}
	p, err := u.s.prepare(u.scope, u.agent, d)
	if err == nil && p.dropped != "" {
		err = fmt.Errorf("%w (%s)", ErrRefused, p.dropped)
	}
	return p, err
}

// replace stores p as the version after old, unless that was done before.
func (u *unit) replace(ctx context.Context, old *record, p *prepared) (*record, error) {
	if old.State != Holds {
		if next, err := u.item(ctx, old.By); err == nil && old.End == Superseded && next.Hash == p.hash && next.has(p.Source) {
			return next, nil
		}
		return nil, ErrEnded
	}
	p.date(u.now, nil)
	p.From = later(p.From, old.From)
	if _, err := u.inherit(ctx, p); err != nil {
		return nil, err
	}
	r := u.fresh(p)
	_, err := u.follow(ctx, nil, r, []*record{old})
	return r, err
}

// Confirm makes a fact of an item that was inferred: the user has said so in the message that is named. It is decided on like a
// draft, and what it turns out to be is returned: itself, or the item that said the same before.
func (s *Store) Confirm(ctx context.Context, sc memory.Scope, a memory.Agent, id string, by Source) (out Item, err error) {
	acc := access(sc, a.Name(), "Confirm", by.Conversation, id)
	if err := s.audit.Begin(ctx, acc); err != nil {
		return out, err
	}
	defer audited.End(ctx, s.audit, acc, &out, &err, itemID)
	if err := checkSource(by); err != nil {
		return out, fmt.Errorf("%w: %w", ErrDraft, err)
	}
	by.At = moment(by.At)
	err = s.update(ctx, sc, a, func(ctx context.Context, u *unit) error {
		r, err := u.item(ctx, id)
		if err != nil {
			return err
		}
		if r.State == Waits {
			r, err = u.confirm(ctx, r, by)
		} else if r.End == Superseded && !r.has(by) { // it gave way to what said the same
			r, err = u.confirmed(ctx, r, by)
		} else if r.State == Past {
			err = ErrEnded
		}
		if err == nil {
			out = r.shown()
		}
		return err
	})
	return out, err
}

func (u *unit) confirmed(ctx context.Context, r *record, by Source) (*record, error) {
	next, err := u.item(ctx, r.By)
	if err != nil || r.Origin != Inferred || !next.has(by) {
		return nil, ErrEnded
	}
	return next, nil
}

func (u *unit) confirm(ctx context.Context, waited *record, by Source) (*record, error) {
	p := &prepared{Draft: Draft{
		Namespace: waited.Namespace, Label: waited.Label, Kind: waited.Kind, Key: waited.Key, Text: waited.Text, Words: waited.Words,
		Value: waited.Value, Meta: waited.Meta, Origin: FromUser, Source: by, Confidence: 1, Expires: waited.Expires, Depends: waited.Depends,
	}, hash: waited.Hash, quoted: waited.Quoted, exact: waited.Key != "" && waited.Value != nil}
	p.date(u.now, nil)
	r := waited.clone()
	r.State, r.Origin, r.From, r.Confidence, r.Agent = Holds, FromUser, p.From, 1, u.agent.Name()
	r.add(p.Source)
	out, err := u.settle(ctx, p, waited, r)
	if err != nil {
		return nil, err
	}
	if out.ID == r.ID {
		return r, nil
	}
	return u.item(ctx, out.ID)
}
