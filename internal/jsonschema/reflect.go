package jsonschema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"time"
)

var (
	timeType          = reflect.TypeFor[time.Time]()
	bigIntType        = reflect.TypeFor[big.Int]()
	numberType        = reflect.TypeFor[json.Number]()
	rawType           = reflect.TypeFor[json.RawMessage]()
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	unmarshalerType   = reflect.TypeFor[json.Unmarshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	textDecoderType   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// integerKey is what encoding/json writes for integer keys of maps.
const integerKey = `^-?(0|[1-9][0-9]*)$`

// A TypeError says which part of a Go type has no JSON form.
type TypeError struct {
	Path   string // field names from the outermost type, such as "Order.Lines[].Price"
	Type   string // the Go type found there
	Reason string // what is wrong with it
}

// Error names the place, the type and the reason.
func (e *TypeError) Error() string {
	return fmt.Sprintf("jsonschema: %s: type %s %s", e.Path, e.Type, e.Reason)
}

// For returns the schema of the documents that encoding/json writes for values of type t. Struct tags json, description
// and enum ("a,b") are read. Values that marshal themselves are accepted in any form, because the type does not tell it.
// Its errors are of type *TypeError. Cost is linear in the size of the type.
func For(t reflect.Type) (*Schema, error) {
	g := generator{named: map[reflect.Type]*Schema{}}
	if t == nil {
		return nil, &TypeError{Path: "(root)", Type: "nil", Reason: "is no type"}
	}
	return g.schema(t, t.String())
}

// A generator remembers the named types it has met, so that recursive types end.
type generator struct {
	named map[reflect.Type]*Schema
}

func (g *generator) schema(t reflect.Type, path string) (*Schema, error) {
	if s := special(t); s != nil {
		return s, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		s, err := g.pointer(t, path)
		if err != nil {
			return nil, err
		}
		return s.Nullable(), nil
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
		if t.Name() == "" {
			return g.composite(t, path)
		}
		return g.namedComposite(t, path)
	case reflect.Interface:
		return &Schema{}, nil
	}
	if s := scalar(t); s != nil {
		return s, nil
	}
	return nil, &TypeError{Path: path, Type: t.String(), Reason: "has no JSON form; use a plain value"}
}

// pointer refuses types that are nothing but pointers to themselves.
func (g *generator) pointer(t reflect.Type, path string) (*Schema, error) {
	seen := map[reflect.Type]bool{}
	for p := t; p.Kind() == reflect.Pointer; p = p.Elem() {
		if seen[p] {
			return nil, &TypeError{Path: path, Type: t.String(), Reason: "points only to itself"}
		}
		seen[p] = true
	}
	return g.schema(t.Elem(), path)
}

// special returns the schema of types whose JSON form is not that of their kind, else nil.
func special(t reflect.Type) *Schema {
	switch t {
	case timeType:
		return &Schema{kind: text, format: "date-time"}
	case bigIntType:
		return &Schema{kind: integer}
	case numberType:
		return &Schema{kind: number}
	case rawType:
		return &Schema{}
	}
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return nil // the element decides
	}
	p := reflect.PointerTo(t)
	switch {
	case p.Implements(marshalerType), p.Implements(unmarshalerType):
		return &Schema{}
	case t.Implements(textMarshalerType):
		return &Schema{kind: text}
	case p.Implements(textMarshalerType), p.Implements(textDecoderType):
		return &Schema{} // a string or not, depending on whether the value has an address
	}
	return nil
}

func scalar(t reflect.Type) *Schema {
	switch t.Kind() {
	case reflect.Bool:
		return &Schema{kind: boolean}
	case reflect.String:
		return &Schema{kind: text}
	case reflect.Float32:
		return &Schema{kind: number, min: "-3.4028235e+38", max: "3.4028235e+38"}
	case reflect.Float64:
		return &Schema{kind: number}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		most := int64(1)<<(t.Bits()-1) - 1
		return &Schema{kind: integer, min: strconv.FormatInt(-most-1, 10), max: strconv.FormatInt(most, 10)}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		most := ^uint64(0) >> (64 - t.Bits())
		return &Schema{kind: integer, min: "0", max: strconv.FormatUint(most, 10)}
	}
	return nil
}

// namedComposite makes one schema for a named type and returns references to it.
func (g *generator) namedComposite(t reflect.Type, path string) (*Schema, error) {
	if target, ok := g.named[t]; ok {
		return &Schema{ref: target}, nil
	}
	target := &Schema{}
	g.named[t] = target
	s, err := g.composite(t, path)
	if err != nil {
		return nil, err
	}
	*target = *s
	return &Schema{ref: target}, nil
}

func (g *generator) composite(t reflect.Type, path string) (*Schema, error) {
	switch t.Kind() {
	case reflect.Struct:
		return g.object(t, path)
	case reflect.Map:
		return g.mapping(t, path)
	case reflect.Slice:
		if isBytes(t) {
			return &Schema{kind: text, encoding: "base64", nullable: true}, nil
		}
	}
	items, err := g.schema(t.Elem(), path+"[]")
	if err != nil {
		return nil, err
	}
	s := Array(items)
	if t.Kind() == reflect.Array {
		s.minItems, s.maxItems, s.limited = t.Len(), t.Len(), true
		return s, nil
	}
	return s.Nullable(), nil
}

// isBytes is the rule of encoding/json for slices that become base64 strings.
func isBytes(t reflect.Type) bool {
	if t.Elem().Kind() != reflect.Uint8 {
		return false
	}
	p := reflect.PointerTo(t.Elem())
	return !p.Implements(marshalerType) && !p.Implements(textMarshalerType)
}

func (g *generator) mapping(t reflect.Type, path string) (*Schema, error) {
	names, ok := keySchema(t.Key())
	if !ok {
		return nil, &TypeError{Path: path, Type: t.String(), Reason: "has keys that are neither strings nor integers nor encoding.TextMarshaler"}
	}
	values, err := g.schema(t.Elem(), path+"{}")
	if err != nil {
		return nil, err
	}
	s := Map(values)
	s.names, s.nullable = names, true
	return s, nil
}

func keySchema(key reflect.Type) (names *Schema, ok bool) {
	if key.Kind() == reflect.String || key.Implements(textMarshalerType) {
		return nil, true
	}
	if s := scalar(key); s == nil || s.kind != integer {
		return nil, false
	}
	return &Schema{pattern: mustPattern(integerKey)}, true
}
