package session

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/pin"
)

// A State is what is known in a conversation at one moment. It is made of the state's own rows, never of messages, and
// belongs to its reader.
type State struct {
	Conversation Conversation `json:"conversation"`
	Facts        []Fact       `json:"facts"`      // the current one of each field that has a value, by field
	Candidates   []Candidate  `json:"candidates"` // pending, oldest first
	Pins         []pin.Pin    `json:"pins"`       // in force, of the conversation and standing, oldest first
}

// Fact returns the current fact of a field. It is false for a field without one.
func (s State) Fact(field string) (Fact, bool) {
	i, ok := slices.BinarySearchFunc(s.Facts, field, func(f Fact, name string) int { return strings.Compare(f.Field, name) })
	if !ok {
		return Fact{}, false
	}
	return s.Facts[i], true
}

// Get returns the confirmed value of a field. It is false if there is none, or one that the field does not allow any more.
func Get[T any](s State, f Field[T]) (value T, ok bool) {
	fact, ok := s.Fact(f.name)
	if !ok {
		return value, false
	}
	v, err := f.decode(fact.Value)
	if err != nil {
		return value, false
	}
	return v, true
}

// stateOf is the state of a snapshot.
func stateOf(s Snapshot) (State, error) {
	out := State{Conversation: s.Conversation}
	last := map[string]Fact{}
	for _, f := range s.Facts {
		if f.Version > last[f.Field].Version {
			last[f.Field] = f
		}
	}
	for _, f := range last {
		if f.Value != nil {
			f.Value = slices.Clone(f.Value)
			out.Facts = append(out.Facts, f)
		}
	}
	slices.SortFunc(out.Facts, func(a, b Fact) int { return strings.Compare(a.Field, b.Field) })
	for _, c := range s.Candidates {
		if c.pending(s.Now) {
			c.Value = slices.Clone(c.Value)
			out.Candidates = append(out.Candidates, c)
		}
	}
	sortCandidates(out.Candidates)
	pins, err := pinsOf(s.Pins)
	out.Pins = pins
	return out, err
}

func (c Candidate) pending(now time.Time) bool {
	return c.Standing == Pending && now.Before(c.Expires)
}

func sortCandidates(cs []Candidate) {
	slices.SortFunc(cs, func(a, b Candidate) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) })
}

// pinsOf are the pins in force, oldest first.
func pinsOf(rows []PinRow) ([]pin.Pin, error) {
	var out []pin.Pin
	for _, r := range rows {
		if r.Lifted {
			continue
		}
		p, err := r.pin()
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b pin.Pin) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}
