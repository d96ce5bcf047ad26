package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Field is a name under which conversations keep a fact of one type. Make it once, as a package variable, and give it to
// the store in Options.Fields.
type Field[T any] struct {
	name   string
	checks []func(T) error
}

// NewField returns a field. A value must pass every check; the error of one tells people and models what is allowed.
// The name is checked when a store is opened.
func NewField[T any](name string, checks ...func(T) error) Field[T] {
	return Field[T]{name, slices.Clone(checks)}
}

// OneOf is a check that allows only these values.
func OneOf[T comparable](values ...T) func(T) error {
	values = slices.Clone(values)
	return func(v T) error {
		if slices.Contains(values, v) {
			return nil
		}
		return fmt.Errorf("%s is not one of %s", compact(v), compact(values))
	}
}

// compact is a value as JSON, for a message.
func compact(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Appendf(nil, "%v", v)
	}
	return b
}

// A Service is what a conversation is about, in operations. The id is required.
type Service struct {
	ID   string `json:"id"`
	Name string `json:"name,omitzero"`
}

// The fields that a store has if Options name none.
var (
	// Env is the environment that the user works on.
	Env = NewField("env", OneOf("development", "testing", "production"))

	// CurrentService is the service that "it" stands for.
	CurrentService = NewField("currentService", func(s Service) error {
		if strings.TrimSpace(s.ID) == "" {
			return errors.New("a service needs an id")
		}
		return nil
	})
)

// A Definition is a Field of any type, made by NewField.
type Definition interface {
	// Name is the field's name.
	Name() string

	// Normal returns a JSON value in the one form in which the store keeps it, or an error that says what is allowed.
	Normal(value json.RawMessage) (json.RawMessage, error)

	field() // only NewField makes one
}

func (f Field[T]) field() {}

// Name is the field's name.
func (f Field[T]) Name() string { return f.name }

// Normal implements Definition.
func (f Field[T]) Normal(value json.RawMessage) (json.RawMessage, error) {
	v, err := f.decode(value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func (f Field[T]) decode(value json.RawMessage) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, err
	}
	if _, err := d.Token(); err != io.EOF {
		return v, errors.New("bytes after the value")
	}
	for _, check := range f.checks {
		if err := check(v); err != nil {
			return v, err
		}
	}
	return v, nil
}
