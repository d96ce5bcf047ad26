package jsonschema

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/strictjson"
)

// maxSteps bounds the work of one Validate, which anyOf could make exponential.
const maxSteps = 100_000

// An Error says where a document does not match and how to mend it.
type Error struct {
	Path string // JSON pointer into the document; "" is the whole of it
	Want string
	Got  string
	Fix  string // what to do
}

// Error is one line that a person or a model can act on.
func (e *Error) Error() string {
	return fmt.Sprintf("jsonschema: at %q: want %s, got %s; %s", e.Path, e.Want, e.Got, e.Fix)
}

// Validate returns nil if doc is strict JSON that s accepts, else an *Error about the first fault. Unlike other
// validators it takes 1.0 and 1e3 for no integers, because encoding/json does so too, and no number beyond float64
// unless it is an integer. Cost is linear in the length of doc if s has no anyOf.
func (s *Schema) Validate(doc []byte) error {
	v, err := strictjson.Parse(doc)
	if err != nil {
		return &Error{Want: "strict JSON", Got: err.Error(), Fix: "send one JSON document in UTF-8, each name once in its object"}
	}
	c := checker{steps: maxSteps + len(doc)}
	if e := c.check(s, v, nil); e != nil {
		return e
	}
	return nil
}

// A path leads from a value to the root of its document.
type path struct {
	name string
	up   *path
}

func (p *path) String() string {
	var parts []string
	for ; p != nil; p = p.up {
		parts = append(parts, pointerEscape(p.name), "/")
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// A checker counts the steps of one validation.
type checker struct{ steps int }

func (c *checker) check(s *Schema, v strictjson.Value, at *path) *Error {
	if c.steps--; c.steps < 0 {
		return &Error{Path: at.String(), Want: "a document that is cheap to check", Got: "too many alternatives", Fix: "use a simpler schema"}
	}
	if v.Kind == strictjson.Null && s.nullable {
		return nil
	}
	if s.ref != nil {
		return c.check(s.ref, v, at)
	}
	if !s.accepts(v) {
		return s.fault(v, at)
	}
	var e *Error
	switch v.Kind {
	case strictjson.Object:
		e = c.object(s, v, at)
	case strictjson.Array:
		e = c.array(s, v, at)
	case strictjson.String:
		e = s.checkText(v, at)
	case strictjson.Number:
		e = s.checkNumber(v, at)
	}
	if e != nil || len(s.anyOf) == 0 {
		return e
	}
	return c.anyOf(s, v, at)
}

// accepts checks type and enum.
func (s *Schema) accepts(v strictjson.Value) bool {
	kindOK := s.kind == anything || s.kind == kind(v.Kind) ||
		s.kind == integer && v.Kind == strictjson.Number && isInteger(string(v.Raw))
	return kindOK && !s.never && (s.enum == nil || s.listed(v))
}

func (s *Schema) listed(v strictjson.Value) bool {
	if !isScalar(v.Kind) {
		return false
	}
	got := normal(v)
	return slices.ContainsFunc(s.enum, func(want string) bool {
		if isNumber(want) && v.Kind == strictjson.Number {
			return compare(want, got) == 0
		}
		return want == got
	})
}

func isNumber(token string) bool { return token[0] == '-' || '0' <= token[0] && token[0] <= '9' }

func (c *checker) object(s *Schema, v strictjson.Value, at *path) *Error {
	known := make(map[string]*Schema, len(s.properties))
	for _, p := range s.properties {
		known[p.Name] = p.Schema
	}
	present := make(map[string]bool, len(v.Members))
	for _, m := range v.Members {
		present[m.Name] = true
		if e := c.member(s, known[m.Name], m, at); e != nil {
			return e
		}
	}
	for _, p := range s.properties {
		if p.Required && !present[p.Name] {
			return &Error{Path: (&path{p.Name, at}).String(), Want: p.Schema.want(), Got: "nothing", Fix: fmt.Sprintf("add the property %q", p.Name)}
		}
	}
	return nil
}

func (c *checker) member(s, known *Schema, m strictjson.Member, at *path) *Error {
	here := &path{m.Name, at}
	if s.names != nil {
		name := strictjson.Value{Kind: strictjson.String, Text: m.Name, Raw: marshalString(m.Name)}
		if e := c.check(s.names, name, here); e != nil {
			return e
		}
	}
	switch {
	case known != nil:
		return c.check(known, m.Value, here)
	case s.closed:
		return &Error{Path: here.String(), Want: "no such property", Got: show(m.Value), Fix: s.rename(m.Name)}
	case s.values != nil:
		return c.check(s.values, m.Value, here)
	}
	return nil
}

// rename says what to do with an unknown property.
func (s *Schema) rename(name string) string {
	for _, p := range s.properties {
		if strings.EqualFold(p.Name, name) {
			return fmt.Sprintf("write its name as %q", p.Name)
		}
	}
	return "remove it"
}

func (c *checker) array(s *Schema, v strictjson.Value, at *path) *Error {
	n := len(v.Items)
	if n < s.minItems || s.limited && n > s.maxItems {
		return &Error{Path: at.String(), Want: s.want(), Got: fmt.Sprintf("%d items", n), Fix: "send the right number of items"}
	}
	if s.items == nil {
		return nil
	}
	for i, item := range v.Items {
		if e := c.check(s.items, item, &path{fmt.Sprint(i), at}); e != nil {
			return e
		}
	}
	return nil
}

func (s *Schema) checkText(v strictjson.Value, at *path) *Error {
	switch {
	case s.format == "date-time":
		if new(time.Time).UnmarshalText([]byte(v.Text)) != nil {
			return s.fault(v, at)
		}
	case s.encoding == "base64":
		if _, err := base64.StdEncoding.DecodeString(v.Text); err != nil {
			return s.fault(v, at)
		}
	}
	if s.pattern != nil && !s.pattern.MatchString(v.Text) {
		return s.fault(v, at)
	}
	return nil
}

func (s *Schema) checkNumber(v strictjson.Value, at *path) *Error {
	n := string(v.Raw)
	low := s.min != "" && compare(n, s.min) < 0
	high := s.max != "" && compare(n, s.max) > 0
	if low || high || s.kind == number && !inFloat64(n) {
		return s.fault(v, at)
	}
	return nil
}

func (c *checker) anyOf(s *Schema, v strictjson.Value, at *path) *Error {
	for _, a := range s.anyOf {
		if c.check(a, v, at) == nil {
			return nil
		}
	}
	return s.fault(v, at)
}

func (s *Schema) fault(v strictjson.Value, at *path) *Error {
	want := s.want()
	return &Error{Path: at.String(), Want: want, Got: show(v), Fix: "send " + want}
}
