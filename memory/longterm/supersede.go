package longterm

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// supersede stores r as the version after over[0], and ends all of over. A new version of a secret is one.
func (u *unit) supersede(ctx context.Context, old, r *record, over []*record) (Outcome, error) {
	for _, o := range over {
		r.Label = max(r.Label, o.Label)
	}
	return u.follow(ctx, old, r, over)
}

// follow is supersede for a label that the user has chosen.
func (u *unit) follow(ctx context.Context, old, r *record, over []*record) (Outcome, error) {
	out := Outcome{Fate: Replaced, ID: r.ID, Over: over[0].ID}
	if !u.sees(over[0]) {
		out.Fate, out.Over = Stored, "" // nobody learns what is there
	}
	r.Key = cmp.Or(r.Key, over[0].Key)
	r.Replaces = over[0].ID
	r.Versions = over[0].Versions + 1
	r.Version = r.Versions
	if r.Value == nil && over[0].Value == nil {
		r.Subject = cmp.Or(over[0].Subject, over[0].Text)
	}
	for i, o := range over {
		if i > 0 {
			r.Also = append(r.Also, o.ID)
		}
		if err := u.end(ctx, o, Superseded, later(o.From, r.From), r.ID, Source{}); err != nil {
			return out, err
		}
	}
	return out, u.save(ctx, old, r)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// end takes an item out of what holds. What follows from it becomes doubtful.
func (u *unit) end(ctx context.Context, r *record, why End, until time.Time, by string, said Source) error {
	c := r.clone()
	c.State, c.End, c.Until, c.By, c.Ended = Past, why, until, by, said
	if err := u.save(ctx, r, c); err != nil {
		return err
	}
	return u.doubt(ctx, r.ID)
}

// doubt marks what follows from items, and what follows from that, whoever may see it.
func (u *unit) doubt(ctx context.Context, ids ...string) error {
	for len(ids) > 0 {
		sel, err := u.all(ctx, Select{Depends: ids, States: []State{Holds, Waits}})
		if err != nil {
			return err
		}
		found, err := u.items(ctx, sel)
		if err != nil {
			return err
		}
		ids = nil
		for _, r := range found {
			if r.Doubtful {
				continue
			}
			c := r.clone()
			c.Doubtful = true
			if err := u.save(ctx, r, c); err != nil {
				return err
			}
			ids = append(ids, r.ID)
		}
	}
	return nil
}

// insert stores r, which was said before an item that holds now, as a past version of it.
func (u *unit) insert(ctx context.Context, old, r, now *record) error {
	versions, err := u.versions(ctx, now)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(versions, func(v *record) bool { return v.From.After(r.From) })
	next := versions[i] // there is one: now
	head := now.clone()
	head.Versions++
	if i == 0 && r.Value == nil && now.Value == nil {
		head.Subject = r.Text
	}
	r.Version, r.Key, r.Label = head.Versions, cmp.Or(r.Key, now.Key), max(r.Label, now.Label)
	r.State, r.End, r.Until, r.By, r.Replaces = Past, Superseded, next.From, next.ID, next.Replaces
	if next.Replaces != "" && i > 0 {
		before := versions[i-1]
		c := before.clone()
		c.By, c.Until = r.ID, r.From
		if err := u.save(ctx, before, c); err != nil {
			return err
		}
	}
	if next.ID != now.ID {
		c := next.clone()
		c.Replaces = r.ID
		if err := u.save(ctx, next, c); err != nil {
			return err
		}
	} else {
		head.Replaces = r.ID
	}
	return errors.Join(u.save(ctx, now, head), u.save(ctx, old, r))
}

// versions are those of the fact of a record that were not undone, in the order in which they held.
func (u *unit) versions(ctx context.Context, now *record) ([]*record, error) {
	all, err := u.chain(ctx, now)
	if err != nil {
		return nil, err
	}
	also := map[string]bool{}
	for _, r := range all {
		for _, id := range r.Also {
			also[id] = true
		}
	}
	all = slices.DeleteFunc(all, func(r *record) bool {
		return also[r.ID] || r.State == Waits || r.End == RolledBack || r.End == Forgotten
	})
	slices.SortStableFunc(all, func(a, b *record) int { return a.From.Compare(b.From) })
	return all, nil
}

// overtaken makes r, whose key has no item that holds, a past version if its key was withdrawn after it was said.
func (u *unit) overtaken(ctx context.Context, r *record) (bool, error) {
	if r.Key == "" {
		return false, nil
	}
	found, err := u.items(ctx, Select{
		Namespaces: []string{r.Namespace}, Label: memory.Secret, Keys: []string{r.Key}, States: []State{Past}, Newest: true,
	})
	if err != nil {
		return false, err
	}
	for _, w := range found {
		if w.End == Withdrawn && w.Until.After(r.From) {
			r.State, r.End, r.Until, r.Ended = Past, Withdrawn, w.Until, w.Ended
			r.Label = max(r.Label, w.Label)
			return true, nil
		}
	}
	return false, nil
}

// withdraw ends what holds about a key, and stores nothing in its place.
func (u *unit) withdraw(ctx context.Context, p *prepared) (Outcome, error) {
	none := Outcome{Fate: Dropped, Reason: Unknown}
	r, err := u.versioned(ctx, p)
	if err != nil {
		return none, err
	}
	if r == nil {
		return u.withdrawn(ctx, p)
	}
	switch {
	case !u.sees(r):
		return none, nil
	case p.From.Before(r.From):
		return Outcome{Fate: Dropped, Reason: Older}, nil
	}
	return Outcome{Fate: Ended, Over: r.ID}, u.end(ctx, r, Withdrawn, p.From, "", p.Source)
}

// withdrawn looks for what the same message withdrew before.
func (u *unit) withdrawn(ctx context.Context, p *prepared) (Outcome, error) {
	sel := u.seen(Select{States: []State{Past}})
	switch {
	case p.Replaces != "":
		sel.IDs = []string{p.Replaces}
	default:
		sel.Keys = []string{p.Key}
	}
	found, err := u.items(ctx, sel)
	if err != nil {
		return Outcome{}, err
	}
	i := slices.IndexFunc(found, func(r *record) bool {
		return r.End == Withdrawn && r.Namespace == p.Namespace && r.Ended.same(p.Source)
	})
	if i < 0 {
		return Outcome{Fate: Dropped, Reason: Unknown}, nil
	}
	return Outcome{Fate: Ended, Over: found[i].ID}, nil
}

// giveWay ends a record that waited, since another item says the same.
func (u *unit) giveWay(ctx context.Context, waited, by *record) error {
	if waited == nil {
		return nil
	}
	c := waited.clone()
	c.State, c.End, c.Until, c.By = Past, Superseded, u.now, by.ID
	return u.save(ctx, waited, c)
}
