package nodes

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

// OutputOf is the form of answers that are JSON documents of a type. It panics if the type has no JSON form, which the first
// start of a program shows.
func OutputOf[T any](name string) *Output {
	schema, err := jsonschema.For(reflect.TypeFor[T]())
	if err != nil {
		panic(fmt.Sprintf("nodes: OutputOf[%T]: %v", *new(T), err))
	}
	doc, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("nodes: OutputOf[%T]: %v", *new(T), err))
	}
	return &Output{Name: name, Schema: doc, check: schema.Validate}
}

// ReadOutput reads the answer of the last turn.
func ReadOutput[T any](t *Turn) (v T, err error) {
	if err = json.Unmarshal([]byte(Reply(t).Text()), &v); err != nil {
		return v, fmt.Errorf("%w: %w", ErrOutput, err)
	}
	return v, nil
}
