package session

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// NewMemory returns a store that keeps conversations in the memory of the process, for tests and programs without a disk.
// It returns ErrOptions.
func NewMemory(o Options) (*Store, error) {
	return New(MemoryBackend(), o)
}

// MemoryBackend returns the back end of NewMemory, empty, for tests that put something in front of it.
func MemoryBackend() Backend {
	return &inMemory{scopes: map[memory.Scope]*room{}, erased: map[string]bool{}}
}

// inMemory is the back end. A call holds the lock for as long as it takes; it never waits for anything.
type inMemory struct {
	mu     sync.Mutex
	scopes map[memory.Scope]*room
	erased map[string]bool // hashes of scopes
}

// A room is what is kept for one scope.
type room struct {
	conversations map[string]*talk
	pins          map[string]PinRow // standing
	results       map[string]memory.Result
}

// A talk is what is kept for one conversation.
type talk struct {
	Conversation
	messages   []MessageRow // by Seq
	place      map[string]int64
	calls      map[string]Call
	facts      []Fact // oldest first
	candidates map[string]Candidate
	pins       map[string]PinRow
}

func newTalk(k Key, now time.Time) *talk {
	return &talk{
		Conversation: Conversation{ID: k.Conversation, Scope: k.Scope, Created: now, Updated: now},
		place:        map[string]int64{}, calls: map[string]Call{}, candidates: map[string]Candidate{}, pins: map[string]PinRow{},
	}
}

// room of a scope that has none yet is an empty one, which is not kept.
func (b *inMemory) room(s memory.Scope) *room {
	if r := b.scopes[s]; r != nil {
		return r
	}
	return &room{conversations: map[string]*talk{}, pins: map[string]PinRow{}, results: map[string]memory.Result{}}
}

func (b *inMemory) now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// in runs f with a conversation, or returns ErrNotFound.
func (b *inMemory) in(k Key, f func(*room, *talk)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.room(k.Scope)
	t := r.conversations[k.Conversation]
	if t == nil {
		return ErrNotFound
	}
	f(r, t)
	return nil
}

func (b *inMemory) Load(_ context.Context, k Key, refs []string) (out Snapshot, err error) {
	err = b.in(k, func(r *room, t *talk) { out = t.snapshot(r, b.now(), refs) })
	return out, err
}

func (b *inMemory) Update(_ context.Context, k Key, refs []string, decide func(Snapshot) (Delta, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.erased[k.Scope.Hash()] {
		return memory.ErrErased
	}
	now, r := b.now(), b.room(k.Scope)
	t := r.conversations[k.Conversation]
	if t == nil {
		t = newTalk(k, now)
	}
	d, err := decide(t.snapshot(r, now, refs))
	if err != nil {
		return err
	}
	t.apply(r, d)
	r.conversations[k.Conversation] = t
	b.scopes[k.Scope] = r
	return nil
}

func (t *talk) snapshot(r *room, now time.Time, refs []string) Snapshot {
	s := Snapshot{Now: now, Conversation: t.Conversation, Facts: t.lastFacts(refs), Calls: map[string]bool{}}
	named := func(id string) bool { _, ok := slices.BinarySearch(refs, id); return ok }
	for id, c := range t.candidates {
		if c.Standing == Pending || named(id) || named(c.By) {
			s.Candidates = append(s.Candidates, c)
		}
	}
	for _, pins := range []map[string]PinRow{t.pins, r.pins} {
		for id, p := range pins {
			if !p.Lifted || named(id) {
				s.Pins = append(s.Pins, p)
			}
		}
	}
	for _, id := range refs {
		if seq, ok := t.place[id]; ok {
			i, _ := t.at(seq)
			s.Messages = append(s.Messages, t.messages[i])
		}
		if c, ok := t.calls[id]; ok {
			s.Calls[id] = c.OK
		}
	}
	return s
}

// lastFacts are the last of each field, and the last of each field and source that refs name.
func (t *talk) lastFacts(refs []string) []Fact {
	fields, sources := map[string]Fact{}, map[event]Fact{}
	for _, f := range t.facts {
		fields[f.Field] = f
		if _, ok := slices.BinarySearch(refs, f.Ref); ok {
			sources[event{f.Field, f.Source}] = f
		}
	}
	return slices.AppendSeq(slices.Collect(maps.Values(fields)), maps.Values(sources))
}

// at finds the place of a message in the list.
func (t *talk) at(seq int64) (int, bool) {
	return slices.BinarySearchFunc(t.messages, seq, func(m MessageRow, seq int64) int { return cmp.Compare(m.Seq, seq) })
}

func (t *talk) apply(r *room, d Delta) {
	t.Conversation = d.Conversation
	for _, m := range d.Messages {
		if i, there := t.at(m.Seq); there {
			t.messages[i] = m
		} else {
			t.messages = append(t.messages, m)
		}
		t.place[m.ID] = m.Seq
	}
	maps.Copy(t.calls, d.Calls)
	t.facts = append(t.facts, d.Facts...)
	for _, c := range d.Candidates {
		t.candidates[c.ID] = c
	}
	for _, p := range d.Pins {
		if p.Standing {
			r.pins[p.ID] = p
		} else {
			t.pins[p.ID] = p
		}
	}
	for _, x := range d.Results {
		if _, there := r.results[x.ID]; !there {
			r.results[x.ID] = x
		}
	}
}

func (b *inMemory) Pins(_ context.Context, k Key) ([]PinRow, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.room(k.Scope)
	out := slices.Collect(maps.Values(r.pins))
	if t := r.conversations[k.Conversation]; t != nil {
		out = slices.AppendSeq(out, maps.Values(t.pins))
	}
	return slices.DeleteFunc(out, func(p PinRow) bool { return p.Lifted }), nil
}

func (b *inMemory) Messages(_ context.Context, k Key, p Page) (out []MessageRow, err error) {
	err = b.in(k, func(_ *room, t *talk) {
		i, there := t.at(p.After)
		switch {
		case !p.Newest && there:
			i++
		case p.Newest && p.After == 0:
			i = len(t.messages)
		}
		if p.Newest {
			out = slices.Clone(t.messages[max(i-p.Limit, 0):i])
			slices.Reverse(out)
			return
		}
		out = slices.Clone(t.messages[i:min(i+p.Limit, len(t.messages))])
	})
	return out, err
}

func (b *inMemory) Conversations(_ context.Context, s memory.Scope, after Conversation, limit int) ([]Conversation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Conversation
	for _, t := range b.room(s).conversations {
		if after.ID == "" || before(after, t.Conversation) < 0 {
			out = append(out, t.Conversation)
		}
	}
	slices.SortFunc(out, before)
	return out[:min(limit, len(out))], nil
}

// before orders conversations, the newest first.
func before(a, b Conversation) int {
	return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.ID, b.ID))
}

func (b *inMemory) FactHistory(_ context.Context, k Key, field string) (out []Fact, err error) {
	err = b.in(k, func(_ *room, t *talk) {
		for _, f := range t.facts {
			if f.Field == field {
				f.Value = slices.Clone(f.Value)
				out = append(out, f)
			}
		}
	})
	return out, err
}

func (b *inMemory) Result(_ context.Context, s memory.Scope, id string) (memory.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.room(s).results[id]
	if !ok {
		return memory.Result{}, memory.ErrNoResult
	}
	r.Body = slices.Clone(r.Body)
	return r, nil
}

func (b *inMemory) DeleteMessages(_ context.Context, k Key, before time.Time) (n int, err error) {
	err = b.in(k, func(_ *room, t *talk) {
		gone := map[int64]bool{}
		t.messages = slices.DeleteFunc(t.messages, func(m MessageRow) bool {
			if m.At.Before(before) {
				gone[m.Seq] = true
			}
			return gone[m.Seq]
		})
		maps.DeleteFunc(t.place, func(_ string, seq int64) bool { return gone[seq] })
		maps.DeleteFunc(t.calls, func(_ string, c Call) bool { return gone[c.Seq] })
		n = len(gone)
	})
	return n, err
}

func (b *inMemory) Delete(_ context.Context, k Key) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.room(k.Scope)
	delete(r.conversations, k.Conversation)
	maps.DeleteFunc(r.results, func(_ string, x memory.Result) bool { return x.Conversation == k.Conversation })
	return nil
}

func (b *inMemory) Erase(_ context.Context, s memory.Scope) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.scopes, s)
	b.erased[s.Hash()] = true
	return nil
}

func (b *inMemory) Readmit(_ context.Context, s memory.Scope) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.erased, s.Hash())
	return nil
}

func (b *inMemory) Count(_ context.Context, s memory.Scope) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.room(s)
	n := len(r.pins) + len(r.results)
	for _, t := range r.conversations {
		n += 1 + len(t.messages) + len(t.calls) + len(t.facts) + len(t.candidates) + len(t.pins)
	}
	return n, nil
}

func (b *inMemory) Close() error { return nil }

// Nothing is kept of what is deleted.
func (b *inMemory) Compact(context.Context) error { return nil }
