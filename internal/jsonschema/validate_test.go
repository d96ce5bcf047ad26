package jsonschema_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/alloctest"
	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

type order struct {
	Count int8            `json:"count"`
	Lines []line          `json:"lines,omitempty"`
	Size  Level           `json:"size,omitempty" enum:"s,m"`
	Opt   *float64        `json:"opt,omitempty"`
	Raw   []byte          `json:"raw,omitempty"`
	When  *Special        `json:"when,omitempty"`
	ByNum map[uint]string `json:"byNum,omitempty"`
	Pair  [2]int          `json:"pair,omitzero"`
}

type line struct {
	Name string `json:"a/b"`
}

// E32
func TestValidateIsStrict(t *testing.T) {
	t.Parallel()
	s := schemaFor(t, reflect.TypeFor[order]())
	for _, test := range []struct{ doc, path, part string }{
		{`{"count":1}`, "", ""},
		{`{"count":1,"lines":null,"opt":null,"raw":null,"byNum":{"7":"x"}}`, "", ""},
		{`{"count":1,"lines":[{"a/b":"x"}],"opt":1e3,"size":"s"}`, "", ""},
		{`{}`, "/count", `add the property "count"`},
		{`{"count":null}`, "/count", "got null"},
		{`{"count":"1"}`, "/count", `got the string "1"`},
		{`{"count":1.5}`, "/count", "without fraction"},
		{`{"count":1.0}`, "/count", "without fraction"},
		{`{"count":1e2}`, "/count", "without fraction"},
		{`{"count":-0}`, "/count", "integer"},
		{`{"count":128}`, "/count", "from -128 to 127"},
		{`{"count":-129}`, "/count", "from -128 to 127"},
		{`{"count":99999999999999999999999}`, "/count", "from -128 to 127"},
		{`{"Count":1}`, "/Count", `write its name as "count"`},
		{`{"count":1,"more":1}`, "/more", "remove it"},
		{`{"count":1,"lines":[{"a/b":"x"},{"a/b":1}]}`, "/lines/1/a~1b", "want a string, got the number 1"},
		{`{"count":1,"lines":{}}`, "/lines", "want an array, or null"},
		{`{"count":1,"size":"xl"}`, "/size", `one of "s", "m"`},
		{`{"count":1,"opt":1e999}`, "/opt", "want a number"},
		{`{"count":1,"raw":"a"}`, "/raw", "base64"},
		{`{"count":1,"byNum":{"x":"x"}}`, "/byNum/x", "matches"},
		{`{"count":1,"pair":[1]}`, "/pair", "of 2 items, got 1 items"},
		{`{"count":1,"pair":[1,2,3]}`, "/pair", "of 2 items"},
		{`{"count":1,"count":1}`, "", `duplicate name "count"`},
		{`{"count":1,"\u0063ount":1}`, "", `duplicate name "count"`},
		{"{\"count\":1,\"size\":\"\xff\"}", "", "invalid UTF-8 at byte 19"},
		{`{"count":1,"size":"\ud800"}`, "", "half of a surrogate pair at byte 19"},
		{`{"count":1} x`, "", "strict JSON"},
		{``, "", "empty document"},
		{`[]`, "", "want an object, got an array of 0 items"},
		{`{"count":1,"when":{"When":"yesterday"}}`, "/when/When", "RFC 3339"},
	} {
		err := s.Validate([]byte(test.doc))
		if test.part == "" {
			if err != nil {
				t.Errorf("%s: %v", test.doc, err)
			}
			continue
		}
		e, ok := errors.AsType[*jsonschema.Error](err)
		if !ok || e.Path != test.path || !strings.Contains(err.Error(), test.part) || e.Fix == "" {
			t.Errorf("%s: got %v, want a fault at %q with %q", test.doc, err, test.path, test.part)
		}
	}
}

func TestBoundsOfIntegersAreExact(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		typ reflect.Type
		doc string
		ok  bool
	}{
		{reflect.TypeFor[int64](), "9223372036854775807", true},
		{reflect.TypeFor[int64](), "9223372036854775808", false},
		{reflect.TypeFor[int64](), "-9223372036854775808", true},
		{reflect.TypeFor[int64](), "-9223372036854775809", false},
		{reflect.TypeFor[uint64](), "18446744073709551615", true},
		{reflect.TypeFor[uint64](), "18446744073709551616", false},
		{reflect.TypeFor[uint8](), "-1", false},
	} {
		if err := schemaFor(t, test.typ).Validate([]byte(test.doc)); (err == nil) != test.ok {
			t.Errorf("%v %s: %v", test.typ, test.doc, err)
		}
	}
}

// Deep or costly input ends in an error, not in a crash or a long wait.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	anything := &jsonschema.Schema{}
	for _, doc := range []string{
		strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		strings.Repeat("[", 500_000),
		strings.Repeat(`{"a":`, 5_000) + "1" + strings.Repeat("}", 5_000),
	} {
		if err := anything.Validate([]byte(doc)); err == nil {
			t.Errorf("%d bytes of nesting were accepted", len(doc))
		}
	}
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 60 {
		next := "d" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
		name := "d" + string(rune('0'+i/10)) + string(rune('0'+i%10))
		if i == 0 {
			name = "d0"
		}
		b.WriteString(`"` + name + `":{"anyOf":[{"$ref":"#/$defs/` + next + `"},{"$ref":"#/$defs/` + next + `"}]},`)
	}
	b.WriteString(`"d60":false}}`)
	s, err := jsonschema.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if s.Validate([]byte("1")) == nil {
		t.Error("2^60 alternatives that are all false accepted 1")
	}
}

func TestParseRefusesWhatItCannotApply(t *testing.T) {
	t.Parallel()
	for doc, part := range map[string]string{
		`{"oneOf":[{}]}`:                      "/oneOf",
		`{"type":"text"}`:                     "/type",
		`{"type":["string","integer"]}`:       "/type",
		`{"$ref":"#/$defs/a"}`:                "leads nowhere",
		`{"$ref":"https://example.com"}`:      "leads nowhere",
		`{"$ref":"#"}`:                        "circle",
		`{"anyOf":[{"$ref":"#"},{}]}`:         "circle",
		`{"required":["a"]}`:                  `"a"`,
		`{"properties":{"a":{"type":1}}}`:     "/properties/a/type",
		`{"properties":{"a":{"$defs":{}}}}`:   "at the root",
		`{"pattern":"("}`:                     "/pattern",
		`{"enum":[]}`:                         "/enum",
		`{"enum":[{}]}`:                       "/enum",
		`{"minItems":-1}`:                     "/minItems",
		`{"type":"string","enum":["a",null]}`: "null",
		`{"$ref":"#/$defs/a","type":"string","$defs":{"a":{}}}`: "beside $ref",
		`{"a":1,"a":1}`: "duplicate",
		`1`:             "object or a boolean",
	} {
		_, err := jsonschema.Parse([]byte(doc))
		if _, ok := errors.AsType[*jsonschema.ParseError](err); !ok || !strings.Contains(err.Error(), part) {
			t.Errorf("Parse(%s) = %v, want a ParseError with %q", doc, err, part)
		}
	}
}

func TestParsedSchemasApply(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		schema  string
		yes, no []string
	}{
		{`true`, []string{"1", "null", "{}"}, nil},
		{`false`, nil, []string{"1", "null", "{}"}},
		{`{"const":"a"}`, []string{`"a"`, `"\u0061"`}, []string{`"b"`, "1", `["a"]`}},
		{`{"enum":[1,null]}`, []string{"1", "1.0", "null"}, []string{"2", `"1"`}},
		{`{"type":["string","null"],"enum":["a"]}`, []string{`"a"`}, []string{"null"}},
		{`{"type":["string","null"],"enum":["a",null]}`, []string{`"a"`, "null"}, []string{`"b"`}},
		{`{"minimum":0.5}`, []string{"0.5", "1e3", `"x"`}, []string{"0.4", "-1"}},
		{`{"properties":{"a":{"type":"null"}}}`, []string{`{}`, `{"b":1}`, `[]`, `{"a":null}`}, []string{`{"a":1}`}},
		{`{"anyOf":[{"type":"string"},{"type":"integer","maximum":3}]}`, []string{`"x"`, "3"}, []string{"4", "null"}},
		{`{"type":"array","minItems":1}`, []string{"[1]"}, []string{"[]", "{}"}},
		{`{"title":"t","$schema":"` + jsonschema.Draft + `","$comment":"c","default":1,"pattern":"^a"}`, []string{`"ab"`, "1"}, []string{`"b"`}},
		{`{"properties":{"next":{"$ref":"#"}},"additionalProperties":false}`, []string{`{"next":{"next":{}}}`}, []string{`{"next":{"prev":1}}`}},
	} {
		s, err := jsonschema.Parse([]byte(test.schema))
		if err != nil {
			t.Errorf("%s: %v", test.schema, err)
			continue
		}
		for _, doc := range test.yes {
			if err := s.Validate([]byte(doc)); err != nil {
				t.Errorf("%s refuses %s: %v", test.schema, doc, err)
			}
		}
		for _, doc := range test.no {
			if s.Validate([]byte(doc)) == nil {
				t.Errorf("%s accepts %s", test.schema, doc)
			}
		}
	}
}

// A schema that was read, written and read again is the same bytes and accepts the same documents.
func FuzzParse(f *testing.F) {
	for _, typ := range quickTypes {
		f.Add(string(marshal(f, schemaFor(f, typ))), `{"a":[1]}`)
	}
	f.Add(`{"anyOf":[{"type":"string"},{"enum":[1,null]}],"$defs":{"a":{"$ref":"#/$defs/b"},"b":false}}`, `"x"`)
	f.Fuzz(func(t *testing.T, schema, doc string) {
		var s *jsonschema.Schema
		var err error
		alloctest.Bound(t, 4096, func() { s, err = jsonschema.Parse([]byte(schema)) }, []byte(schema)) // schemas, compared when they refer
		if err != nil {
			return
		}
		first, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := jsonschema.Parse(first)
		if err != nil {
			t.Fatalf("written schema %s: %v", first, err)
		}
		if second, _ := again.MarshalJSON(); string(second) != string(first) {
			t.Fatalf("%s became %s", first, second)
		}
		if a, b := s.Validate([]byte(doc)), again.Validate([]byte(doc)); (a == nil) != (b == nil) {
			t.Fatalf("schema %s: %v, written as %s: %v", schema, a, first, b)
		}
	})
}

// What a schema accepts, encoding/json decodes into the type of the schema. // E32
func FuzzValidate(f *testing.F) {
	s := schemaFor(f, reflect.TypeFor[order]())
	f.Add(`{"count":1,"lines":[{"a/b":"x"}],"opt":1e3,"size":"s","raw":"AAAA","byNum":{"7":"x"},"pair":[1,2]}`)
	f.Add(`{"count":-0,"when":{"When":"2020-01-01T00:00:00Z"}}`)
	f.Fuzz(func(t *testing.T, doc string) {
		var bad error
		alloctest.Bound(t, 1024, func() { bad = s.Validate([]byte(doc)) }, []byte(doc))
		if bad != nil {
			return
		}
		// Keys of maps are the one part whose range a schema does not state.
		var o order
		if err := json.Unmarshal([]byte(doc), &o); err != nil && !strings.Contains(err.Error(), "order.byNum") {
			t.Fatalf("%s was accepted, but: %v", doc, err)
		}
	})
}
