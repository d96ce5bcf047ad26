package state

import (
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/internal/strictjson"
)

// Merge makes of the JSON object doc, in the one JSON form, the writes and the folded writes of a step that Apply takes: it
// sets, appends, puts and adds, as Schema.Merge does. r is as before. What only the program knows makes three differences: a
// field must have been written before, since its kind is that of the log; a keyed takes [[key,value],..], since only the
// program knows the key of a value; and a fold is set to the value, since only the program can reduce. Values are not
// compared with the program's types. It costs a copy of the state.
func (r *Raw) Merge(doc []byte) (writes, folded []Write, err error) {
	if err := strictjson.Check(doc); err != nil {
		return nil, nil, fmt.Errorf("state: merge: %w", err)
	}
	data, err := compact(doc)
	if err != nil {
		return nil, nil, fmt.Errorf("state: merge: %w", err)
	}
	if data[0] != '{' {
		return nil, nil, fmt.Errorf("state: merge: want an object, have %.20s", data)
	}
	var errs []error
	for name, value := range members(asWeWrite(data)) {
		w, of, err := r.merge(name, value)
		if err != nil {
			errs = append(errs, fmt.Errorf("state: merge: field %s: %w", name, err))
			continue
		}
		writes, folded = append(writes, w), append(folded, of...)
	}
	if len(errs) == 0 {
		errs = append(errs, r.Clone().Apply([][]Write{writes}, folded))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	return writes, folded, nil
}

// merge makes the write of one field.
func (r *Raw) merge(quoted, value []byte) (w Write, folded []Write, err error) {
	name, err := unquote(quoted)
	if err != nil {
		return w, nil, err
	}
	f := r.fields[name]
	if f == nil {
		return w, nil, errors.New("it was never written, so that its kind is not known; there are " + fmt.Sprint(r.names()))
	}
	w = Write{name, f.kind, value}
	switch {
	case !knownKind(f.kind):
		return w, nil, fmt.Errorf("its kind %q is not known to this release", f.kind)
	case f.kind == kindFold:
		w.Data = append(append([]byte(`{"r":`), value...), '}')
		return w, []Write{{name, f.kind, value}}, nil
	case f.kind == kindMap:
		w.Data, err = pairs(value)
	case f.kind == kindList || f.kind == kindKeyed || f.kind == kindPairs || f.kind == kindSet:
		_, err = array(value)
	case sums[f.kind] != nil && value[0] == '{':
		err = fmt.Errorf("%w: want a number", errForm)
	}
	return w, nil, err
}

// asWeWrite writes the strings of a document as the program would: what means the same has the same bytes.
func asWeWrite(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '"' {
			out = append(out, data[i])
			continue
		}
		end := skipString(data, i)
		s, err := unquote(data[i:end])
		if err != nil { // the document was checked
			panic(err)
		}
		out = appendString(out, s)
		i = end - 1
	}
	return out
}

// pairs turns {k:v,..} into [[k,v],..].
func pairs(object []byte) ([]byte, error) {
	if object[0] != '{' {
		return nil, fmt.Errorf("%w: want an object, have %.20s", errForm, object)
	}
	b := []byte{'['}
	for k, v := range members(object) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(append(append(b, '['), k...), ','), v...), ']')
	}
	return append(b, ']'), nil
}
