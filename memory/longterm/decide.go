package longterm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/relate"
	"github.com/holdfast-go/holdfast/memory/search"
)

// decide says what becomes of a draft, and writes that. The order of the gates is part of the rules: what is no draft, who said
// it, how sure it is, whether it is known, what it supersedes.
func (u *unit) decide(ctx context.Context, p *prepared) (Outcome, error) {
	out, err := u.fate(ctx, p)
	out.Hash, out.Confidence, out.Redacted = p.hash, p.Confidence, p.redacted
	if out.Reason != NoSource { // which nobody has said
		out.Message, out.Call, out.Span = p.Source.Message, p.Source.Call, p.span
	}
	if out.Reason == Unsure {
		out.Least = u.s.o.Confidence
	}
	return out, err
}

func (u *unit) fate(ctx context.Context, p *prepared) (Outcome, error) {
	if p.dropped != "" {
		return Outcome{Fate: Dropped, Reason: p.dropped}, nil
	}
	p.date(u.now, u.s.o.TTL)
	if !p.Expires.IsZero() && !p.Expires.After(u.now) {
		return Outcome{Fate: Dropped, Reason: Expired}, nil
	}
	if p.Ends {
		return u.withdraw(ctx, p)
	}
	doubtful, err := u.inherit(ctx, p)
	if err != nil {
		return Outcome{}, err
	}
	if known, err := u.repeated(ctx, p); known != nil || err != nil {
		return u.repeat(ctx, known, p, err)
	}
	r := u.fresh(p)
	r.Doubtful = doubtful
	if p.Origin == Inferred {
		r.State = Waits
		return Outcome{Fate: Held, ID: r.ID}, u.save(ctx, nil, r)
	}
	return u.settle(ctx, p, nil, r)
}

// settle finds what a fact repeats or supersedes, and stores it in place of old, or as a new one where that is nil.
func (u *unit) settle(ctx context.Context, p *prepared, old, r *record) (Outcome, error) {
	rel, err := u.relatives(ctx, p)
	if err != nil {
		return Outcome{}, err
	}
	if rel.same != nil {
		return u.repeat(ctx, rel.same, p, u.giveWay(ctx, old, rel.same))
	}
	out := Outcome{Fate: Stored, ID: r.ID}
	if len(rel.over) == 0 {
		late, err := u.overtaken(ctx, r)
		if err != nil {
			return out, err
		}
		switch {
		case late:
			out.Reason = Older
		case old == nil || old.State != Holds:
			if err := u.room(ctx); err != nil {
				return Outcome{}, err
			}
		}
		return out, u.save(ctx, old, r)
	}
	for _, s := range rel.again {
		if !r.has(s) {
			r.add(s)
		}
	}
	if now := rel.over[0]; r.From.Before(now.From) {
		out.Reason = Older
		return out, u.insert(ctx, old, r, now)
	}
	return u.supersede(ctx, old, r, rel.over)
}

// date gives a draft the times that it does not name. What is said to hold in the future holds now: a message is at most as late as
// the clock of the store, whatever the clock of its sender says.
func (p *prepared) date(now time.Time, ttl map[Kind]time.Duration) {
	if p.Source.At.IsZero() || p.Source.At.After(now) {
		p.Source.At = now
	}
	if p.From.IsZero() {
		p.From = p.Source.At
	}
	if p.From.After(now) {
		p.From = now
	}
	if d := ttl[p.Kind]; d > 0 && p.Expires.IsZero() {
		p.Expires = p.From.Add(d)
	}
}

// fresh is the record that a draft makes.
func (u *unit) fresh(p *prepared) *record {
	return &record{
		Item: Item{
			ID: u.id(p.hash, p.Source.Conversation, p.Source.Message, p.Source.Call), Namespace: p.Namespace, Label: p.Label, Kind: p.Kind, Key: p.Key,
			Text: p.Text, Words: p.Words, Value: p.Value, Meta: p.Meta, Origin: p.Origin, Sources: []Source{p.Source}, Agent: u.agent.Name(),
			Confidence: p.Confidence, Depends: p.Depends, Version: 1, From: p.From, Expires: p.Expires, Stored: u.now,
		},
		Hash: p.hash, Versions: 1, Quoted: p.quoted,
	}
}

// errDepends is wrapped by the error for a draft that follows from what is not there.
var errDepends = errors.New("it depends on an item that is not there")

// inherit gives a draft the highest label of what it follows from, and reports whether some of that no longer holds.
func (u *unit) inherit(ctx context.Context, p *prepared) (doubtful bool, err error) {
	if len(p.Depends) == 0 {
		return false, nil
	}
	slices.Sort(p.Depends)
	p.Depends = slices.Compact(p.Depends)
	on, err := u.items(ctx, u.seen(Select{IDs: p.Depends}))
	if err != nil {
		return false, err
	}
	if len(on) != len(p.Depends) {
		return false, fmt.Errorf("%w: %w", ErrDraft, errDepends)
	}
	for _, r := range on {
		p.Label = max(p.Label, r.Label)
		doubtful = doubtful || !r.Current() || r.Doubtful
	}
	return doubtful, nil
}

// repeated returns the item that says the same already: by the same message, whatever became of it, or one that holds.
func (u *unit) repeated(ctx context.Context, p *prepared) (*record, error) {
	found, err := u.items(ctx, u.seen(Select{Hashes: []string{p.hash}}))
	if err != nil {
		return nil, err
	}
	var known *record
	for _, r := range found {
		switch {
		case r.Namespace != p.Namespace, p.Key != "" && r.Key != "" && p.Key != r.Key, r.State == Waits && p.Origin != Inferred:
		case r.has(p.Source):
			return r, nil
		case r.State != Past && known == nil:
			known = r
		}
	}
	if known == nil || p.Key == "" || known.Key != "" {
		return known, nil
	}
	return nil, nil // it may be known under its key as something else
}

// repeat adds a source to an item that says the same.
func (u *unit) repeat(ctx context.Context, r *record, p *prepared, err error) (Outcome, error) {
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Fate: Repeated, ID: r.ID}
	if r.has(p.Source) || p.Origin == Inferred && r.State == Holds {
		return out, nil // what a model concludes is no further source
	}
	c := r.clone()
	c.add(p.Source)
	c.Confidence = max(c.Confidence, p.Confidence)
	if c.Expires.IsZero() || p.Expires.IsZero() {
		c.Expires = time.Time{}
	} else if c.Expires.Before(p.Expires) {
		c.Expires = p.Expires
	}
	if p.Origin == FromUser && len(p.Depends) == 0 {
		c.Doubtful = false
	}
	return out, u.save(ctx, r, c)
}

// The relatives of a draft are items that hold and are about the same.
type relatives struct {
	same  *record
	over  []*record // that it supersedes, the one that it is a version of first
	again []Source  // of those of them that say the same
}

func (u *unit) relatives(ctx context.Context, p *prepared) (relatives, error) {
	var rel relatives
	if p.Repeats != "" {
		r, err := u.named(ctx, p, p.Repeats)
		if r != nil || err != nil {
			return relatives{same: r}, err
		}
	}
	of, err := u.versioned(ctx, p)
	if err != nil {
		return rel, err
	}
	if of != nil {
		if !p.exact && of.Value == nil && p.Value == nil && u.sees(of) && relate.Compare(of.Text, p.Text) == relate.Same {
			return relatives{same: of}, nil
		}
		rel.over = append(rel.over, of)
	}
	if p.exact {
		return rel, nil
	}
	near, err := u.near(ctx, p)
	if err != nil {
		return rel, err
	}
	for _, r := range near {
		if of != nil && r.ID == of.ID {
			continue
		}
		old, later := r.Text, p.Text
		if p.From.Before(r.From) {
			old, later = later, old
		}
		switch relate.Compare(old, later) {
		case relate.Same:
			if of == nil && (p.Key == "" || r.Key == p.Key) {
				return relatives{same: r}, nil
			}
			rel.over, rel.again = append(rel.over, r), append(rel.again, r.Sources...) // from now on it is known under its key
		case relate.Supersedes:
			rel.over = append(rel.over, r)
		}
	}
	return rel, nil
}

// versioned is the item that a draft says it is a version of, or that holds about its key, whoever may see it.
func (u *unit) versioned(ctx context.Context, p *prepared) (*record, error) {
	if p.Replaces != "" {
		if r, err := u.named(ctx, p, p.Replaces); r != nil || err != nil {
			return r, err
		}
	}
	if p.Key == "" {
		return nil, nil
	}
	found, err := u.items(ctx, Select{
		Namespaces: []string{p.Namespace}, Label: memory.Secret, Keys: []string{p.Key}, States: []State{Holds}, Newest: true, Limit: 1,
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// named is an item that a draft names, if it holds in its namespace.
func (u *unit) named(ctx context.Context, p *prepared, id string) (*record, error) {
	r, err := u.item(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil || r.State != Holds || r.Namespace != p.Namespace || p.Key != "" && r.Key != "" && r.Key != p.Key {
		return nil, err
	}
	return r, nil
}

// nearby is how many items that have words in common with a draft are compared with it, and recent how many of the newest: "I moved to
// Oslo" has none in common with "I live in Berlin".
const (
	nearby = 20
	recent = 30
)

// near returns items that hold, are visible, and may be about the same as a draft, the nearest first.
func (u *unit) near(ctx context.Context, p *prepared) ([]*record, error) {
	shelves, err := u.visible(ctx, p.Namespace)
	if err != nil || len(shelves) == 0 {
		return nil, err
	}
	hits, err := search.Search(ctx, u.index, shelves, search.Query{Text: middle(p.Text, maxQuery), Now: u.now, Limit: nearby})
	if err != nil {
		return nil, err
	}
	found, err := u.at(ctx, hits)
	if err != nil {
		return nil, err
	}
	if p.Kind != Episode { // of which each stands alone
		newest, err := u.items(ctx, Select{
			Namespaces: []string{p.Namespace}, Label: u.agent.Clearance(), Kinds: []Kind{Semantic, Preference, Habit}, States: []State{Holds},
			Newest: true, Limit: recent,
		})
		if err != nil {
			return nil, err
		}
		for _, r := range newest {
			if !slices.ContainsFunc(found, func(f *record) bool { return f.ID == r.ID }) {
				found = append(found, r)
			}
		}
	}
	return slices.DeleteFunc(found, func(r *record) bool {
		return r.expired(u.now) || r.State != Holds || r.Value != nil && r.Key != "" || p.Key != "" && r.Key != "" || (r.Kind == Episode) != (p.Kind == Episode)
	}), nil
}

// at returns the records of hits, in their order.
func (u *unit) at(ctx context.Context, hits []search.Hit) ([]*record, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	var places []search.Place
	for _, h := range hits {
		places = append(places, search.Place{Shelf: h.Shelf, No: h.No})
	}
	found, err := u.items(ctx, u.seen(Select{Places: places}))
	if err != nil {
		return nil, err
	}
	by := map[search.Place]*record{}
	for _, r := range found {
		by[search.Place{Shelf: r.Shelf, No: r.No}] = r
	}
	var out []*record
	for _, p := range places {
		if r := by[p]; r != nil {
			out = append(out, r)
		}
	}
	return out, nil
}
