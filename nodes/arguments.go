package nodes

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
	"github.com/holdfast-go/holdfast/internal/strictjson"
	"github.com/holdfast-go/holdfast/message"
)

// argumentsOf returns the schema of a Go type, and the check of arguments against it.
func argumentsOf[A any]() (string, func(json.RawMessage) error, error) {
	s, err := jsonschema.For(reflect.TypeFor[A]())
	if err != nil {
		return "", nil, fmt.Errorf("its arguments: %w", err)
	}
	doc, err := s.MarshalJSON()
	if err == nil && !ofObject(doc) {
		err = fmt.Errorf("its arguments are a %s; providers take a struct", reflect.TypeFor[A]())
	}
	return string(doc), checkedBy(s), err
}

// argumentsBy does the same for a schema of somebody else, which may say more than jsonschema understands.
func argumentsBy(schema string) (string, func(json.RawMessage) error, error) {
	if strings.TrimSpace(schema) == "" {
		schema = `{"type":"object"}`
	}
	if !ofObject([]byte(schema)) {
		return schema, nil, errors.New(`its schema is no JSON Schema of "type": "object"`)
	}
	s, err := jsonschema.Parse([]byte(schema))
	if err != nil {
		return schema, anObject, nil
	}
	return schema, checkedBy(s), nil
}

func ofObject(schema []byte) bool {
	v, err := strictjson.Parse(schema)
	if err != nil || v.Kind != strictjson.Object {
		return false
	}
	kind, ok := v.Get("type")
	if ref, is := v.Get("$ref"); is && !ok { // a type that contains itself
		defs, _ := v.Get("$defs")
		v, _ = defs.Get(strings.TrimPrefix(ref.Text, "#/$defs/"))
		kind, _ = v.Get("type")
	}
	return kind.Text == "object"
}

func checkedBy(s *jsonschema.Schema) func(json.RawMessage) error {
	return func(args json.RawMessage) error {
		if err := anObject(args); err != nil {
			return err
		}
		err := s.Validate(args)
		if bad, ok := errors.AsType[*jsonschema.Error](err); ok {
			return fmt.Errorf("at %q: want %s, got %s; %s", bad.Path, bad.Want, bad.Got, bad.Fix)
		}
		return err
	}
}

func anObject(args json.RawMessage) error {
	v, err := strictjson.Parse(args)
	if err == nil && v.Kind != strictjson.Object {
		err = fmt.Errorf("want a JSON object, got %s", v.Kind)
	}
	return err
}

// hasJSON returns an error for a type that JSON cannot hold.
func hasJSON(t reflect.Type) error {
	_, err := jsonschema.For(t)
	return err
}

func decode[T any](doc json.RawMessage) (v T, err error) {
	err = json.Unmarshal(doc, &v)
	return v, err
}

func decodeBoth[A, R any](args, value json.RawMessage) (a A, r R, err error) {
	if a, err = decode[A](args); err == nil {
		r, err = decode[R](value)
	}
	return a, r, err
}

// shown returns a result as JSON, and as the model reads it.
func shown[R any](r R, text func(R) string) (json.RawMessage, []message.Part, error) {
	value, err := jsonOf(r)
	if err != nil {
		return nil, nil, fmt.Errorf("it ran, but its result has no JSON form: %w", err)
	}
	if text != nil {
		said, err := guarded(func() (string, error) { return text(r), nil })
		if err != nil {
			return nil, nil, fmt.Errorf("it ran, but its result cannot be told: %w", err)
		}
		return value, []message.Part{message.Text(said)}, nil
	}
	if parts, ok := any(r).([]message.Part); ok {
		return value, parts, nil
	}
	if v := reflect.ValueOf(r); v.Kind() == reflect.String {
		return value, []message.Part{message.Text(v.String())}, nil
	}
	return value, []message.Part{message.Text(string(value))}, nil
}

func jsonOf[T any](v T) (json.RawMessage, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	doc := []byte(strings.TrimSuffix(b.String(), "\n"))
	return doc, strictjson.Check(doc) // what a MarshalJSON has written is not always text
}
