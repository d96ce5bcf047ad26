package jsonschema

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/internal/strictjson"
)

// A pattern is a compiled regular expression. Go's expressions run in linear time, so a pattern cannot be used to block
// a program.
type pattern = regexp.Regexp

func mustPattern(p string) *pattern { return regexp.MustCompile(p) }

// A ParseError says why a document is not a schema that this package can apply in full.
type ParseError struct {
	Path   string // JSON pointer into the schema; "" is the whole of it
	Reason string
}

// Error names the place and the reason.
func (e *ParseError) Error() string {
	return fmt.Sprintf("jsonschema: schema at %q: %s", e.Path, e.Reason)
}

// Parse reads a schema. It refuses keywords that [Schema.Validate] does not apply, because a schema that is applied in
// part accepts what its author forbade. References may only lead to $defs of the same document. Its errors are of type
// *ParseError.
func Parse(doc []byte) (*Schema, error) {
	root, err := strictjson.Parse(doc)
	if err != nil {
		return nil, &ParseError{Reason: err.Error()}
	}
	r := reader{defs: map[string]*Schema{}}
	defs, _ := root.Get("$defs")
	for _, d := range defs.Members {
		r.defs["#/$defs/"+pointerEscape(d.Name)] = &Schema{}
	}
	s := &Schema{}
	r.defs["#"] = s
	read, err := r.schema(root, "")
	if err != nil {
		return nil, err
	}
	*s = *read
	for _, d := range defs.Members {
		at := "/$defs/" + pointerEscape(d.Name)
		read, err := r.schema(d.Value, at)
		if err != nil {
			return nil, err
		}
		*r.defs["#"+at] = *read
	}
	if err := r.checkLoops(); err != nil {
		return nil, err
	}
	return s, nil
}

// A reader reads one schema document.
type reader struct {
	defs map[string]*Schema // by reference; "#" is the root
}

func (r *reader) schema(v strictjson.Value, at string) (*Schema, error) {
	switch {
	case string(v.Raw) == "true":
		return &Schema{}, nil
	case string(v.Raw) == "false":
		return &Schema{never: true}, nil
	case v.Kind != strictjson.Object:
		return nil, &ParseError{Path: at, Reason: "a schema is an object or a boolean"}
	}
	s := &Schema{}
	var required []string
	for _, m := range v.Members {
		var err error
		if m.Name == "required" {
			required, err = stringList(m.Value)
		} else {
			err = r.keyword(s, m, at, at == "")
		}
		if err != nil {
			if _, ok := errors.AsType[*ParseError](err); ok {
				return nil, err
			}
			return nil, &ParseError{Path: at + "/" + pointerEscape(m.Name), Reason: err.Error()}
		}
	}
	if err := s.finish(required); err != nil {
		return nil, &ParseError{Path: at, Reason: err.Error()}
	}
	return s, nil
}

// keyword reads one member of a schema object into s.
func (r *reader) keyword(s *Schema, m strictjson.Member, at string, root bool) (err error) {
	v, at := m.Value, at+"/"+pointerEscape(m.Name)
	switch m.Name {
	case "$comment", "default", "examples":
		return nil
	case "$defs":
		if !root {
			return errors.New("$defs belong at the root")
		}
		return mustBe(v, strictjson.Object)
	case "type":
		return s.readType(v)
	case "enum":
		return s.readEnum(v.Items)
	case "const":
		return s.readEnum([]strictjson.Value{v})
	case "$ref":
		s.ref = r.defs[v.Text]
		if v.Kind != strictjson.String || s.ref == nil {
			return fmt.Errorf("the reference %s leads nowhere in this schema", v.Raw)
		}
		return nil
	case "properties":
		return r.properties(s, v, at)
	case "additionalProperties":
		if string(v.Raw) == "false" {
			s.closed = true
			return nil
		}
		s.values, err = r.schema(v, at)
	case "propertyNames":
		s.names, err = r.schema(v, at)
	case "items":
		s.items, err = r.schema(v, at)
	case "anyOf":
		return r.anyOf(s, v, at)
	default:
		return s.readScalar(m.Name, v)
	}
	return err
}

func (s *Schema) readScalar(name string, v strictjson.Value) (err error) {
	var dialect string
	into := map[string]*string{
		"title": &s.title, "description": &s.description, "format": &s.format,
		"contentEncoding": &s.encoding, "$schema": &dialect,
	}
	switch name {
	case "title", "description", "format", "contentEncoding", "$schema":
		*into[name] = v.Text
		return mustBe(v, strictjson.String)
	case "minimum":
		s.min = string(v.Raw)
		return mustBe(v, strictjson.Number)
	case "maximum":
		s.max = string(v.Raw)
		return mustBe(v, strictjson.Number)
	case "minItems":
		s.minItems, err = count(v)
	case "maxItems":
		s.limited = true
		s.maxItems, err = count(v)
	case "pattern":
		if s.pattern, err = regexp.Compile(v.Text); err == nil {
			err = mustBe(v, strictjson.String)
		}
	default:
		return errors.New("this keyword is not supported")
	}
	return err
}

func (s *Schema) readType(v strictjson.Value) error {
	names := []string{v.Text}
	if v.Kind == strictjson.Array {
		var err error
		if names, err = stringList(v); err != nil {
			return err
		}
	}
	if len(names) == 2 && slices.Contains(names, "null") {
		s.nullable = true
		names = slices.DeleteFunc(names, func(n string) bool { return n == "null" })
	}
	known := []kind{object, array, text, integer, number, boolean, null}
	if len(names) != 1 || !slices.Contains(known, kind(names[0])) {
		return errors.New("want one type, or one type and null")
	}
	s.kind = kind(names[0])
	return nil
}

func (s *Schema) readEnum(values []strictjson.Value) error {
	if len(values) == 0 || s.enum != nil {
		return errors.New("want one array of at least one value")
	}
	for _, item := range values {
		if !isScalar(item.Kind) {
			return errors.New("only strings, numbers, booleans and null are supported")
		}
		s.enum = append(s.enum, normal(item))
	}
	return nil
}

func (r *reader) properties(s *Schema, v strictjson.Value, at string) error {
	s.properties = []Property{}
	for _, m := range v.Members {
		p, err := r.schema(m.Value, at+"/"+pointerEscape(m.Name))
		if err != nil {
			return err
		}
		s.properties = append(s.properties, Property{Name: m.Name, Schema: p})
	}
	return mustBe(v, strictjson.Object)
}

func (r *reader) anyOf(s *Schema, v strictjson.Value, at string) error {
	if len(v.Items) == 0 {
		return errors.New("want an array of at least one schema")
	}
	for i, item := range v.Items {
		a, err := r.schema(item, fmt.Sprintf("%s/%d", at, i))
		if err != nil {
			return err
		}
		s.anyOf = append(s.anyOf, a)
	}
	return nil
}

// finish checks what several keywords say together.
func (s *Schema) finish(required []string) error {
	for _, name := range required {
		i := slices.IndexFunc(s.properties, func(p Property) bool { return p.Name == name })
		if i < 0 {
			return fmt.Errorf("the required property %q is not among the properties", name)
		}
		s.properties[i].Required = true
	}
	if s.ref != nil && !s.isOnly(Schema{ref: s.ref}) {
		return errors.New("beside $ref only annotations are supported")
	}
	if a := s.anyOf; len(a) == 2 && a[0].bare() && a[1].kind == null && s.isOnly(Schema{anyOf: a}) {
		s.ref, s.nullable, s.anyOf = a[0].ref, true, nil
	}
	if s.kind == anything || s.enum == nil {
		return nil
	}
	withNull := slices.Contains(s.enum, "null")
	if withNull && !s.nullable && s.kind != null {
		return errors.New("null is among the values but not among the types")
	}
	if s.nullable {
		s.nullable = withNull
		s.enum = slices.DeleteFunc(s.enum, func(v string) bool { return v == "null" })
	}
	if len(s.enum) == 0 {
		s.kind, s.nullable = null, false
	}
	return nil
}

// isOnly reports whether s has no keywords but annotations and those of want.
func (s *Schema) isOnly(want Schema) bool {
	want.title, want.description = s.title, s.description
	return reflect.DeepEqual(*s, want)
}

// checkLoops refuses references that lead back to themselves without a property or an item between.
func (r *reader) checkLoops() error {
	const open, done = 1, 2
	state := map[*Schema]int{}
	var visit func(s *Schema) bool
	visit = func(s *Schema) bool {
		if s == nil || state[s] == done {
			return true
		}
		if state[s] == open {
			return false
		}
		state[s] = open
		ok := visit(s.ref)
		for _, a := range s.anyOf {
			ok = ok && visit(a)
		}
		state[s] = done
		return ok
	}
	for _, s := range r.defs {
		if !visit(s) {
			return &ParseError{Path: "/$defs", Reason: "references lead in a circle"}
		}
	}
	return nil
}

func mustBe(v strictjson.Value, want strictjson.Kind) error {
	if v.Kind != want {
		return fmt.Errorf("want %s, got %s", want, v.Kind)
	}
	return nil
}

func stringList(v strictjson.Value) ([]string, error) {
	var list []string
	for _, item := range v.Items {
		if item.Kind != strictjson.String || slices.Contains(list, item.Text) {
			return nil, errors.New("want an array of different strings")
		}
		list = append(list, item.Text)
	}
	return list, mustBe(v, strictjson.Array)
}

func count(v strictjson.Value) (int, error) {
	n, err := strconv.Atoi(string(v.Raw))
	if err != nil || n < 0 {
		return 0, errors.New("want a count")
	}
	return n, nil
}

func isScalar(k strictjson.Kind) bool { return k != strictjson.Array && k != strictjson.Object }

// normal writes a scalar in the one way that this package compares.
func normal(v strictjson.Value) string {
	if v.Kind == strictjson.String {
		return string(marshalString(v.Text))
	}
	return string(v.Raw)
}

func pointerEscape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
