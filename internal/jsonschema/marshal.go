package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// MarshalJSON writes s with its keywords in a fixed order, so that equal schemas are equal bytes. Schemas that are used
// more than once or inside themselves go to $defs, under the name of the property where they are first met: names of Go
// types never reach stored data.
func (s *Schema) MarshalJSON() ([]byte, error) {
	w := writer{uses: map[*Schema]int{}, names: map[*Schema]string{}, taken: map[string]bool{}}
	w.count(s, "root")
	w.schema(s)
	if len(w.order) == 0 {
		return w.out.Bytes(), nil
	}
	body := bytes.Clone(w.out.Bytes())
	w.out.Reset()
	for i, target := range w.order {
		w.comma(i > 0)
		w.string(w.names[target])
		w.out.WriteByte(':')
		w.schema(target)
	}
	defs := w.out.Bytes()
	out := append(body[:len(body)-1:len(body)-1], `,"$defs":{`...)
	return append(append(out, defs...), "}}"...), nil
}

// A writer writes one schema. References to targets with one use are written in place.
type writer struct {
	out   bytes.Buffer
	uses  map[*Schema]int
	order []*Schema // targets that go to $defs
	names map[*Schema]string
	taken map[string]bool
}

// count finds the targets that are used more than once. A recursive one always is.
func (w *writer) count(s *Schema, name string) {
	if s == nil {
		return
	}
	if t := s.ref; t != nil {
		w.uses[t]++
		if w.uses[t] == 2 {
			w.define(t)
		}
		if w.uses[t] == 1 {
			w.names[t] = name
			w.count(t, name)
		}
		return
	}
	for _, p := range s.properties {
		w.count(p.Schema, p.Name)
	}
	w.count(s.values, name)
	w.count(s.names, name)
	w.count(s.items, name)
	for _, a := range s.anyOf {
		w.count(a, name)
	}
}

// define gives t a name that no other target has and that needs no escapes in a JSON pointer.
func (w *writer) define(t *Schema) {
	name := []byte(w.names[t])
	for i, c := range name {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			name[i] = '_'
		}
	}
	unique := string(name)
	for n := 2; w.taken[unique]; n++ {
		unique = fmt.Sprintf("%s_%d", name, n)
	}
	w.taken[unique] = true
	w.names[t] = unique
	w.order = append(w.order, t)
}

func (w *writer) schema(s *Schema) {
	if s.never {
		w.out.WriteString("false")
		return
	}
	for s.ref != nil && w.uses[s.ref] == 1 {
		s = s.inline()
	}
	w.out.WriteByte('{')
	first := true
	key := func(name string) {
		w.comma(!first)
		first = false
		w.string(name)
		w.out.WriteByte(':')
	}
	w.annotations(s, key)
	if s.ref != nil {
		w.reference(s, key)
	} else {
		w.scalars(s, key)
		w.parts(s, key)
	}
	w.out.WriteByte('}')
}

// inline returns the target of a reference with what the reference adds to it.
func (s *Schema) inline() *Schema {
	c := *s.ref
	c.nullable = c.nullable || s.nullable
	if s.description != "" {
		c.description = s.description
	}
	if s.title != "" {
		c.title = s.title
	}
	return &c
}

func (w *writer) annotations(s *Schema, key func(string)) {
	if s.title != "" {
		key("title")
		w.string(s.title)
	}
	if s.description != "" {
		key("description")
		w.string(s.description)
	}
}

func (w *writer) reference(s *Schema, key func(string)) {
	ref := `"#/$defs/` + w.names[s.ref] + `"`
	if !s.nullable || s.ref.nullable {
		key("$ref")
		w.out.WriteString(ref)
		return
	}
	key("anyOf")
	w.out.WriteString(`[{"$ref":` + ref + `},{"type":"null"}]`)
}

func (w *writer) scalars(s *Schema, key func(string)) {
	raw := func(name, value string) {
		if value != "" {
			key(name)
			w.out.WriteString(value)
		}
	}
	quoted := func(name, value string) {
		if value != "" {
			key(name)
			w.string(value)
		}
	}
	if s.nullable && s.kind != anything {
		raw("type", `["`+string(s.kind)+`","null"]`)
	} else {
		quoted("type", string(s.kind))
	}
	if len(s.enum) > 0 {
		key("enum")
		w.enum(s)
	}
	raw("minimum", s.min)
	raw("maximum", s.max)
	quoted("format", s.format)
	quoted("contentEncoding", s.encoding)
	if s.pattern != nil {
		key("pattern")
		w.string(s.pattern.String())
	}
}

func (w *writer) enum(s *Schema) {
	w.out.WriteByte('[')
	for i, v := range s.enum {
		w.comma(i > 0)
		w.out.WriteString(v)
	}
	if s.nullable {
		w.out.WriteString(",null")
	}
	w.out.WriteByte(']')
}

func (w *writer) parts(s *Schema, key func(string)) {
	if s.properties != nil || s.kind == object && s.closed {
		w.properties(s, key)
	}
	switch {
	case s.closed:
		key("additionalProperties")
		w.out.WriteString("false")
	case s.values != nil:
		key("additionalProperties")
		w.schema(s.values)
	}
	if s.names != nil {
		key("propertyNames")
		w.schema(s.names)
	}
	if s.items != nil {
		key("items")
		w.schema(s.items)
	}
	if s.minItems > 0 {
		key("minItems")
		w.out.WriteString(strconv.Itoa(s.minItems))
	}
	if s.limited {
		key("maxItems")
		w.out.WriteString(strconv.Itoa(s.maxItems))
	}
	if len(s.anyOf) > 0 {
		key("anyOf")
		w.list(s.anyOf)
	}
}

func (w *writer) properties(s *Schema, key func(string)) {
	key("properties")
	w.out.WriteByte('{')
	var required []string
	for i, p := range s.properties {
		w.comma(i > 0)
		w.string(p.Name)
		w.out.WriteByte(':')
		w.schema(p.Schema)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	w.out.WriteByte('}')
	if len(required) == 0 {
		return
	}
	key("required")
	w.out.WriteByte('[')
	for i, name := range required {
		w.comma(i > 0)
		w.string(name)
	}
	w.out.WriteByte(']')
}

func (w *writer) list(schemas []*Schema) {
	w.out.WriteByte('[')
	for i, s := range schemas {
		w.comma(i > 0)
		w.schema(s)
	}
	w.out.WriteByte(']')
}

func (w *writer) comma(needed bool) {
	if needed {
		w.out.WriteByte(',')
	}
}

func (w *writer) string(s string) {
	w.out.Write(marshalString(s))
}

// marshalString writes a JSON string without the HTML escapes that make schemas hard to read.
func marshalString(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
