package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

// A FormError says that a message, or a document of messages, is not well formed.
type FormError struct {
	Path   string // JSON pointer, as in "/3/parts/0/text"; "" is the whole of it
	Reason string
}

// Error names the place and the reason.
func (e *FormError) Error() string {
	if e.Path == "" {
		return "message: " + e.Reason
	}
	return fmt.Sprintf("message: at %s: %s", e.Path, e.Reason)
}

// Encode writes a history as a JSON array that [Decode] reads back as it was, nil and empty slices kept apart. It refuses
// what would not come back: unknown roles, kinds and statuses, parts with fields of another kind, ids that are missing or
// used twice, invalid UTF-8. A history may be well formed and yet not valid. Its errors are of type *FormError.
func Encode(history []Message) ([]byte, error) {
	if err := checkHistory(history); err != nil {
		return nil, err
	}
	doc, err := json.Marshal(history)
	if err != nil {
		return nil, &FormError{Reason: err.Error()}
	}
	return doc, nil
}

// Decode reads what [Encode] wrote. It is strict: unknown properties, equal names, bytes after the end and all that
// Encode refuses are errors. Its errors are of type *FormError. Input of any kind ends in an error, never in a panic.
func Decode(doc []byte) ([]Message, error) {
	if err := historySchema().Validate(doc); err != nil {
		if e, ok := errors.AsType[*jsonschema.Error](err); ok {
			return nil, &FormError{Path: e.Path, Reason: fmt.Sprintf("want %s, got %s", e.Want, e.Got)}
		}
		return nil, &FormError{Reason: err.Error()}
	}
	var history []Message
	if err := json.Unmarshal(doc, &history); err != nil {
		return nil, &FormError{Reason: err.Error()}
	}
	if err := checkHistory(history); err != nil {
		return nil, err
	}
	return history, nil
}

var historySchema = sync.OnceValue(func() *jsonschema.Schema {
	s, err := jsonschema.For(reflect.TypeFor[[]Message]())
	if err != nil {
		panic(err) // the type is ours
	}
	return s
})

func checkHistory(history []Message) error {
	ids := make(map[string]bool, len(history))
	for i, m := range history {
		at := fmt.Sprintf("/%d", i)
		if m.ID == "" || ids[m.ID] {
			return &FormError{Path: at + "/id", Reason: fmt.Sprintf("id %q is empty or used twice", m.ID)}
		}
		ids[m.ID] = true
		if err := checkForm(m); err != nil {
			return &FormError{Path: at + err.Path, Reason: err.Reason}
		}
	}
	return nil
}

// allowed lists the parts that a role may have.
var allowed = map[Role][]Kind{
	RoleSystem:    {KindText},
	RoleUser:      {KindText, KindImage},
	RoleAssistant: {KindText, KindImage, KindReasoning, KindCall},
	RoleTool:      {KindResult},
}

// checkForm returns the first fault of a message, with a path inside it. It does not look at the id.
func checkForm(m Message) *FormError {
	kinds, ok := allowed[m.Role]
	if !ok {
		return &FormError{Path: "/role", Reason: fmt.Sprintf("unknown role %q", m.Role)}
	}
	if !utf8.ValidString(m.ID) {
		return &FormError{Path: "/id", Reason: "invalid UTF-8"}
	}
	if m.Partial && m.Role != RoleAssistant {
		return &FormError{Path: "/partial", Reason: fmt.Sprintf("a message of role %q cannot be partial", m.Role)}
	}
	return checkParts(m.Parts, kinds, func() string { return fmt.Sprintf("a message of role %q", m.Role) })
}

// checkParts makes paths and names only of what is wrong: every message of a prompt is checked, and nearly all are well.
func checkParts(parts []Part, kinds []Kind, owner func() string) *FormError {
	for i, p := range parts {
		var err *FormError
		if slices.Contains(kinds, p.Kind) {
			err = p.check()
		} else {
			err = &FormError{Path: "/kind", Reason: fmt.Sprintf("%s cannot have a part of kind %q", owner(), p.Kind)}
		}
		if err != nil {
			return err.under(fmt.Sprintf("/parts/%d", i))
		}
	}
	return nil
}

// under returns the error as one of a value that has the checked one at a path.
func (e *FormError) under(at string) *FormError {
	return &FormError{Path: at + e.Path, Reason: e.Reason}
}

// check finds fields that are missing or belong to another kind.
func (p Part) check() *FormError {
	rest := p
	rest.Kind = ""
	var err *FormError
	switch p.Kind {
	case KindText:
		rest.Text = ""
		err = checkText("/text", p.Text)
	case KindReasoning:
		rest.Text, rest.Signature = "", ""
		err = checkText("", p.Text, p.Signature)
	case KindImage:
		rest.Image = nil
		err = p.Image.check("/image")
	case KindCall:
		rest.Call = nil
		err = p.Call.check("/call")
	case KindResult:
		rest.Result = nil
		err = p.Result.check("/result")
	}
	if err == nil && rest != (Part{}) {
		err = &FormError{Reason: fmt.Sprintf("a part of kind %q has fields of another kind", p.Kind)}
	}
	return err
}

func checkText(at string, texts ...string) *FormError {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return &FormError{Path: at, Reason: "invalid UTF-8"}
		}
	}
	return nil
}

func (i *Image) check(at string) *FormError {
	if i == nil {
		return &FormError{Path: at, Reason: "missing"}
	}
	if (i.URL == "") == (i.Data == nil) || (i.MediaType == "") != (i.Data == nil) {
		return &FormError{Path: at, Reason: "an image has an address, or bytes and their media type"}
	}
	return checkText(at, i.URL, i.MediaType)
}

func (c *Call) check(at string) *FormError {
	if c == nil {
		return &FormError{Path: at, Reason: "missing"}
	}
	return checkText(at, c.ID, c.Name, c.Args)
}

var statuses = []Status{StatusOK, StatusError, StatusCancelled, StatusCrashed, StatusTimedOut, StatusDenied}

func (r *Result) check(at string) *FormError {
	if r == nil {
		return &FormError{Path: at, Reason: "missing"}
	}
	if !slices.Contains(statuses, r.Status) {
		return &FormError{Path: at + "/status", Reason: fmt.Sprintf("unknown status %q", r.Status)}
	}
	if err := checkText(at, r.CallID, r.Name); err != nil {
		return err
	}
	if err := checkParts(r.Parts, []Kind{KindText, KindImage}, func() string { return "a result" }); err != nil {
		return err.under(at)
	}
	return nil
}
