package state

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

func (c *compiler) slice(p *plan, t reflect.Type, path string) {
	e := c.compile(t.Elem(), path+"[]", true)
	p.custom = e.custom
	if t.Elem().Kind() == reflect.Uint8 && !e.custom {
		p.clone = func(dst, src reflect.Value, _ int) error {
			dst.SetBytes(bytes.Clone(src.Bytes()))
			return nil
		}
		return
	}
	p.clone = func(dst, src reflect.Value, depth int) error {
		if src.IsNil() {
			return nil
		}
		n := reflect.MakeSlice(t, src.Len(), src.Len())
		if e.flat() {
			reflect.Copy(n, src)
		} else if err := eachCopy(e, n, src, depth+1); err != nil {
			return err
		}
		dst.Set(n)
		return nil
	}
	if e.checked() {
		p.check = func(v reflect.Value, depth int) *fault { return eachCheck(e, v, depth+1) }
	}
}

func (c *compiler) array(p *plan, t reflect.Type, path string, addr bool) {
	e := c.compile(t.Elem(), path+"[]", addr)
	p.custom = e.custom
	if !e.flat() {
		p.clone = func(dst, src reflect.Value, depth int) error { return eachCopy(e, dst, src, depth+1) }
	}
	if e.checked() {
		p.check = func(v reflect.Value, depth int) *fault { return eachCheck(e, v, depth+1) }
	}
}

func eachCopy(e *plan, dst, src reflect.Value, depth int) error {
	for i := range src.Len() {
		if err := e.copy(dst.Index(i), src.Index(i), depth); err != nil {
			return err
		}
	}
	return nil
}

func eachCheck(e *plan, v reflect.Value, depth int) *fault {
	for i := range v.Len() {
		if f := e.verify(v.Index(i), depth); f != nil {
			return f.under(fmt.Sprintf("[%d]", i))
		}
	}
	return nil
}

func (c *compiler) mapping(p *plan, t reflect.Type, path string) {
	c.mapKey(t.Key(), path)
	k := c.compile(t.Key(), path+"[key]", false)
	e := c.compile(t.Elem(), path+"[]", false)
	p.custom = e.custom || k.custom
	p.clone = func(dst, src reflect.Value, depth int) error {
		if src.IsNil() {
			return nil
		}
		n := reflect.MakeMapWithSize(t, src.Len())
		for it := src.MapRange(); it.Next(); {
			v := it.Value()
			if !e.flat() {
				v = reflect.New(t.Elem()).Elem()
				if err := e.copy(v, it.Value(), depth+1); err != nil {
					return err
				}
			}
			n.SetMapIndex(it.Key(), v)
		}
		dst.Set(n)
		return nil
	}
	if !k.checked() && !e.checked() {
		return
	}
	p.check = func(v reflect.Value, depth int) *fault {
		for it := v.MapRange(); it.Next(); {
			f := k.verify(it.Key(), depth+1)
			if f == nil {
				f = e.verify(it.Value(), depth+1)
			}
			if f != nil {
				return f.under(fmt.Sprintf("[%q]", fmt.Sprint(it.Key())))
			}
		}
		return nil
	}
}

// mapKey refuses keys of a map inside a value that encoding/json cannot bring back.
func (c *compiler) mapKey(t reflect.Type, path string) {
	text := t.Implements(textType)
	untext := reflect.PointerTo(t).Implements(untextType)
	switch k := t.Kind(); {
	case k == reflect.String && !untext:
	case k >= reflect.Int && k <= reflect.Uint64 && text == untext:
	case k != reflect.String && k != reflect.Interface && k != reflect.Pointer && text && untext:
	default:
		c.refuse(path, "has map keys of type %s; use strings, integers, or a type with MarshalText and UnmarshalText", t)
	}
}

type fieldPlan struct {
	*plan
	index []int // through structs embedded by value
	name  string
}

func (c *compiler) structure(p *plan, t reflect.Type, path string, addr bool) {
	c.clashes(t, path)
	var clones, checks []fieldPlan
	for _, f := range c.fields(t, nil, path, addr) {
		p.custom = p.custom || f.custom
		if !f.flat() {
			clones = append(clones, f)
		}
		if f.checked() {
			checks = append(checks, f)
		}
	}
	if len(clones) > 0 {
		p.clone = func(dst, src reflect.Value, depth int) error { return cloneFields(clones, dst, src, depth+1) }
	}
	if len(checks) > 0 {
		p.check = func(v reflect.Value, depth int) *fault {
			for _, f := range checks {
				if bad := f.verify(v.FieldByIndex(f.index), depth+1); bad != nil {
					return bad.under("." + f.name)
				}
			}
			return nil
		}
	}
}

// fields compiles the fields of t, those of embedded structs in their place: an embedded struct itself may be unexported.
func (c *compiler) fields(t reflect.Type, at []int, path string, addr bool) (all []fieldPlan) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			continue
		}
		index := append(slices.Clone(at), i)
		p := c.field(f, path+"."+f.Name, addr)
		switch {
		case p != nil:
			all = append(all, fieldPlan{p, index, f.Name})
		case flattened(f) && !encodes(f.Type):
			all = append(all, c.fields(f.Type, index, path+"."+f.Name, addr)...)
		}
	}
	return all
}

// flattened reports whether encoding/json puts the fields of f in its place.
func flattened(f reflect.StructField) bool {
	name, _ := jsonschema.TagName(f.Tag.Get("json"))
	return f.Anonymous && f.Type.Kind() == reflect.Struct && name == ""
}

func cloneFields(fields []fieldPlan, dst, src reflect.Value, depth int) error {
	dst.Set(src)
	for _, f := range fields {
		d := dst.FieldByIndex(f.index)
		d.SetZero()
		if err := f.copy(d, src.FieldByIndex(f.index), depth); err != nil {
			return err
		}
	}
	return nil
}

// field compiles one field of a struct inside a value. It returns nil if the field is refused or flattened.
func (c *compiler) field(f reflect.StructField, path string, addr bool) *plan {
	_, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
	kind := f.Type.Kind()
	switch {
	case f.Tag.Get("json") == "-":
		c.refuse(path, `is left out of JSON by json:"-" and would be lost; remove it or name it`)
		return nil
	case f.Anonymous && kind == reflect.Pointer:
		c.refuse(path, "is embedded by pointer; embed it by value or give it a name")
		return nil
	case flattened(f):
		if encodes(f.Type) {
			c.refuse(path, "is embedded and encodes itself; give it a name")
		}
		return nil
	case !f.IsExported():
		c.refuse(path, "is unexported and would be lost; export it, or give its struct MarshalJSON and UnmarshalJSON")
		return nil
	}
	p := c.compile(f.Type, path, addr)
	omitEmpty, omit := false, false
	for o := range strings.SplitSeq(opts, ",") {
		omitEmpty = omitEmpty || o == "omitempty"
		omit = omit || o == "omitempty" || o == "omitzero"
	}
	switch {
	case f.Type == rawType && omit:
		return &plan{clone: cloneRaw, check: checkRawOmit}
	case f.Type == rawType:
		return p
	case f.Type == timeType && omit && !omitEmpty:
		return &plan{check: checkTimeOmit}
	}
	if omitEmpty && (kind == reflect.Slice || kind == reflect.Map) {
		c.refuse(path, "is tagged omitempty: empty would come back as nil; use omitzero")
	}
	return p
}

// encodes reports whether t has a codec or half of one.
func encodes(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(marshalType) || p.Implements(unmarshalType) || p.Implements(textType) || p.Implements(untextType)
}

// clashes refuses JSON names of a struct that differ in case only, or that hide each other.
func (c *compiler) clashes(t reflect.Type, path string) {
	seen := map[string]string{}
	var walk func(reflect.Type, string)
	walk = func(t reflect.Type, prefix string) {
		for i := range t.NumField() {
			f := t.Field(i)
			name, _ := jsonschema.TagName(f.Tag.Get("json"))
			if flattened(f) {
				walk(f.Type, prefix+f.Name+".")
				continue
			}
			if name == "" {
				name = f.Name
			}
			if f.Name == "_" {
				continue
			}
			if other, ok := seen[foldCase(name)]; ok {
				c.refuse(path, "has fields %s and %s with one JSON name, %q; case does not count", other, prefix+f.Name, name)
			}
			seen[foldCase(name)] = prefix + f.Name
		}
	}
	walk(t, "")
}

// foldCase returns the same string for strings that differ in case only.
func foldCase(s string) string {
	var b strings.Builder
	for _, r := range s {
		least := r
		for n := unicode.SimpleFold(r); n != r; n = unicode.SimpleFold(n) {
			least = min(least, n)
		}
		b.WriteRune(least)
	}
	return b.String()
}

// cloneMethod returns a copier that uses t's own Clone, nil if t has none.
func cloneMethod(t reflect.Type) func(dst, src reflect.Value, depth int) error {
	m, ok := t.MethodByName("Clone")
	if !ok || m.Type.NumIn() != 1 || m.Type.NumOut() != 1 || m.Type.Out(0) != t {
		return nil
	}
	return func(dst, src reflect.Value, _ int) error {
		if t.Kind() != reflect.Pointer || !src.IsNil() {
			dst.Set(src.Method(m.Index).Call(nil)[0])
		}
		return nil
	}
}

// promoted reports whether t has its codec from an embedded field while it has other fields: they would be lost.
func promoted(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t.NumField() < 2 {
		return false
	}
	m, ok := t.MethodByName("MarshalJSON")
	if !ok {
		m, ok = t.MethodByName("MarshalText")
	}
	if !ok {
		return false // a method of the pointer: its receiver is not an embedded value
	}
	for i := range t.NumField() {
		if f := t.Field(i); !f.Anonymous || !encodes(f.Type) {
			continue
		}
		// The compiler writes the method that calls the embedded field's.
		if fn := runtime.FuncForPC(m.Func.Pointer()); fn != nil {
			file, _ := fn.FileLine(fn.Entry())
			return file == "<autogenerated>"
		}
	}
	return false
}

// pointerFree reports whether an assignment copies values of t, unexported fields included.
func pointerFree(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return false
	case reflect.Array:
		return pointerFree(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i).Type; !immutable[f] && !pointerFree(f) {
				return false
			}
		}
	}
	return true
}

// wellFormed reports whether b is UTF-8.
func wellFormed(b []byte) error {
	if !utf8.Valid(b) {
		return errUTF8
	}
	return nil
}
