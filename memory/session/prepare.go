package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/pin"
)

// A prepared write has passed every check that needs no store, so that no transaction waits for them.
type prepared struct {
	Write
	rows []MessageRow // of Messages, without Seq and At
	pins []PinRow     // of Pins, without At
}

func (s *Store) prepare(k Key, w Write) (*prepared, error) {
	w.Set, w.Propose, w.Results = slices.Clone(w.Set), slices.Clone(w.Propose), slices.Clone(w.Results)
	p := &prepared{Write: w}
	for _, n := range []int{
		len(w.Messages), len(w.Results), len(w.Reject), len(w.Confirm), len(w.Set), len(w.Propose), len(w.Pins), len(w.Lift),
	} {
		if err := within("items in one write", n, s.o.Batch); err != nil {
			return nil, err
		}
	}
	for _, step := range []func(*prepared) error{s.messages, s.changes, s.proposals, s.pins} {
		if err := step(p); err != nil {
			return nil, err
		}
	}
	return p, s.results(k, p)
}

func (s *Store) messages(p *prepared) error {
	for _, m := range p.Messages {
		if err := checkID("a message", m.ID); err != nil {
			return err
		}
		body, err := encodeMessage(m)
		if err != nil {
			return err
		}
		if err := within("bytes of a message", len(body), s.o.MessageBytes); err != nil {
			return err
		}
		p.rows = append(p.rows, MessageRow{ID: m.ID, Role: m.Role, Body: body})
	}
	return nil
}

func (s *Store) results(k Key, p *prepared) error {
	for i, r := range p.Results {
		if err := within("bytes of a result", len(r.Body), s.o.ResultBytes); err != nil {
			return err
		}
		if r.Conversation != k.Conversation || r.ID != memory.ResultID(k.Scope, r.Conversation, r.Call, r.Body) {
			return fmt.Errorf("%w: result %.80q is not what memory.ResultID makes of it in conversation %q", ErrBadID, r.ID, k.Conversation)
		}
		if err := errors.Join(checkText("call", r.Call), checkText("name", r.Name)); err != nil {
			return err
		}
		p.Results[i].Body = slices.Clone(r.Body)
	}
	return nil
}

// checkText is for texts of a result that nothing refers to: they may be empty.
func checkText(noun, text string) error {
	if text == "" {
		return nil
	}
	return checkID("the "+noun+" of a result", text)
}

func (s *Store) changes(p *prepared) (err error) {
	for i, c := range p.Set {
		if p.Set[i].Value, err = s.normal(c.Field, c.Value, c.err); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) proposals(p *prepared) (err error) {
	for i, c := range p.Propose {
		if err := checkID("what proposes a candidate", c.Ref); err != nil {
			return err
		}
		switch p.Propose[i].Value, err = s.normal(c.Field, c.Value, c.err); {
		case err != nil:
			return err
		case c.Value == nil:
			return &FieldError{ErrInvalidValue, c.Field, "a proposal needs a value"}
		case c.TTL < 0:
			return &FieldError{ErrInvalidValue, c.Field, "the time to confirm it is negative"}
		}
	}
	return nil
}

// normal returns a value in the form in which it is kept; nil, a withdrawn one, stays nil.
func (s *Store) normal(field string, value json.RawMessage, err error) (json.RawMessage, error) {
	def, ok := s.fields[field]
	if !ok {
		return nil, &FieldError{ErrUnknownField, field, "the store keeps " + strings.Join(slices.Sorted(maps.Keys(s.fields)), ", ")}
	}
	if err == nil && value != nil {
		value, err = def.Normal(value)
	}
	if err != nil {
		return nil, &FieldError{ErrInvalidValue, field, err.Error()}
	}
	return value, nil
}

func (s *Store) pins(p *prepared) error {
	for _, q := range p.Pins {
		row, err := s.pin(q)
		if err != nil {
			return err
		}
		p.pins = append(p.pins, row)
	}
	return nil
}

func (s *Store) pin(p pin.Pin) (PinRow, error) {
	if err := checkID("a pin", p.ID); err != nil {
		return PinRow{}, err
	}
	if p.Effect != pin.Deny && p.Effect != pin.Rule {
		return PinRow{}, fmt.Errorf("%w: pin %q has effect %.80q", ErrMessage, p.ID, p.Effect)
	}
	p.At = p.At.UTC().Truncate(time.Microsecond)
	body, err := json.Marshal(p)
	if err != nil {
		return PinRow{}, fmt.Errorf("%w: pin %q: %w", ErrMessage, p.ID, err)
	}
	return PinRow{ID: p.ID, Standing: p.Standing, Body: body}, within("bytes of a pin", len(body), s.o.PinBytes)
}

// refs are the ids that a write names, of messages, calls, candidates and pins, each once.
func (p *prepared) refs() []string {
	var ids []string
	for _, r := range p.rows {
		ids = append(ids, r.ID)
	}
	for _, c := range p.Set {
		ids = append(ids, c.Ref)
	}
	for _, c := range p.Propose {
		ids = append(ids, candidateID(c))
	}
	for _, a := range slices.Concat(p.Reject, p.Confirm) {
		ids = append(ids, a.Candidate, a.Message)
	}
	for _, q := range p.Pins {
		ids = append(ids, q.ID, q.Message)
	}
	for _, l := range p.Lift {
		ids = append(ids, l.Pin, l.Message)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !goodID(id) }) // such an id is nobody's
	slices.Sort(ids)
	return slices.Compact(ids)
}
