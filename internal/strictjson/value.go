// Package strictjson reads JSON without guessing. encoding/json replaces invalid UTF-8, keeps the last of two equal keys
// and matches names in any case; for durable data each of these loses something silently. This package refuses the first
// two, keeps names as they are, and limits how deep a document may nest.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is how many arrays and objects may be inside each other.
const MaxDepth = 1000

// A Kind is one of the six kinds of JSON values.
type Kind string

// The kinds. Their texts are the type names of JSON Schema.
const (
	Null    Kind = "null"
	Boolean Kind = "boolean"
	Number  Kind = "number"
	String  Kind = "string"
	Array   Kind = "array"
	Object  Kind = "object"
)

// A Value is one value of a document. Raw is a part of the document that was parsed, not a copy.
type Value struct {
	Kind    Kind
	Raw     []byte   // the value as written, without space around it
	Text    string   // of a String: the text it stands for
	Items   []Value  // of an Array
	Members []Member // of an Object, in the order of the document
}

// A Member is one name and value of an object.
type Member struct {
	Name  string
	Value Value
}

// Get returns the member called name, and whether it is there. It takes time linear in the number of members.
func (v Value) Get(name string) (Value, bool) {
	for _, m := range v.Members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// An Error says where a document is not strict JSON.
type Error struct {
	Offset int    // bytes before the fault
	Reason string // what is wrong
}

// Error gives the reason and the place.
func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset) }

// Parse reads one document. Its errors are of type *Error. Cost is linear in the length of doc. Memory is linear in the
// number of values that are there, about 250 bytes each and their texts: nothing in a document says how much is to come.
func Parse(doc []byte) (Value, error) { return parse(doc, true) }

// Check returns the error of Parse and builds nothing: memory goes to the names of one object at each depth.
func Check(doc []byte) error {
	_, err := parse(doc, false)
	return err
}

func parse(doc []byte, keep bool) (Value, error) {
	if at := badUTF8(doc); at >= 0 {
		return Value{}, &Error{Offset: at, Reason: "invalid UTF-8"}
	}
	var raw json.RawMessage
	if err := json.Unmarshal(doc, &raw); err != nil {
		return Value{}, syntaxError(doc, err)
	}
	p := parser{doc: doc, keep: keep}
	return p.value(0)
}

func badUTF8(doc []byte) int {
	if utf8.Valid(doc) {
		return -1
	}
	for i := 0; i < len(doc); {
		r, n := utf8.DecodeRune(doc[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func syntaxError(doc []byte, err error) error {
	if len(bytes.TrimSpace(doc)) == 0 {
		return &Error{Reason: "empty document"}
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &Error{Offset: int(e.Offset), Reason: e.Error()}
	}
	return &Error{Reason: err.Error()}
}
