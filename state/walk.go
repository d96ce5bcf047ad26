package state

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"
)

var (
	fieldType = reflect.TypeFor[field]()
	ownPath   = reflect.TypeFor[noCopy]().PkgPath()
	schemas   sync.Map // reflect.Type of S to its *Schema[S]
)

// slot is one field of S.
type slot struct {
	Info
	goName string
	offset uintptr
	quoted []byte // the name in JSON, and a colon
	single bool
	cast   func(unsafe.Pointer) field // what lies at an address: reflect would be asked for every field of every view
}

// Of inspects S. The error joins every mistake it finds; each names a Go field and says what to do. The schema of a type is
// made once.
func Of[S any]() (*Schema[S], error) {
	t := reflect.TypeFor[S]()
	if sc, ok := schemas.Load(t); ok {
		return sc.(*Schema[S]), nil
	}
	w := walker{root: t, goNames: map[string]bool{}, names: map[string]string{}}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("state: %s is no struct; a state is a struct of fields like state.Last[string]", t)
	}
	w.walk(t, 0, "", "")
	if len(w.errs) > 0 {
		return nil, errors.Join(w.errs...)
	}
	sc := newSchema[S](w.slots)
	if err := sc.describe(); err != nil {
		return nil, err
	}
	got, _ := schemas.LoadOrStore(t, sc)
	return got.(*Schema[S]), nil
}

// A walker collects the fields of a state and what is wrong with them.
type walker struct {
	root    reflect.Type
	slots   []slot
	errs    []error
	goNames map[string]bool
	names   map[string]string // durable name or alias to the Go name that has it
}

func (w *walker) refuse(goName, format string, args ...any) {
	w.errs = append(w.errs, fmt.Errorf("state: %s.%s %s", w.root, goName, fmt.Sprintf(format, args...)))
}

// walk adds the fields of t, which lies at offset. The prefixes are those of the groups that it is in, with a dot.
func (w *walker) walk(t reflect.Type, offset uintptr, goPrefix, prefix string) {
	for i := range t.NumField() {
		f := t.Field(i)
		goName := goPrefix + f.Name
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		reducer := f.Type.PkgPath() == ownPath && reflect.PointerTo(f.Type).Implements(fieldType)
		group := f.Type.Kind() == reflect.Struct && !reducer && hasReducers(f.Type)
		switch {
		case f.Name == "_":
			w.refuse(goName, "is blank; remove it")
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			w.refuse(goName, "is embedded by pointer; embed the struct itself")
		case f.Anonymous && reducer:
			w.refuse(goName, "is an embedded %s; give the field a name", f.Type)
		case group && f.Tag.Get("state") != "":
			w.refuse(goName, "has a state tag, which a struct of fields cannot have; tag the fields in it")
		case f.Anonymous && group && tag == "":
			w.walk(f.Type, offset+f.Offset, goPrefix, prefix)
		case !f.IsExported():
			w.refuse(goName, "is unexported; export it, or move it out of the state")
		case !reducer && !group:
			w.refuse(goName, "has type %s, which does not say how writes merge; use %s", f.Type, advice(f.Type))
		case tag == "" || tag == "-":
			w.refuse(goName, "has no json name, under which it is stored; tag it, as in `json:%q`", strings.ToLower(f.Name))
		case strings.ContainsAny(tag, ".\"\\") || !utf8.ValidString(tag) || strings.ContainsFunc(tag, func(r rune) bool { return r < ' ' }):
			w.refuse(goName, "has the json name %q; names have no dots, quotes, backslashes or control characters", tag)
		case group:
			w.walk(f.Type, offset+f.Offset, goName+".", prefix+tag+".")
		default:
			w.add(f, offset+f.Offset, goName, prefix, tag)
		}
	}
}

func (w *walker) add(f reflect.StructField, offset uintptr, goName, prefix, tag string) {
	sample := reflect.New(f.Type).Interface().(field)
	s := slot{goName: goName, offset: offset, single: sample.single(), cast: sample.cast}
	s.Info = Info{Name: prefix + tag, Kind: sample.kind(), Elem: sample.elem(), Persisted: sample.persisted()}
	s.quoted = append(appendString(nil, s.Name), ':')
	for opt := range strings.SplitSeq(f.Tag.Get("state"), ",") {
		switch alias, isAlias := strings.CutPrefix(opt, "alias="); {
		case opt == "":
		case opt == "hidden":
			s.Hidden = true
		case isAlias && alias != "":
			s.Aliases = append(s.Aliases, alias)
		default:
			w.refuse(goName, "has the option %q in its state tag; there are hidden and alias=name", opt)
		}
	}
	if w.goNames[goName] {
		w.refuse(goName, "occurs twice, through embedding; rename one")
	}
	w.goNames[goName] = true
	for _, n := range append([]string{s.Name}, s.Aliases...) {
		if other, ok := w.names[n]; ok {
			w.refuse(goName, "has the name %q, as has %s; rename one", n, other)
		}
		w.names[n] = goName
	}
	for _, m := range sample.mistakes() {
		w.refuse(goName, "(%s): %s", f.Type, strings.TrimSpace(m))
	}
	w.slots = append(w.slots, s)
}

// hasReducers reports whether t has a field of a type of this package, at any depth, or is such a struct by its fields' look.
func hasReducers(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i).Type
		if f.PkgPath() == ownPath && reflect.PointerTo(f).Implements(fieldType) {
			return true
		}
		if f.Kind() == reflect.Struct && f.PkgPath() != ownPath && hasReducers(f) {
			return true
		}
	}
	return false
}

// advice names the field type to use for a t.
func advice(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return fmt.Sprintf("state.List[%s], or state.Last[%s] if it is set as a whole", t.Elem(), t)
	case reflect.Map:
		if t.Elem().Kind() == reflect.Struct && t.Elem().NumField() == 0 {
			return fmt.Sprintf("state.Set[%s]", t.Key())
		}
		return fmt.Sprintf("state.Map[%s, %s], or state.Last[%s] if it is set as a whole", t.Key(), t.Elem(), t)
	case reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		return fmt.Sprintf("state.Untracked[%s], which is never stored, or keep it outside the state", t)
	case reflect.Pointer:
		if e := t.Elem(); e.PkgPath() == ownPath && t.Implements(fieldType) {
			return fmt.Sprintf("%s itself, not a pointer to it", e)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		return fmt.Sprintf("state.Last[%s], or state.Sum[%[1]s] if tasks add to it", t)
	}
	return fmt.Sprintf("state.Last[%s]", t)
}
