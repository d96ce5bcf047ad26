package message_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/message"
)

var (
	one = message.Call{ID: "c1", Name: "search", Args: `{"q":"parcel"}`}
	two = message.Call{ID: "c2", Name: "track", Args: ` {} `}
)

func TestConstructorsAndReaders(t *testing.T) {
	t.Parallel()
	m := message.User("look", message.ImageURL("u"), message.Text("here"))
	if m.Text() != "look\nhere" || m.Role != message.RoleUser || m.Key() != m.ID || m.ID == "" {
		t.Errorf("user message is %+v", m)
	}
	if other := message.User("look"); other.ID == m.ID {
		t.Error("two messages have one id")
	}
	a := message.Assistant("", one, two)
	if got := a.Calls(); !reflect.DeepEqual(got, []message.Call{one, two}) || len(a.Parts) != 2 || a.Text() != "" {
		t.Errorf("assistant message is %+v", a)
	}
	a.Parts = append(a.Parts, message.Reasoning("hm", "sig"))
	if a.Text() != "" {
		t.Error("reasoning is in the text")
	}
	tool := message.Tool(one.Done("found"), two.Ended(message.StatusDenied, "no"))
	if r := tool.Results(); len(r) != 2 || r[0].Failed() || !r[1].Failed() || tool.Text() != "found\nno" {
		t.Errorf("tool message is %+v", tool)
	}
}

// E10
func TestMessageIsPlainData(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(typ.Elem())
		case reflect.Interface, reflect.Map, reflect.Func, reflect.Chan:
			t.Errorf("%v is no plain data", typ)
		case reflect.Struct:
			if seen[typ] {
				return
			}
			seen[typ] = true
			for f := range typ.Fields() {
				tag := f.Tag.Get("json")
				if !f.IsExported() || tag == "" || tag == "-" || strings.Contains(tag, "omitempty") {
					t.Errorf("field %v.%s does not come back from JSON as it was", typ, f.Name)
				}
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[message.Message]())
	if len(seen) != 5 {
		t.Errorf("walked %d types, want Message, Part, Image, Call, Result", len(seen))
	}
}

func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	part := func(p string) string { return `[{"id":"1","role":"assistant","parts":[` + p + `]}]` }
	for _, test := range []struct{ doc, path, reason string }{
		{`[{"id":"1","role":"robot","parts":[]}]`, "/0/role", `"robot"`},
		{`[{"id":"1","role":"","parts":[]}]`, "/0/role", `""`},
		{`[{"id":"1","parts":[]}]`, "/0/role", "nothing"},
		{`[{"id":"","role":"user","parts":[]}]`, "/0/id", "empty"},
		{`[{"id":"1","role":"user","parts":[]},{"id":"1","role":"user","parts":[]}]`, "/1/id", "twice"},
		{`[{"id":"1","role":"user","parts":[],"extra":1}]`, "/0/extra", "no such property"},
		{`[{"ID":"1","role":"user","parts":[]}]`, "/0/ID", "no such property"},
		{`[{"id":"1","id":"2","role":"user","parts":[]}]`, "", "duplicate name"},
		{`[{"id":"1","role":"user","parts":[],"partial":true}]`, "/0/partial", "cannot be partial"},
		{`[] []`, "", "strict JSON"},
		{`[]x`, "", "strict JSON"},
		{``, "", "empty document"},
		{`{}`, "", "want an array"},
		{"[{\"id\":\"\xff\"}]", "", "invalid UTF-8"},
		{`[{"id":"\udfff"}]`, "", "surrogate"},
		{part(`{"kind":"video"}`), "/0/parts/0/kind", `"video"`},
		{part(`{"text":"x"}`), "/0/parts/0/kind", "nothing"},
		{part(`{"kind":"result","result":{"call_id":"c","name":"t","parts":[],"status":"ok"}}`), "/0/parts/0/kind", "cannot have"},
		{part(`{"kind":"call"}`), "/0/parts/0/call", "missing"},
		{part(`{"kind":"image"}`), "/0/parts/0/image", "missing"},
		{part(`{"kind":"image","image":{}}`), "/0/parts/0/image", "address"},
		{part(`{"kind":"image","image":{"url":"u","data":"AA=="}}`), "/0/parts/0/image", "address"},
		{part(`{"kind":"text","text":"x","signature":"s"}`), "/0/parts/0", "another kind"},
		{part(`{"kind":"call","text":"x","call":{"id":"c","name":"t","args":"{}"}}`), "/0/parts/0", "another kind"},
		{part(`{"kind":"call","call":{"id":"c","name":"t","args":{}}}`), "/0/parts/0/call/args", "want a string"},
		{`[{"id":"1","role":"tool","parts":[{"kind":"text","text":"x"}]}]`, "/0/parts/0/kind", "cannot have"},
		{`[{"id":"1","role":"tool","parts":[{"kind":"result"}]}]`, "/0/parts/0/result", "missing"},
		{`[{"id":"1","role":"tool","parts":[{"kind":"result","result":{"call_id":"c","name":"t","parts":[],"status":"fine"}}]}]`, "/0/parts/0/result/status", `"fine"`},
		{`[{"id":"1","role":"tool","parts":[{"kind":"result","result":{"call_id":"c","name":"t","status":"ok","parts":[{"kind":"result","result":null}]}}]}]`, "/0/parts/0/result/parts/0/kind", "a result cannot have"},
	} {
		_, err := message.Decode([]byte(test.doc))
		e, ok := errors.AsType[*message.FormError](err)
		if !ok || e.Path != test.path || !strings.Contains(e.Reason, test.reason) {
			t.Errorf("%s: got %v, want a fault at %q about %q", test.doc, err, test.path, test.reason)
		}
	}
}

func TestEncodeRefusesWhatWouldNotComeBack(t *testing.T) {
	t.Parallel()
	bad := "\xff"
	user := message.User("x")
	for name, m := range map[string]message.Message{
		"zero message":         {},
		"text":                 message.User(bad),
		"id":                   {ID: bad, Role: message.RoleUser},
		"call":                 message.Assistant("", message.Call{ID: "c", Args: bad}),
		"result":               message.Tool(one.Done(bad)),
		"status":               message.Tool(message.Result{CallID: "c"}),
		"reasoning":            {ID: "1", Role: message.RoleAssistant, Parts: []message.Part{message.Reasoning("x", bad)}},
		"address":              message.User("x", message.ImageURL(bad)),
		"bytes without a type": message.User("x", message.ImageData("", []byte{1})),
		"id used twice":        user,
	} {
		_, err := message.Encode([]message.Message{user, m})
		if _, ok := errors.AsType[*message.FormError](err); !ok {
			t.Errorf("%s: got %v, want a *FormError", name, err)
		}
	}
}
