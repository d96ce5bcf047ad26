package longterm

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

// A record is an item as the body of its row, with what only the store needs.
type record struct {
	Item
	Format   int    `json:"v"`
	Hash     string `json:"-"`                 // a column
	State    State  `json:"-"`                 // a column
	Shelf    string `json:"-"`                 // a column
	No       uint32 `json:"-"`                 // a column; 0: it is not in the index
	Space    string `json:"space,omitzero"`    // in which it has a vector
	Versions int    `json:"versions,omitzero"` // that the fact has so far; counted where it holds
	Subject  string `json:"subject,omitzero"`  // what the first version of the fact said: who asks in its words means the one that holds
	Quoted   bool   `json:"quoted,omitzero"`   // Words are a text of their own
	Restores string `json:"restores,omitzero"` // id of the version that holds again since this one was rolled back
}

const format = 1

func (r *record) row() (Row, error) {
	r.Format = format
	body, err := json.Marshal(r)
	if err != nil {
		return Row{}, fmt.Errorf("%w: %w", ErrDraft, err) // a Value that is no JSON
	}
	before := r.Replaces
	if before == "" && r.End == RolledBack {
		before = r.By // so that the fact's history has it
	}
	return Row{
		ID: r.ID, Shelf: r.Shelf, No: r.No, Namespace: r.Namespace, Label: r.Label, Kind: r.Kind, Key: r.Key, Hash: r.Hash, Replaces: before,
		Depends: slices.Clone(r.Depends), State: r.State, From: r.From, Until: r.Until, Expires: r.Expires, Body: body,
	}, nil
}

func recordOf(row Row) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(row.Body, r); err != nil {
		return nil, fmt.Errorf("%w: item %.80q: %w", ErrCorrupt, row.ID, err)
	}
	if r.Format > format {
		return nil, fmt.Errorf("%w: item %.80q has format %d", ErrNewerFormat, row.ID, r.Format)
	}
	if r.ID != row.ID {
		return nil, fmt.Errorf("%w: item %.80q says that it is %.80q", ErrCorrupt, row.ID, r.ID)
	}
	r.Hash, r.State, r.Shelf, r.No = row.Hash, row.State, row.Shelf, row.No
	return r, nil
}

func recordsOf(rows []Row) ([]*record, error) {
	var out []*record
	for _, row := range rows {
		r, err := recordOf(row)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// clone is for changing a record while the old one is still needed.
func (r *record) clone() *record {
	c := *r
	c.Sources, c.Also, c.Depends = slices.Clone(r.Sources), slices.Clone(r.Also), slices.Clone(r.Depends)
	return &c
}

func (r *record) expired(at time.Time) bool { return !r.Expires.IsZero() && !r.Expires.After(at) }

// doc is what of an item is searched: its text, the words that said it, and what was said at first of what it is about.
func (r *record) doc() search.Doc {
	d := search.Doc{No: r.No, Text: r.Text, At: r.From, Expires: r.Expires}
	if r.Quoted {
		d.Text += "\n" + r.Words
	}
	if r.Subject != "" {
		d.Text += "\n" + r.Subject
	}
	if len(r.Sources) > 0 {
		d.Group = r.Sources[0].Conversation
	}
	return d
}

// has reports whether a message is among the sources.
func (r *record) has(s Source) bool {
	return slices.ContainsFunc(r.Sources, func(o Source) bool { return o.same(s) })
}

// same reports whether two sources are one message, or one call.
func (s Source) same(o Source) bool {
	return s.Conversation == o.Conversation && s.Message == o.Message && s.Call == o.Call
}

// maxSources are kept of one item: the oldest and the newest.
const maxSources = 64

func (r *record) add(s Source) {
	i, _ := slices.BinarySearchFunc(r.Sources, s, func(a, b Source) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return -1 // behind those of the same time
	})
	r.Sources = slices.Insert(r.Sources, i, s)
	if len(r.Sources) > maxSources {
		r.Sources = slices.Delete(r.Sources, 1, 2)
	}
}
