// Package jsonschema writes, reads and applies the part of JSON Schema (draft 2020-12) that describes Go types as
// encoding/json encodes them. States, questions and tools use the same generator, so that what one part of a program
// shows another part accepts.
//
// [For] makes the schema of a Go type. [Object], [Array] and [Map] put schemas together. [Parse] reads one that was
// stored. [Schema.Validate] checks a document strictly: no conversions, no unknown properties, integers exact.
package jsonschema

import "slices"

// Draft is the dialect that this package writes and reads.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// A Schema describes JSON documents. The zero value accepts every document that is strict JSON. A Schema is not changed
// after it was made, so it may be shared and used by several goroutines.
type Schema struct {
	kind        kind
	nullable    bool // null is accepted too
	never       bool // nothing is accepted: the schema false
	description string
	title       string
	enum        []string // JSON texts of scalars, normalized
	min, max    string   // JSON numbers
	format      string
	encoding    string
	pattern     *pattern
	properties  []Property
	closed      bool    // no other properties
	values      *Schema // of other properties
	names       *Schema // of the names of properties
	items       *Schema
	minItems    int
	maxItems    int // counts only if limited
	limited     bool
	anyOf       []*Schema
	ref         *Schema // stands for that schema; kind and all below it are unset
}

// A kind is the type keyword; "" is no type keyword.
type kind string

const (
	anything kind = ""
	object   kind = "object"
	array    kind = "array"
	text     kind = "string"
	integer  kind = "integer"
	number   kind = "number"
	boolean  kind = "boolean"
	null     kind = "null"
)

// A Property is one named part of an object.
type Property struct {
	Name     string
	Schema   *Schema
	Required bool
}

// Object returns the schema of objects that have these properties and no others.
func Object(props []Property) *Schema {
	return &Schema{kind: object, properties: slices.Clone(props), closed: true}
}

// Array returns the schema of arrays of items.
func Array(items *Schema) *Schema { return &Schema{kind: array, items: items} }

// Map returns the schema of objects with any names whose values match value.
func Map(value *Schema) *Schema { return &Schema{kind: object, values: value} }

// Nullable returns a schema that accepts null and all that s accepts.
func (s *Schema) Nullable() *Schema {
	c := *s
	c.nullable = true
	return &c
}

// Describe returns a copy of s with a description for people and models.
func (s *Schema) Describe(description string) *Schema {
	c := *s
	c.description = description
	return &c
}

// bare reports whether s is a reference and nothing else.
func (s *Schema) bare() bool { return s.ref != nil && s.description == "" && !s.nullable }
