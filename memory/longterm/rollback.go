package longterm

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
)

// RollBack undoes a version: it ends, and what it had superseded holds again. It returns that, or the zero item if there was
// none. Of a version that was superseded itself, the one before it is followed by the one after it from then on, and nothing
// holds again; of an item that was inferred it is the answer no. Of one that was withdrawn the withdrawal is undone, and the
// item returned; it is ErrEnded if its key has another item by now. What was forgotten is ErrEnded. Its messages that still
// wait in the outbox are removed from it, as by Forget.
func (s *Store) RollBack(ctx context.Context, sc memory.Scope, a memory.Agent, id string) (out Item, err error) {
	acc := access(sc, a.Name(), "RollBack", "", id)
	if err := s.audit.Begin(ctx, acc); err != nil {
		return out, err
	}
	defer audited.End(ctx, s.audit, acc, &out, &err, nil)
	err = s.update(ctx, sc, a, func(ctx context.Context, u *unit) error {
		out = Item{}
		r, err := u.item(ctx, id)
		if err != nil {
			return err
		}
		back, err := u.rollBack(ctx, r)
		if err == nil && back != nil && u.sees(back) {
			out = back.shown()
		}
		return err
	})
	return out, err
}

func (u *unit) rollBack(ctx context.Context, r *record) (*record, error) {
	switch {
	case r.End == RolledBack:
		return u.restored(ctx, r)
	case r.End == Withdrawn:
		return u.reinstate(ctx, r)
	case r.End == Forgotten:
		return nil, ErrEnded
	}
	c := r.clone()
	c.State, c.End = Past, RolledBack
	if c.Until.IsZero() {
		c.Until = u.now
	}
	var back *record
	var err error
	if r.State == Past {
		err = u.splice(ctx, r)
	} else if r.State == Holds {
		back, err = u.reopen(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	if back != nil {
		c.Restores = back.ID
	}
	if err := u.save(ctx, r, c); err != nil {
		return nil, err
	}
	if err := u.doubt(ctx, r.ID); err != nil {
		return nil, err
	}
	return back, u.unqueue(ctx, r.Sources, nil)
}

// restored is what holds again since a version was rolled back, if it still does.
func (u *unit) restored(ctx context.Context, r *record) (*record, error) {
	if r.Restores == "" {
		return nil, nil
	}
	found, err := u.link(ctx, r.Namespace, r.Restores)
	if err != nil || found == nil || found.State != Holds {
		return nil, err
	}
	return found, nil
}

// reopen lets hold again what r superseded, and returns the version before it.
func (u *unit) reopen(ctx context.Context, r *record) (back *record, err error) {
	for _, id := range r.before() {
		was, err := u.link(ctx, r.Namespace, id)
		if err != nil {
			return nil, err
		}
		if was == nil || was.By != r.ID || was.End != Superseded {
			continue
		}
		if taken, err := u.taken(ctx, was, r); taken || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		c := was.clone()
		if id == r.Replaces {
			c.Versions, back = r.Versions, c
		}
		if err := u.hold(ctx, was, c); err != nil {
			return nil, err
		}
	}
	return back, nil
}

// before are the ids of all that a version superseded.
func (r *record) before() []string {
	if r.Replaces == "" {
		return r.Also
	}
	return append([]string{r.Replaces}, r.Also...)
}

// taken reports whether the key of a past record has an item that holds, other than one.
func (u *unit) taken(ctx context.Context, was, but *record) (bool, error) {
	if was.Key == "" {
		return false, nil
	}
	now, err := u.items(ctx, Select{
		Namespaces: []string{was.Namespace}, Label: memory.Secret, Keys: []string{was.Key}, States: []State{Holds},
	})
	return slices.ContainsFunc(now, func(r *record) bool { return r.ID != but.ID }), err
}

// hold lets a past record hold again.
func (u *unit) hold(ctx context.Context, was, c *record) error {
	c.State, c.End, c.By, c.Until, c.Ended = Holds, "", "", time.Time{}, Source{}
	return u.save(ctx, was, c)
}

// splice takes a past version out of the links of its fact.
func (u *unit) splice(ctx context.Context, r *record) error {
	if next, err := u.link(ctx, r.Namespace, r.By); err != nil {
		return err
	} else if next != nil {
		c := next.clone()
		if c.Replaces == r.ID {
			c.Replaces = r.Replaces
		}
		if i := slices.Index(c.Also, r.ID); i >= 0 {
			c.Also = slices.Concat(c.Also[:i], r.before(), c.Also[i+1:])
		} else {
			c.Also = append(c.Also, r.Also...)
		}
		if err := u.save(ctx, next, c); err != nil {
			return err
		}
	}
	for _, id := range r.before() {
		was, err := u.link(ctx, r.Namespace, id)
		if err != nil {
			return err
		}
		if was == nil || was.By != r.ID {
			continue
		}
		c := was.clone()
		c.By, c.Until = r.By, r.Until
		if err := u.save(ctx, was, c); err != nil {
			return err
		}
	}
	return nil
}

// reinstate undoes a withdrawal.
func (u *unit) reinstate(ctx context.Context, r *record) (*record, error) {
	if taken, err := u.taken(ctx, r, r); err != nil || taken {
		return nil, cmp.Or(err, ErrEnded)
	}
	c := r.clone()
	return c, u.hold(ctx, r, c)
}

// link returns the record of an id, whoever may see it, or nil.
func (u *unit) link(ctx context.Context, namespace, id string) (*record, error) {
	if id == "" {
		return nil, nil
	}
	found, err := u.items(ctx, Select{Namespaces: []string{namespace}, Label: memory.Secret, IDs: []string{id}})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}
