package state

import (
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/internal/strictjson"
)

// Commit folds the frozen views of parts into h, in their order. The writes that it returns belong to the step, not to a
// task: the folded values of Fold fields, and renames of fields that were stored under an alias. Give them to [Raw.Apply] as
// they are. h stays as it is, also after an error, which is a *ConflictError or a *ReduceError.
//
// If one part replaced a field, what the others wrote to it is dropped. Two that replaced it are a conflict, and so are two
// that wrote a Last, an Ephemeral or an Untracked.
func (sc *Schema[S]) Commit(h *Head[S], parts []Part[S]) (*Head[S], []Write, error) {
	next := sc.blank()
	next.s = h.s
	for _, i := range sc.fleeting {
		sc.at(&next.s, i).(interface{ expire() }).expire()
	}
	step := h.renames
	for i := range sc.slots {
		if len(parts) == 1 && sc.header(parts[0].View, i).cutMode == untouched {
			continue // most fields of most supersteps
		}
		folded, err := sc.foldField(&next.s, i, parts)
		if err != nil {
			return nil, nil, err
		}
		if folded && sc.slots[i].Kind == kindFold {
			data, err := sc.at(&next.s, i).json(nil)
			if err != nil {
				return nil, nil, sc.valueError(i, &fault{"", err})
			}
			step = append(step[:len(step):len(step)], Write{sc.slots[i].Name, kindFold, data})
		}
	}
	return next, step, nil
}

// foldField folds what parts wrote to field i into next. It reports whether there was anything.
func (sc *Schema[S]) foldField(next *S, i int, parts []Part[S]) (bool, error) {
	writers, only, err := sc.writers(i, parts)
	if err != nil || writers == 0 {
		return false, err
	}
	f := sc.at(next, i)
	for p := range parts {
		if sc.header(parts[p].View, i).cutMode == untouched || only >= 0 && p != only {
			continue
		}
		if err := f.fold(sc.at(parts[p].View, i)); err != nil {
			return false, sc.reduceError(i, p, parts[p].Task, err)
		}
	}
	return true, nil
}

// blank is memory for a head: of one that was given back, if there is one.
func (sc *Schema[S]) blank() *Head[S] {
	if h, ok := sc.spare.Get().(*Head[S]); ok {
		h.renames = nil
		return h
	}
	return new(Head[S])
}

// Recycle gives h back: a later Commit may use its memory, so nobody may use h any more. Views of h stay good. To give back
// is never required; it saves Commit an allocation of the size of S.
func (sc *Schema[S]) Recycle(h *Head[S]) {
	if h != nil && h != sc.empty {
		sc.spare.Put(h)
	}
}

// writers counts the parts that wrote field i. If one of them replaced it, only is its index, else -1.
func (sc *Schema[S]) writers(i int, parts []Part[S]) (n, only int, err error) {
	only = -1
	for p := range parts {
		m := sc.header(parts[p].View, i).cutMode
		if m == untouched {
			continue
		}
		if n++; m == replaced && only < 0 {
			only = p
		} else if m == replaced || n > 1 && sc.slots[i].single {
			return n, only, sc.conflict(i, parts)
		}
	}
	return n, only, nil
}

func (sc *Schema[S]) conflict(i int, parts []Part[S]) error {
	s := &sc.slots[i]
	e := &ConflictError{Field: s.Name, Go: s.goName, replaced: !s.single}
	for p := range parts {
		if m := sc.header(parts[p].View, i).cutMode; m == replaced || s.single && m == wrote {
			e.Tasks, e.Names = append(e.Tasks, p), append(e.Names, parts[p].Task)
		}
	}
	return e
}

func (sc *Schema[S]) reduceError(i, part int, task string, err error) error {
	e := &ReduceError{Field: sc.slots[i].Name, Go: sc.slots[i].goName, Task: task, Index: part, Err: err}
	if p, ok := errors.AsType[*reducerPanic](err); ok {
		e.Stack = p.stack
	}
	return e
}

// Merge writes the fields of the JSON object b, in the one JSON form, through v: it sets, appends, puts and adds. Names that
// S does not have, or hides, are an error, and so are names inside a value that its type does not have; then nothing is
// written.
func (sc *Schema[S]) Merge(v *S, b []byte) error {
	if err := strictjson.Check(b); err != nil { // encoding/json keeps the last of two equal names, and mends bad escapes
		return fmt.Errorf("state: merge: %w", err)
	}
	data, err := compact(b)
	if err != nil {
		return fmt.Errorf("state: merge: %w", err)
	}
	if data[0] != '{' {
		return fmt.Errorf("state: merge: want an object, have %.20s", data)
	}
	var writes []func()
	var errs []error
	for name, value := range members(data) {
		key, err := unquote(name)
		i, ok := sc.byName[key]
		switch {
		case err != nil || !ok || sc.slots[i].Name != key || sc.slots[i].Hidden || !sc.slots[i].Persisted:
			errs = append(errs, fmt.Errorf("state: merge: there is no field %s", name))
			continue
		}
		write, err := sc.at(v, i).parse(value)
		if err != nil {
			errs = append(errs, fmt.Errorf("state: merge: field %s (%s): %w", key, sc.slots[i].goName, err))
		}
		writes = append(writes, write)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, write := range writes {
		write()
	}
	return nil
}
