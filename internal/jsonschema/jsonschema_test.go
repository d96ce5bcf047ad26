package jsonschema_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

func schemaFor(t testing.TB, typ reflect.Type) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.For(typ)
	if err != nil {
		t.Fatalf("For(%v): %v", typ, err)
	}
	return s
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("marshal %T: %v", v, err)
	}
	return b
}

// Every value marshals to a document that its schema accepts, also after the schema was stored and read back.
func TestValuesMatchTheirSchema(t *testing.T) {
	t.Parallel()
	for _, typ := range quickTypes {
		t.Run(typ.String(), func(t *testing.T) {
			t.Parallel()
			s := schemaFor(t, typ)
			stored, err := jsonschema.Parse(marshal(t, s))
			if err != nil {
				t.Fatalf("parse %s: %v", marshal(t, s), err)
			}
			r := rand.New(rand.NewSource(1))
			for range 20 {
				v, ok := quick.Value(typ, r)
				if !ok {
					t.Fatal("testing/quick cannot make this type")
				}
				doc := marshal(t, v.Interface())
				if err := errors.Join(s.Validate(doc), stored.Validate(doc)); err != nil {
					t.Fatalf("%v\ndocument %s\nschema %s", err, doc, marshal(t, s))
				}
			}
			zero := marshal(t, reflect.Zero(typ).Interface())
			if err := s.Validate(zero); err != nil {
				t.Fatalf("zero value %s: %v", zero, err)
			}
		})
	}
}

func TestSpecialValuesMatchTheirSchema(t *testing.T) {
	t.Parallel()
	now := time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.FixedZone("", 5*3600+1800))
	huge, _ := new(big.Int).SetString(strings.Repeat("9", 60), 10)
	s := schemaFor(t, reflect.TypeFor[Special]())
	for _, v := range []Special{
		{Raw: json.RawMessage("null")},
		{When: now, WhenP: &now, Took: math.MinInt64, Raw: json.RawMessage(`[1,{"a":1e999}]`), Any: map[string]int{"a": 1},
			Big: *huge, BigP: huge, IP: netip.MustParseAddr("::1"), ByIP: map[netip.Addr]int{netip.MustParseAddr("10.0.0.1"): 1}},
	} {
		doc := marshal(t, &v)
		if err := s.Validate(doc); err != nil {
			t.Errorf("%v\ndocument %s\nschema %s", err, doc, marshal(t, s))
		}
	}
	for _, v := range []float32{math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32} {
		if err := schemaFor(t, reflect.TypeFor[float32]()).Validate(marshal(t, v)); err != nil {
			t.Error(err)
		}
	}
}

// Equal types give equal bytes, and reading what was written and writing it again changes nothing.
func TestSchemaBytesAreStable(t *testing.T) {
	t.Parallel()
	types := append([]reflect.Type{reflect.TypeFor[Special](), reflect.TypeFor[Chosen]()}, quickTypes...)
	for _, typ := range types {
		first := marshal(t, schemaFor(t, typ))
		if again := marshal(t, schemaFor(t, typ)); string(again) != string(first) {
			t.Errorf("%v: %s then %s", typ, first, again)
		}
		s, err := jsonschema.Parse(first)
		if err != nil {
			t.Errorf("%v: %v in %s", typ, err, first)
			continue
		}
		if again := marshal(t, s); string(again) != string(first) {
			t.Errorf("%v: written %s, read and written %s", typ, first, again)
		}
	}
}

func TestSchemaTexts(t *testing.T) {
	t.Parallel()
	tree := schemaFor(t, reflect.TypeFor[Tree]())
	for _, test := range []struct {
		name   string
		schema *jsonschema.Schema
		want   string
	}{
		{"struct", schemaFor(t, reflect.TypeFor[Pair[int8, []string]]()),
			`{"type":"object","properties":{"first":{"type":"integer","minimum":-128,"maximum":127},"second":{"type":["array","null"],"items":{"type":"string"}}},"required":["first","second"],"additionalProperties":false}`},
		{"recursive types in a state", jsonschema.Object([]jsonschema.Property{{Name: "plan", Schema: tree, Required: true}, {Name: "all", Schema: jsonschema.Array(tree)}}),
			`{"type":"object","properties":{"plan":{"$ref":"#/$defs/plan"},"all":{"type":"array","items":{"$ref":"#/$defs/plan"}}},"required":["plan"],"additionalProperties":false,` +
				`"$defs":{"plan":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":["array","null"],"items":{"$ref":"#/$defs/plan"}},"left":{"anyOf":[{"$ref":"#/$defs/plan"},{"type":"null"}]},` +
				`"byName":{"type":["object","null"],"additionalProperties":{"anyOf":[{"$ref":"#/$defs/plan"},{"type":"null"}]}}},"required":["name","children","left","byName"],"additionalProperties":false}}}`},
		{"text of its own", schemaFor(t, reflect.TypeFor[*netip.Addr]()), `{"type":["string","null"]}`},
		{"map", jsonschema.Map(schemaFor(t, reflect.TypeFor[bool]())), `{"type":"object","additionalProperties":{"type":"boolean"}}`},
		{"nullable reference", schemaFor(t, reflect.TypeFor[*List]()), `{"$ref":"#/$defs/root","$defs":{"root":{"type":["array","null"],"items":{"$ref":"#/$defs/root"}}}}`},
		{"anything", schemaFor(t, reflect.TypeFor[any]()), `{}`},
		{"nothing but an object", jsonschema.Object(nil), `{"type":"object","properties":{},"additionalProperties":false}`},
		{"array of arrays", schemaFor(t, reflect.TypeFor[[2][]byte]()), `{"type":"array","items":{"type":["string","null"],"contentEncoding":"base64"},"minItems":2,"maxItems":2}`},
		{"described", schemaFor(t, reflect.TypeFor[string]()).Describe("a < b"), `{"description":"a < b","type":"string"}`},
	} {
		got, err := test.schema.MarshalJSON()
		if err != nil || string(got) != test.want {
			t.Errorf("%s:\n got %s\nwant %s (error %v)", test.name, got, test.want, err)
		}
	}
}

func TestEmbeddingFollowsEncodingJSON(t *testing.T) {
	t.Parallel()
	var doc map[string]json.RawMessage
	note := "n"
	full := Embedding{Extra: &Extra{Note: &note}}
	if err := json.Unmarshal(marshal(t, full), &doc); err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(marshal(t, schemaFor(t, reflect.TypeFor[Embedding]())), &schema); err != nil {
		t.Fatal(err)
	}
	for name := range doc {
		if schema.Properties[name] == nil {
			t.Errorf("encoding/json writes %q, the schema lacks it", name)
		}
	}
	for name := range schema.Properties {
		if doc[name] == nil {
			t.Errorf("the schema has %q, encoding/json does not write it", name)
		}
	}
	doc = nil
	if err := json.Unmarshal(marshal(t, Embedding{}), &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range schema.Required {
		if doc[name] == nil {
			t.Errorf("%q is required, but the zero value lacks it", name)
		}
	}
}

type (
	pointerLoop *pointerLoop
	badKey      map[struct{}]int
	nested      struct {
		Lines []struct{ Price map[string]func() }
	}
	badEnum struct {
		N int `enum:"1,two"`
	}
)

func TestTypesWithoutJSONForm(t *testing.T) {
	t.Parallel()
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[chan int]():    "chan int",
		reflect.TypeFor[complex128]():  "complex128",
		reflect.TypeFor[badKey]():      "keys",
		reflect.TypeFor[nested]():      "nested.Lines[].Price{}: type func()",
		reflect.TypeFor[badEnum]():     `badEnum.N: type int cannot have the enum value "two"`,
		reflect.TypeFor[pointerLoop](): "points only to itself",
	} {
		_, err := jsonschema.For(typ)
		if _, ok := errors.AsType[*jsonschema.TypeError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("For(%v) = %v, want a TypeError with %q", typ, err, want)
		}
	}
	if _, err := jsonschema.For(nil); err == nil {
		t.Error("For(nil) succeeded")
	}
}
