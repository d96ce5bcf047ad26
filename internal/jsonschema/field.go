package jsonschema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/internal/strictjson"
)

// A field is one property of a struct as encoding/json sees it.
type field struct {
	reflect.StructField
	name     string
	tagged   bool // the name is from a tag, which wins over others at the same depth
	depth    int
	optional bool // may be absent: omitempty, omitzero, or in a struct embedded by pointer
	quoted   bool // the option "string"
}

func (g *generator) object(t reflect.Type, path string) (*Schema, error) {
	var props []Property
	for _, f := range dominant(collect(t, 0, false, nil)) {
		s, err := g.field(f, path+"."+f.Name)
		if err != nil {
			return nil, err
		}
		props = append(props, Property{Name: f.name, Schema: s, Required: !f.optional})
	}
	return Object(props), nil
}

// collect lists the fields of t and of the structs embedded in it, in the order of encoding/json.
func collect(t reflect.Type, depth int, optional bool, outer []reflect.Type) []field {
	if slices.Contains(outer, t) {
		return nil
	}
	outer = append(outer[:len(outer):len(outer)], t)
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		if tag == "-" || skipped(sf) {
			continue
		}
		name, options := TagName(tag)
		elem := sf.Type
		if elem.Name() == "" && elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		if sf.Anonymous && name == "" && elem.Kind() == reflect.Struct {
			fields = append(fields, collect(elem, depth+1, optional || sf.Type != elem, outer)...)
			continue
		}
		f := field{StructField: sf, name: name, tagged: name != "", depth: depth, optional: optional}
		if name == "" {
			f.name = sf.Name
		}
		for option := range strings.SplitSeq(options, ",") {
			f.optional = f.optional || option == "omitempty" || option == "omitzero"
			f.quoted = f.quoted || option == "string" && quotable(elem)
		}
		fields = append(fields, f)
	}
	return fields
}

func skipped(f reflect.StructField) bool {
	if !f.Anonymous {
		return !f.IsExported()
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return !f.IsExported() && t.Kind() != reflect.Struct
}

// TagName returns the name and the options of a json tag. Like encoding/json it passes over names with other signs than these:
// then the name is empty.
func TagName(tag string) (name, options string) {
	name, options, _ = strings.Cut(tag, ",")
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return "", options
		}
	}
	return name, options
}

func quotable(t reflect.Type) bool {
	if special(t) != nil {
		return false
	}
	return scalar(t) != nil
}

// dominant keeps for each name the one field that Go's embedding rules pick, or none if they pick none.
func dominant(fields []field) []field {
	byName := map[string][]int{}
	for i, f := range fields {
		byName[f.name] = append(byName[f.name], i)
	}
	var kept []field
	for i, f := range fields {
		loses := func(j int) bool { return i != j && !beats(f, fields[j]) }
		if !slices.ContainsFunc(byName[f.name], loses) {
			kept = append(kept, f)
		}
	}
	return kept
}

func beats(f, other field) bool {
	if f.depth != other.depth {
		return f.depth < other.depth
	}
	return f.tagged && !other.tagged
}

func (g *generator) field(f field, path string) (*Schema, error) {
	s, err := g.schema(f.Type, path)
	if err != nil {
		return nil, err
	}
	if f.quoted {
		s = quote(s)
	}
	if list := f.Tag.Get("enum"); list != "" {
		if s, err = withEnum(s, list, path, f.Type); err != nil {
			return nil, err
		}
	}
	if d := f.Tag.Get("description"); d != "" {
		s = s.Describe(d)
	}
	return s, nil
}

// quote returns the schema of a scalar that the tag option "string" puts between quotes.
func quote(s *Schema) *Schema {
	q := &Schema{kind: text, nullable: s.nullable}
	switch s.kind {
	case integer:
		q.pattern = mustPattern(integerKey)
	case boolean:
		q.enum = []string{`"true"`, `"false"`}
	case number:
		q.pattern = mustPattern(`^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?$`)
	case text:
		q.pattern = mustPattern(`^"`)
	}
	return q
}

// withEnum limits s, or the items of s, to the values of a tag such as enum:"low,high".
func withEnum(s *Schema, list, path string, t reflect.Type) (*Schema, error) {
	c := *s
	if s.ref != nil && s.ref.kind == array {
		c = *s.ref
		return withEnum(&c, list, path, t)
	}
	if s.kind == array {
		items, err := withEnum(s.items, list, path+"[]", t)
		c.items = items
		return &c, err
	}
	c.enum = nil
	for v := range strings.SplitSeq(list, ",") {
		token := []byte(v)
		if s.kind == text {
			token, _ = json.Marshal(v)
		}
		parsed, err := strictjson.Parse(token)
		if err == nil {
			err = withoutNull(&c).Validate(token)
		}
		if err != nil || !isScalar(parsed.Kind) {
			return nil, &TypeError{Path: path, Type: t.String(), Reason: fmt.Sprintf("cannot have the enum value %q", v)}
		}
		c.enum = append(c.enum, normal(parsed))
	}
	return &c, nil
}

func withoutNull(s *Schema) *Schema {
	return &Schema{kind: s.kind, min: s.min, max: s.max, format: s.format, encoding: s.encoding, pattern: s.pattern, ref: s.ref}
}
