package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
	"github.com/holdfast-go/holdfast/memory/pin"
)

// A Store keeps conversations. Make it with NewMemory, or open one of memory/session/sqlite or memory/session/postgres. It is
// safe for concurrent use.
//
// Every method takes a scope and sees nothing of another: what belongs to somebody else looks as if it were not there. The zero
// scope is memory.ErrScope. Where the context has no deadline a call takes at most Options.OpTimeout; a call that runs out of time
// is ErrUnavailable. All methods may be repeated.
type Store struct {
	back   Backend
	o      Options
	fields map[string]Definition
	audit  *audited.Log

	// life is held for reading by every call, so that Close waits for the calls under way.
	life   sync.RWMutex
	closed bool
}

var _ memory.Results = (*Store)(nil)

// New returns a store over a back end, which it closes. It is for those who write a back end. On ErrOptions nothing is closed.
func New(b Backend, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Store{back: b, o: o, fields: map[string]Definition{}, audit: audits(o)}
	for _, f := range o.Fields {
		s.fields[f.Name()] = f
	}
	return s, nil
}

// Write stores what one event changes in a conversation, all of it or nothing, and returns the state after it. The
// conversation is made if it is not there. The same write again changes nothing, also after later ones.
//
// It costs one transaction. Writes to one conversation happen one after the other, and each sees the one before: writes to
// different fields both survive; of one field the later trusted event is current.
func (s *Store) Write(ctx context.Context, sc memory.Scope, conversation string, w Write) (out State, err error) {
	a := access(ctx, "Write", sc, conversation)
	if s.o.Auditor != nil {
		a.Items = w.ids()
	}
	if err := s.audit.Begin(ctx, a); err != nil {
		return State{}, err
	}
	defer audited.End(ctx, s.audit, a, &out, &err, nil)
	k, err := key(sc, conversation)
	if err != nil {
		return State{}, err
	}
	p, err := s.prepare(k, w)
	if err != nil {
		return State{}, err
	}
	err = s.call(ctx, sc, func(ctx context.Context) error {
		return s.back.Update(ctx, k, p.refs(), func(snap Snapshot) (d Delta, err error) {
			d, out, err = s.decide(p, snap)
			return d, err
		})
	})
	if err != nil {
		return State{}, err
	}
	return out, nil
}

// State returns what is known in a conversation now, or ErrNotFound.
func (s *Store) State(ctx context.Context, sc memory.Scope, conversation string) (out State, err error) {
	defer audited.Read(ctx, s.audit, access(ctx, "State", sc, conversation), &out, &err, State.ids)
	return read(ctx, s, sc, conversation, func(ctx context.Context, k Key) (State, error) {
		snap, err := s.back.Load(ctx, k, nil)
		if err != nil {
			return State{}, err
		}
		return stateOf(snap)
	})
}

// Pins returns the pins in force in a conversation and the standing ones of its scope, oldest first. A conversation that is not
// there yet has the standing ones.
func (s *Store) Pins(ctx context.Context, sc memory.Scope, conversation string) (out []pin.Pin, err error) {
	defer audited.Read(ctx, s.audit, access(ctx, "Pins", sc, conversation), &out, &err, pinIDs)
	return read(ctx, s, sc, conversation, func(ctx context.Context, k Key) ([]pin.Pin, error) {
		rows, err := s.back.Pins(ctx, k)
		if err != nil {
			return nil, err
		}
		return pinsOf(rows)
	})
}

// FactHistory returns all that was ever confirmed of a field, and its withdrawals, oldest first. It returns ErrNotFound if
// there is no such conversation.
func (s *Store) FactHistory(ctx context.Context, sc memory.Scope, conversation, field string) (out []Fact, err error) {
	defer audited.Read(ctx, s.audit, access(ctx, "FactHistory", sc, conversation, field), &out, &err, nil)
	return read(ctx, s, sc, conversation, func(ctx context.Context, k Key) ([]Fact, error) {
		if !goodID(field) {
			field = "" // nobody's
		}
		return s.back.FactHistory(ctx, k, field)
	})
}

// Messages returns a page of a conversation, or ErrNotFound. The Seq of the last message of a page is where the next begins;
// an empty page is the end. What is written meanwhile moves nothing.
func (s *Store) Messages(ctx context.Context, sc memory.Scope, conversation string, p Page) (out []Message, err error) {
	defer audited.Read(ctx, s.audit, access(ctx, "Messages", sc, conversation), &out, &err, messageIDs)
	p.Limit = limit(p.Limit)
	return read(ctx, s, sc, conversation, func(ctx context.Context, k Key) ([]Message, error) {
		rows, err := s.back.Messages(ctx, k, p)
		if err != nil {
			return nil, err
		}
		var out []Message
		for _, r := range rows {
			m, err := r.message()
			if err != nil {
				return nil, err
			}
			out = append(out, Message{m, conversation, r.Seq, r.At})
		}
		return out, nil
	})
}

func limit(n int) int {
	if n <= 0 {
		return 100
	}
	return min(n, 1000)
}

// Conversations returns those of a scope, the newest first, behind the one that is given; the zero one is before all. limit
// is at most 1000; 0 is 100.
func (s *Store) Conversations(ctx context.Context, sc memory.Scope, after Conversation, n int) (out []Conversation, err error) {
	defer audited.Read(ctx, s.audit, access(ctx, "Conversations", sc, ""), &out, &err, conversationIDs)
	if after.ID != "" {
		if err := checkID("a conversation", after.ID); err != nil {
			return nil, err
		}
	}
	err = s.call(ctx, sc, func(ctx context.Context) (err error) {
		out, err = s.back.Conversations(ctx, sc, after, limit(n))
		return err
	})
	return out, err
}

// PutResult implements memory.Results. It is a Write of one result.
func (s *Store) PutResult(ctx context.Context, sc memory.Scope, r memory.Result) error {
	_, err := s.Write(ctx, sc, r.Conversation, Write{Results: []memory.Result{r}})
	return err
}

// Result implements memory.Results.
func (s *Store) Result(ctx context.Context, sc memory.Scope, id string) (out memory.Result, err error) {
	defer func() { audited.Read(ctx, s.audit, access(ctx, "Result", sc, out.Conversation, id), &out, &err, nil) }()
	err = s.call(ctx, sc, func(ctx context.Context) (err error) {
		if !goodID(id) {
			return memory.ErrNoResult
		}
		out, err = s.back.Result(ctx, sc, id)
		return err
	})
	return out, err
}

// DeleteMessages removes the messages of a conversation that were stored before a time, and returns how many there were. Facts,
// candidates, pins and results stay, but what is removed cannot confirm anything any more.
func (s *Store) DeleteMessages(ctx context.Context, sc memory.Scope, conversation string, before time.Time) (n int, err error) {
	a := access(ctx, "DeleteMessages", sc, conversation)
	if err := s.audit.Begin(ctx, a); err != nil {
		return 0, err
	}
	defer audited.End(ctx, s.audit, a, &n, &err, nil)
	return read(ctx, s, sc, conversation, func(ctx context.Context, k Key) (int, error) {
		return s.back.DeleteMessages(ctx, k, before)
	})
}

// Delete removes a conversation with all its rows. Standing pins that were said in it stay: they are the scope's. It is no
// error if there is none.
func (s *Store) Delete(ctx context.Context, sc memory.Scope, conversation string) (err error) {
	a := access(ctx, "Delete", sc, conversation)
	if err := s.audit.Begin(ctx, a); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, a, &err)
	_, err = read(ctx, s, sc, conversation, func(ctx context.Context, k Key) (struct{}, error) {
		return struct{}{}, s.back.Delete(ctx, k)
	})
	return err
}

// Erase removes all rows of a scope for good: every later write of it is memory.ErrErased, so that nothing that is under way brings it
// back, until Readmit. Of the scope its Hash is left, and when. On SQLite it ends with Compact; elsewhere that is for you to call. Where the context has no
// deadline it takes at most sixty times Options.OpTimeout.
func (s *Store) Erase(ctx context.Context, sc memory.Scope) (err error) {
	if err := sc.Valid(); err != nil {
		return err
	}
	a := access(ctx, "Erase", sc, "")
	if err := s.audit.Begin(ctx, a); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, a, &err)
	return s.within(ctx, 60*s.o.OpTimeout, func(ctx context.Context) error { return s.back.Erase(ctx, sc) })
}

// Readmit lets a user in again whose scope was erased. There is nothing of it.
func (s *Store) Readmit(ctx context.Context, sc memory.Scope) (err error) {
	if err := sc.Valid(); err != nil {
		return err
	}
	a := access(ctx, "Readmit", sc, "")
	if err := s.audit.Begin(ctx, a); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, a, &err)
	return s.within(ctx, s.o.OpTimeout, func(ctx context.Context) error { return s.back.Readmit(ctx, sc) })
}

// Count returns how many rows of all kinds a scope has: after Erase none.
func (s *Store) Count(ctx context.Context, sc memory.Scope) (n int, err error) {
	if err := sc.Valid(); err != nil {
		return 0, err
	}
	defer audited.Read(ctx, s.audit, access(ctx, "Count", sc, ""), &n, &err, nil)
	err = s.within(ctx, s.o.OpTimeout, func(ctx context.Context) (err error) {
		n, err = s.back.Count(ctx, sc)
		return err
	})
	return n, err
}

// Compact writes the files of the store anew, without what was deleted: databases keep of it for a while what no query finds. It
// costs as much as copying the conversations of all users, and as much space meanwhile. On SQLite writers wait for it. On Postgres it is
// VACUUM FULL: all calls wait, only the owner of the tables may, and the log of the server (pg_wal) has what was written until it is
// recycled. Where the context has no deadline it takes at most sixty times Options.OpTimeout.
func (s *Store) Compact(ctx context.Context) error {
	return s.within(ctx, 60*s.o.OpTimeout, s.back.Compact)
}

// Close waits for the calls under way. Later ones are ErrClosed.
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.back.Close()
}

func key(sc memory.Scope, conversation string) (Key, error) {
	if err := sc.Valid(); err != nil {
		return Key{}, err
	}
	return Key{sc, conversation}, checkID("a conversation", conversation)
}

// read is a call about one conversation.
func read[T any](
	ctx context.Context, s *Store, sc memory.Scope, conversation string, f func(context.Context, Key) (T, error),
) (out T, err error) {
	k, err := key(sc, conversation)
	if err != nil {
		return out, err
	}
	err = s.call(ctx, sc, func(ctx context.Context) (err error) {
		out, err = f(ctx, k)
		return err
	})
	return out, err
}

// call is within the usual time, for a scope.
func (s *Store) call(ctx context.Context, sc memory.Scope, f func(context.Context) error) error {
	if err := sc.Valid(); err != nil {
		return err
	}
	return s.within(ctx, s.o.OpTimeout, f)
}

// within runs f unless the store is closed, with a deadline.
func (s *Store) within(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
	}
	err := f(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
