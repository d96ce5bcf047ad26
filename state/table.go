package state

import (
	"fmt"
	"reflect"

	"github.com/holdfast-go/holdfast/internal/persist"
)

// A store is an immutable collection by key, persist.Map or persist.Ordered. Its zero value is empty.
type store[K comparable, V, B any] interface {
	Len() int
	Get(K) (V, bool)
	Put(*persist.Edit, K, V) B
	Delete(*persist.Edit, K) (B, bool)
}

// A table is what the fields with keys have in common.
type table[K comparable, V any, B store[K, V, B]] struct {
	header
	kc     *codec[K]
	vc     *codec[V]
	base   *B // nil: never written
	w, cut *tableWrite[K, V, B]
}

// A tableWrite has what was written in order. Frozen ones have ops and replaced only.
type tableWrite[K comparable, V any, B store[K, V, B]] struct {
	ops      []tableOp[K, V]
	last     map[K]int // index of the last op of a key, once there are many
	replaced bool
	now      *B            // what the view sees, once it was asked for as a whole
	edit     *persist.Edit // of now
}

type tableOp[K comparable, V any] struct {
	key    K
	val    V
	remove bool
}

// fewOps is up to how many ops a key is looked for one by one.
const fewOps = 8

func (f *table[K, V, B]) codecs() (*codec[K], *codec[V]) {
	if f.kc == nil {
		return codecFor[K](), codecFor[V]()
	}
	return f.kc, f.vc
}

func (f *table[K, V, B]) committed() (b B) {
	if f.base != nil {
		b = *f.base
	}
	return b
}

// find returns the index of the last op of k, -1 if there is none.
func (w *tableWrite[K, V, B]) find(k K) int {
	if w.last != nil {
		if i, ok := w.last[k]; ok {
			return i
		}
		return -1
	}
	for i := len(w.ops) - 1; i >= 0; i-- {
		if w.ops[i].key == k {
			return i
		}
	}
	return -1
}

// lookup returns the value of k that the view sees, not copied.
func (f *table[K, V, B]) lookup(k K) (v V, ok bool) {
	if f.w != nil {
		if i := f.w.find(k); i >= 0 {
			return f.w.ops[i].val, !f.w.ops[i].remove
		}
		if f.w.replaced {
			return v, false
		}
	}
	if f.base == nil {
		return v, false
	}
	return (*f.base).Get(k)
}

func (f *table[K, V, B]) get(k K) (v V, ok bool) {
	v, ok = f.lookup(k)
	if _, vc := f.codecs(); ok && !vc.flat {
		shared := v // its address escapes; that of v must not
		v = vc.copy(&shared)
	}
	return v, ok
}

// view returns the whole collection that the view sees.
func (f *table[K, V, B]) view() (b B) {
	w := f.w
	if w == nil {
		return f.committed()
	}
	if w.now == nil {
		if !w.replaced {
			b = f.committed()
		}
		w.edit = new(persist.Edit)
		b = apply(b, w.edit, w.ops)
		w.now = &b
	}
	w.edit = nil // what is handed out is not changed in place
	return *w.now
}

func apply[K comparable, V any, B store[K, V, B]](b B, e *persist.Edit, ops []tableOp[K, V]) B {
	for i := range ops {
		if ops[i].remove {
			b, _ = b.Delete(e, ops[i].key)
		} else {
			b = b.Put(e, ops[i].key, ops[i].val)
		}
	}
	return b
}

func (f *table[K, V, B]) len() int {
	if f.w == nil {
		if f.base == nil {
			return 0
		}
		return (*f.base).Len()
	}
	return f.view().Len()
}

// do adds an op. Putting a key again changes its first op, so that it keeps its place.
func (f *table[K, V, B]) do(op tableOp[K, V]) {
	if f.w == nil {
		f.w = new(tableWrite[K, V, B])
	}
	f.written = true
	w := f.w
	i := w.find(op.key)
	if i >= 0 && w.ops[i].remove == op.remove {
		w.ops[i] = op
	} else {
		i = len(w.ops)
		w.ops = append(w.ops, op)
	}
	switch {
	case w.last != nil:
		w.last[op.key] = i
	case len(w.ops) > fewOps:
		w.last = make(map[K]int, 2*len(w.ops))
		for j := range w.ops {
			w.last[w.ops[j].key] = j
		}
	}
	if w.now == nil {
		return
	}
	if w.edit == nil {
		w.edit = new(persist.Edit)
	}
	b := apply(*w.now, w.edit, w.ops[i:i+1])
	w.now = &b
}

// drop removes k and reports whether the view saw it. Removing what is not there is no write.
func (f *table[K, V, B]) drop(k K) bool {
	if _, ok := f.lookup(k); !ok {
		return false
	}
	f.do(tableOp[K, V]{key: k, remove: true})
	return true
}

func (f *table[K, V, B]) replace() {
	f.w, f.written = &tableWrite[K, V, B]{replaced: true}, true
}

func (f *table[K, V, B]) single() bool    { return false }
func (f *table[K, V, B]) persisted() bool { return true }
func (f *table[K, V, B]) attach()         { f.kc, f.vc = codecFor[K](), codecFor[V]() }
func (f *table[K, V, B]) present() bool   { return f.base != nil }

func (f *table[K, V, B]) settle() {
	if f.w != nil {
		b := f.view()
		f.base = &b
	}
	f.w, f.cut = nil, nil
	f.reset()
}

func (f *table[K, V, B]) freeze() *fault {
	cut := &tableWrite[K, V, B]{replaced: f.w.replaced, ops: make([]tableOp[K, V], len(f.w.ops))}
	for i := range f.w.ops {
		op := &f.w.ops[i]
		bad := f.kc.check(&op.key)
		v := op.val
		if bad == nil && !op.remove {
			v, bad = f.vc.cut(&op.val)
		}
		if bad != nil {
			return bad.under(fmt.Sprintf("[%q]", fmt.Sprint(op.key)))
		}
		cut.ops[i] = tableOp[K, V]{op.key, v, op.remove}
	}
	f.cut = cut
	return f.seal(modeOf(cut.replaced))
}

func (f *table[K, V, B]) join(cut *tableWrite[K, V, B]) {
	var b B
	if !cut.replaced {
		b = f.committed()
	}
	var e *persist.Edit
	if len(cut.ops) > 1 {
		e = new(persist.Edit)
	}
	b = apply(b, e, cut.ops)
	f.base = &b
}

// encode writes [[key,value],[removed key]].
func (f *table[K, V, B]) encode(b []byte) ([]byte, error) {
	if f.cut.replaced {
		b = append(b, `{"r":`...)
	}
	b = append(b, '[')
	for i := range f.cut.ops {
		if i > 0 {
			b = append(b, ',')
		}
		op := &f.cut.ops[i]
		b = append(b, '[')
		var err error
		if b, err = f.kc.append(b, &op.key); err != nil {
			return b, err
		}
		if !op.remove {
			if b, err = f.vc.append(append(b, ','), &op.val); err != nil {
				return b, err
			}
		}
		b = append(b, ']')
	}
	b = append(b, ']')
	if f.cut.replaced {
		b = append(b, '}')
	}
	return b, nil
}

func (f *table[K, V, B]) decode(data []byte) error {
	cut := new(tableWrite[K, V, B])
	f.cut = cut
	data, cut.replaced = replacingOr(data)
	f.seal(modeOf(cut.replaced))
	in, err := array(data)
	if err != nil {
		return err
	}
	r := newReader()
	cut.ops = make([]tableOp[K, V], count(in))
	i := 0
	for one := range values(in) {
		k, v, err := pair(one)
		if err != nil {
			return err
		}
		op := &cut.ops[i]
		op.remove = v == nil
		if err := f.kc.next(r, k, &op.key); err != nil {
			return err
		}
		if v != nil {
			if err := f.vc.next(r, v, &op.val); err != nil {
				return err
			}
		}
		i++
	}
	return nil
}

// keyMistakes refuses keys that are not equal to themselves after a round trip.
func keyMistakes(t reflect.Type, path string) []string {
	key := fmt.Sprintf("[key]%s of type %s", path, t)
	switch k := t.Kind(); {
	case t == timeType:
		return []string{key + " is not equal to itself when it is loaded; use its UnixNano or its text"}
	case k == reflect.Float32 || k == reflect.Float64 || k == reflect.Pointer || k == reflect.Interface || k == reflect.Chan:
		return []string{key + " cannot be a key; use strings, integers, or structs and arrays of them"}
	case encodes(t):
		return nil
	case k == reflect.Array:
		return keyMistakes(t.Elem(), path+"[]")
	case k == reflect.Struct:
		var errs []string
		for i := range t.NumField() {
			errs = append(errs, keyMistakes(t.Field(i).Type, path+"."+t.Field(i).Name)...)
		}
		return errs
	}
	return nil
}
