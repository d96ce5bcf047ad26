package strictjson_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/internal/alloctest"
	"github.com/holdfast-go/holdfast/internal/strictjson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", strictjson.MaxDepth)
	if _, err := strictjson.Parse([]byte(deep + strings.Repeat("]", strictjson.MaxDepth))); err != nil {
		t.Errorf("nesting of %d: %v", strictjson.MaxDepth, err)
	}
	for _, test := range []struct {
		doc    string
		offset int
		reason string
	}{
		{"", 0, "empty document"},
		{" \n", 0, "empty document"},
		{"{} {}", 4, "invalid character"},
		{`{"a":1,}`, 8, "invalid character"},
		{"[\"\xc0\x80\"]", 2, "invalid UTF-8"},
		{`{"a":1,"b":{},"a":2}`, 14, `duplicate name "a"`},
		{`[{"a":1,"\u0061":2}]`, 8, `duplicate name "a"`},
		{`"\ud83d"`, 1, "surrogate"},
		{`"\ude00\ud83d"`, 1, "surrogate"},
		{`"ok\\\ud83d\u0041"`, 5, "surrogate"},
		{deep + "[" + strings.Repeat("]", strictjson.MaxDepth+1), strictjson.MaxDepth, "deeper than"},
	} {
		_, err := strictjson.Parse([]byte(test.doc))
		e, ok := errors.AsType[*strictjson.Error](err)
		if !ok || e.Offset != test.offset || !strings.Contains(e.Reason, test.reason) {
			t.Errorf("%.40q: got %v, want %q at %d", test.doc, err, test.reason, test.offset)
		}
	}
}

// What is taken means what encoding/json says it means.
func FuzzParse(f *testing.F) {
	f.Add(` { "a" : [ 1 , -2.5e+3 , true , null , "\ud83d\ude00\\\"\u0000" ] , "" : { } } `)
	f.Add(`"\\ud800"`)
	f.Add(`[[],{},0]`)
	f.Add("[" + strings.Repeat("1,", 5000) + "1]")
	f.Add("{" + strings.Repeat(`"":[],`, 5000) + `"a":1}`)
	f.Add(strings.Repeat(`{"":`, 900) + "1" + strings.Repeat("}", 900))
	f.Fuzz(func(t *testing.T, doc string) {
		var v strictjson.Value
		var err error
		alloctest.Bound(t, 512, func() { v, err = strictjson.Parse([]byte(doc)) }, []byte(doc))
		var check error
		alloctest.Bound(t, 128, func() { check = strictjson.Check([]byte(doc)) }, []byte(doc)) // a place in the map of names
		if (check == nil) != (err == nil) {
			t.Fatalf("Parse says %v, Check %v", err, check)
		}
		if err != nil {
			return
		}
		d := json.NewDecoder(strings.NewReader(doc))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatalf("%q was taken, but: %v", doc, err)
		}
		if got := plain(v); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %#v, want %#v", doc, got, want)
		}
		if string(v.Raw) != strings.Trim(doc, " \t\r\n") {
			t.Fatalf("raw is %q of %q", v.Raw, doc)
		}
	})
}

func plain(v strictjson.Value) any {
	switch v.Kind {
	case strictjson.String:
		return v.Text
	case strictjson.Number:
		return json.Number(v.Raw)
	case strictjson.Boolean:
		return string(v.Raw) == "true"
	case strictjson.Array:
		items := []any{}
		for _, item := range v.Items {
			items = append(items, plain(item))
		}
		return items
	case strictjson.Object:
		members := map[string]any{}
		for _, m := range v.Members {
			members[m.Name] = plain(m.Value)
		}
		return members
	}
	return nil
}
