package session

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/message"
)

// decide says what a write changes, and the state after it. It is a pure function: what this package promises about trust,
// order and repetition is here, for all back ends.
func (s *Store) decide(w *prepared, snap Snapshot) (Delta, State, error) {
	d := newDraft(s, snap)
	steps := []func(*prepared) error{d.append, d.results, d.reject, d.confirm, d.set, d.propose, d.pin, d.lift}
	for _, step := range steps {
		if err := step(w); err != nil {
			return Delta{}, State{}, err
		}
	}
	return d.finish()
}

// A draft is a snapshot to which a write is applied step by step.
type draft struct {
	s       *Store
	before  Snapshot
	now     time.Time
	conv    Conversation
	message map[string]MessageRow
	call    map[string]Call
	last    map[string]Fact // of each field
	event   map[event]Fact  // the last of each field and source
	option  map[string]Candidate
	pinRow  map[pinKey]PinRow

	delta   Delta
	changed map[string]bool // candidates
}

type event struct {
	field string
	Source
}

type pinKey struct {
	id       string
	standing bool
}

func newDraft(s *Store, snap Snapshot) *draft {
	d := &draft{
		s: s, before: snap, now: snap.Now, conv: snap.Conversation, message: map[string]MessageRow{}, call: map[string]Call{},
		last: map[string]Fact{}, event: map[event]Fact{}, option: map[string]Candidate{}, pinRow: map[pinKey]PinRow{},
		delta: Delta{Calls: map[string]Call{}}, changed: map[string]bool{},
	}
	for _, m := range snap.Messages {
		d.message[m.ID] = m
	}
	for id, ok := range snap.Calls {
		d.call[id] = Call{OK: ok}
	}
	for _, f := range snap.Facts {
		d.know(f)
	}
	for _, c := range snap.Candidates {
		d.option[c.ID] = c
		if c.Standing == Pending && !c.pending(d.now) {
			d.settle(c, Lapsed, "")
		}
	}
	for _, p := range snap.Pins {
		d.pinRow[pinKey{p.ID, p.Standing}] = p
	}
	return d
}

func (d *draft) know(f Fact) {
	if f.Version >= d.last[f.Field].Version {
		d.last[f.Field] = f
	}
	e := event{f.Field, f.Source}
	if f.Version >= d.event[e].Version {
		d.event[e] = f
	}
}

func (d *draft) append(w *prepared) error {
	for i, row := range w.rows {
		new, err := d.place(&row)
		if err != nil {
			return err
		}
		if !new {
			continue
		}
		d.message[row.ID] = row
		d.delta.Messages = append(d.delta.Messages, row)
		for _, r := range w.Messages[i].Results() {
			if !r.Interim && goodID(r.CallID) { // no other id can be a reference
				c := Call{OK: !r.Failed(), Seq: row.Seq}
				d.call[r.CallID], d.delta.Calls[r.CallID] = c, c
			}
		}
	}
	return nil
}

// place gives a row its place and time. It is not new if the very same is there.
func (d *draft) place(r *MessageRow) (new bool, err error) {
	r.At = d.now
	old, there := d.message[r.ID]
	if !there {
		d.conv.Messages++
		r.Seq = d.conv.Messages
		return true, nil
	}
	if old.Role == r.Role && bytes.Equal(old.Body, r.Body) {
		return false, nil
	}
	if done, err := finished(old); err != nil {
		return false, err
	} else if done || old.Role != r.Role {
		return false, fmt.Errorf("%w: message %q", ErrConflict, r.ID)
	}
	r.Seq, r.At = old.Seq, old.At
	return true, nil
}

// finished reports whether a message is whole: one that was cut off, or that says a tool is at work, is replaced by the whole.
func finished(r MessageRow) (bool, error) {
	m, err := r.message()
	if err != nil {
		return false, err
	}
	return !m.Partial && !slices.ContainsFunc(m.Results(), func(r message.Result) bool { return r.Interim }), nil
}

func (d *draft) results(w *prepared) error {
	for _, r := range w.Results {
		r.At = d.now
		d.delta.Results = append(d.delta.Results, r)
	}
	return nil
}

// confirms returns ErrUnconfirmed unless the source is there and trusted.
func (d *draft) confirms(s Source) error {
	switch s.Origin {
	case ByTool:
		if c, ended := d.call[s.Ref]; !ended {
			return fmt.Errorf("%w (call %.80q has no result in this conversation)", ErrUnconfirmed, s.Ref)
		} else if !c.OK {
			return fmt.Errorf("%w (call %.80q failed)", ErrUnconfirmed, s.Ref)
		}
		return nil
	case ByUser:
		return d.said(s.Ref)
	}
	return fmt.Errorf("%w (origin %.80q)", ErrUnconfirmed, s.Origin)
}

// said returns ErrUnconfirmed unless a message is there and the user's.
func (d *draft) said(messageID string) error {
	m, there := d.message[messageID]
	switch {
	case !there:
		return fmt.Errorf("%w (message %.80q is not in this conversation)", ErrUnconfirmed, messageID)
	case m.Role != message.RoleUser:
		return fmt.Errorf("%w (message %q is of role %q)", ErrUnconfirmed, messageID, m.Role)
	}
	return nil
}

func (d *draft) set(w *prepared) error {
	for _, c := range w.Set {
		// A repeated event changes nothing, not even what was corrected since. Its message may be gone by now.
		if old, known := d.event[event{c.Field, c.Source}]; known && bytes.Equal(old.Value, c.Value) {
			continue
		}
		if err := d.confirms(c.Source); err != nil {
			return err
		}
		d.adopt(Fact{Field: c.Field, Value: c.Value, Source: c.Source})
	}
	return nil
}

// adopt makes a fact the current one. Whatever was guessed about its field is out of date.
func (d *draft) adopt(f Fact) {
	f.Version, f.At = d.last[f.Field].Version+1, d.now
	d.know(f)
	d.delta.Facts = append(d.delta.Facts, f)
	for _, c := range d.pending() {
		if c.Field == f.Field {
			d.settle(c, Overtaken, "")
		}
	}
}

func (d *draft) settle(c Candidate, s Standing, by string) {
	c.Standing, c.By = s, by
	d.put(c)
}

func (d *draft) put(c Candidate) {
	d.option[c.ID] = c
	d.changed[c.ID] = true
}

// pending are the candidates that can be confirmed, oldest first.
func (d *draft) pending() []Candidate {
	var out []Candidate
	for _, c := range d.option {
		if c.Standing == Pending {
			out = append(out, c)
		}
	}
	sortCandidates(out)
	return out
}

func (d *draft) reject(w *prepared) error {
	for _, a := range w.Reject {
		c, done, err := d.answered(a, Rejected)
		if err != nil {
			return err
		}
		if !done {
			d.settle(c, Rejected, a.Message)
		}
	}
	return nil
}

func (d *draft) confirm(w *prepared) error {
	for _, a := range w.Confirm {
		c, done, err := d.answered(a, Confirmed)
		if err != nil {
			return err
		}
		if done {
			continue
		}
		// What was allowed when it was proposed may not be any more.
		if _, err := d.s.normal(c.Field, c.Value, nil); err != nil {
			return err
		}
		d.settle(c, Confirmed, a.Message)
		d.adopt(Fact{Field: c.Field, Value: c.Value, Source: FromUser(a.Message), Candidate: c.ID})
	}
	return nil
}

// answered finds the candidate that an answer is about. It is done if this very answer was given before.
func (d *draft) answered(a Answer, as Standing) (c Candidate, done bool, err error) {
	for _, c := range d.option {
		if c.By == a.Message && c.Standing == as && (a.Candidate == "" || a.Candidate == c.ID) {
			return c, true, nil
		}
	}
	if err := d.said(a.Message); err != nil {
		return c, false, err
	}
	c, err = d.meant(a)
	if err != nil {
		return c, false, err
	}
	switch {
	case c.Standing == Lapsed:
		return c, false, fmt.Errorf("%w (%s)", ErrExpired, c.ID)
	case c.Standing != Pending:
		return c, false, fmt.Errorf("%w (%s was %s)", ErrSettled, c.ID, c.Standing)
	case d.message[a.Message].Seq <= c.Since:
		return c, false, fmt.Errorf("%w (message %q was there before candidate %s)", ErrUnconfirmed, a.Message, c.ID)
	}
	return c, false, nil
}

func (d *draft) meant(a Answer) (Candidate, error) {
	if a.Candidate != "" {
		c, ok := d.option[a.Candidate]
		if !ok {
			return c, fmt.Errorf("%w: %.80q", ErrNoCandidate, a.Candidate)
		}
		return c, nil
	}
	open := d.pending()
	if len(open) != 1 {
		for i := range open {
			open[i].Value = slices.Clone(open[i].Value) // the error is the caller's
		}
		return Candidate{}, &AmbiguousError{open}
	}
	return open[0], nil
}

func (d *draft) propose(w *prepared) error {
	for _, p := range w.Propose {
		d.offer(p)
	}
	if len(w.Propose) == 0 { // a lowered limit must not stop other writes
		return nil
	}
	return within("pending candidates", len(d.pending()), d.s.o.Candidates)
}

func (d *draft) offer(p Proposal) {
	id := candidateID(p)
	if _, known := d.option[id]; known {
		return
	}
	expires := d.now.Add(cmp.Or(p.TTL, d.s.o.CandidateTTL)).Truncate(time.Microsecond)
	for _, c := range d.pending() {
		if c.Field == p.Field && bytes.Equal(c.Value, p.Value) {
			if expires.After(c.Expires) {
				c.Expires = expires
				d.put(c)
			}
			return
		}
	}
	d.put(Candidate{
		ID: id, Field: p.Field, Value: p.Value, Ref: p.Ref, Since: d.conv.Messages, At: d.now, Expires: expires, Standing: Pending,
	})
}

func (d *draft) pin(w *prepared) error {
	for i, row := range w.pins {
		k := pinKey{row.ID, row.Standing}
		if old, there := d.pinRow[k]; there {
			if err := samePin(old, row); err != nil {
				return err
			}
			continue
		}
		if err := d.said(w.Pins[i].Message); err != nil {
			return err
		}
		row.At = d.now
		d.putPin(k, row)
	}
	if len(w.pins) == 0 {
		return nil
	}
	inForce := 0
	for _, r := range d.pinRow {
		if !r.Lifted {
			inForce++
		}
	}
	return within("pins in force", inForce, d.s.o.Pins)
}

func (d *draft) putPin(k pinKey, r PinRow) {
	d.pinRow[k] = r
	d.delta.Pins = slices.DeleteFunc(d.delta.Pins, func(p PinRow) bool { return pinKey{p.ID, p.Standing} == k })
	d.delta.Pins = append(d.delta.Pins, r)
}

// samePin returns ErrConflict if two pins of one id differ in more than the time.
func samePin(a, b PinRow) error {
	p, err := a.pin()
	if err != nil {
		return err
	}
	q, err := b.pin()
	if err != nil {
		return err
	}
	if p.At = q.At; !reflect.DeepEqual(p, q) {
		return fmt.Errorf("%w: pin %q", ErrConflict, a.ID)
	}
	return nil
}

// lift ends pins of the conversation, and standing ones.
func (d *draft) lift(w *prepared) error {
	for _, l := range w.Lift {
		found := false
		for _, standing := range []bool{false, true} {
			k := pinKey{l.Pin, standing}
			r, there := d.pinRow[k]
			found = found || there
			if !there || r.Lifted {
				continue
			}
			if err := d.said(l.Message); err != nil {
				return err
			}
			r.Lifted, r.By = true, l.Message
			d.putPin(k, r)
		}
		if !found {
			return fmt.Errorf("%w: pin %.80q", ErrNoPin, l.Pin)
		}
	}
	return nil
}

// finish returns what has changed, if the state is not over its limit.
func (d *draft) finish() (Delta, State, error) {
	for _, id := range slices.Sorted(maps.Keys(d.changed)) {
		d.delta.Candidates = append(d.delta.Candidates, d.option[id])
	}
	slices.SortFunc(d.delta.Pins, func(a, b PinRow) int { return strings.Compare(a.ID, b.ID) })
	if n := &d.delta; len(n.Messages)+len(n.Facts)+len(n.Candidates)+len(n.Pins)+len(n.Results) > 0 {
		d.conv.Updated = d.now
	}
	d.delta.Conversation = d.conv
	st, err := stateOf(Snapshot{
		Now: d.now, Conversation: d.conv, Facts: slices.Collect(maps.Values(d.last)),
		Candidates: slices.Collect(maps.Values(d.option)), Pins: slices.Collect(maps.Values(d.pinRow)),
	})
	if err != nil {
		return Delta{}, State{}, err
	}
	if len(d.delta.Facts)+len(d.delta.Candidates) > 0 {
		err = d.grown(st)
	}
	return d.delta, st, err
}

// grown returns ErrTooLarge for a state that is over the limit and larger than before: a limit that was lowered must not stop what makes it
// smaller, or leaves it alone.
func (d *draft) grown(st State) error {
	err := within("tokens of the state", d.s.o.Count(st.Summary()), d.s.o.StateTokens)
	if err == nil {
		return nil
	}
	before, broken := stateOf(d.before)
	if broken == nil && d.s.o.Count(before.Summary()) >= d.s.o.Count(st.Summary()) {
		return nil
	}
	return err
}
