package graphcli

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// A change is one difference between two states: of a field, of an element of a list, or of a key of a map.
type change struct {
	Field string          `json:"field"`
	Index *int            `json:"index,omitzero"` // of an element of a list
	Key   *string         `json:"key,omitzero"`   // of an entry of a map
	Op    string          `json:"op"`             // add, remove or change
	Old   json.RawMessage `json:"old,omitzero"`
	New   json.RawMessage `json:"new,omitzero"`
}

// place shows where a change is.
func (d *change) place() string {
	switch {
	case d.Index != nil:
		return d.Field + "[" + strconv.Itoa(*d.Index) + "]"
	case d.Key != nil:
		return d.Field + "[" + strconv.Quote(*d.Key) + "]"
	}
	return d.Field
}

// String shows a change as one line.
func (d *change) String() string {
	switch d.Op {
	case "add":
		return "+ " + d.place() + " " + string(d.New)
	case "remove":
		return "- " + d.place() + " " + string(d.Old)
	}
	return "~ " + d.place() + " " + string(d.Old) + " -> " + string(d.New)
}

// changes lists what differs between two states, which are JSON objects.
func changes(a, b json.RawMessage) ([]change, error) {
	var old, now map[string]json.RawMessage
	for _, d := range []struct {
		doc json.RawMessage
		to  *map[string]json.RawMessage
	}{{a, &old}, {b, &now}} {
		if len(d.doc) == 0 {
			continue
		}
		if err := json.Unmarshal(d.doc, d.to); err != nil {
			return nil, err
		}
	}
	var out []change
	for _, name := range union(old, now) {
		out = append(out, fieldChanges(name, old[name], now[name])...)
	}
	return out, nil
}

// fieldChanges lists what differs in one field.
func fieldChanges(name string, a, b json.RawMessage) (out []change) {
	switch {
	case bytes.Equal(a, b):
		return nil
	case a == nil || b == nil || a[0] != b[0]:
		return []change{compare(change{Field: name}, a, b)}
	case a[0] == '[':
		return listChanges(name, a, b)
	case a[0] == '{':
		var old, now map[string]json.RawMessage
		if json.Unmarshal(a, &old) != nil || json.Unmarshal(b, &now) != nil {
			break
		}
		for _, key := range union(old, now) {
			if !bytes.Equal(old[key], now[key]) {
				out = append(out, compare(change{Field: name, Key: &key}, old[key], now[key]))
			}
		}
		return out
	}
	return []change{compare(change{Field: name}, a, b)}
}

func listChanges(name string, a, b json.RawMessage) (out []change) {
	var old, now []json.RawMessage
	if json.Unmarshal(a, &old) != nil || json.Unmarshal(b, &now) != nil {
		return []change{compare(change{Field: name}, a, b)}
	}
	at := func(list []json.RawMessage, i int) json.RawMessage {
		if i < len(list) {
			return list[i]
		}
		return nil
	}
	for i := range max(len(old), len(now)) {
		if x, y := at(old, i), at(now, i); !bytes.Equal(x, y) {
			out = append(out, compare(change{Field: name, Index: &i}, x, y))
		}
	}
	return out
}

// compare completes a change.
func compare(d change, a, b json.RawMessage) change {
	d.Op, d.Old, d.New = "change", a, b
	if a == nil {
		d.Op = "add"
	} else if b == nil {
		d.Op = "remove"
	}
	return d
}

func union(a, b map[string]json.RawMessage) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
