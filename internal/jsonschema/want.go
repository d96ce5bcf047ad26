package jsonschema

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/internal/strictjson"
)

// want describes in a few words what s accepts.
func (s *Schema) want() string {
	w := s.wantKind() + s.wantDetail()
	if s.nullable {
		w += ", or null"
	}
	return w
}

func (s *Schema) wantKind() string {
	switch {
	case s.never:
		return "nothing"
	case s.ref != nil && s.ref.ref == nil:
		return s.ref.wantKind() + s.ref.wantDetail()
	case len(s.enum) > 0:
		return "one of " + strings.Join(s.enum, ", ")
	case len(s.anyOf) > 0:
		return "one of several forms"
	}
	switch s.kind {
	case anything:
		return "a value"
	case null:
		return "null"
	case object, array, integer:
		return "an " + string(s.kind)
	}
	return "a " + string(s.kind)
}

func (s *Schema) wantDetail() string {
	var d string
	switch {
	case s.min != "" && s.max != "":
		d += fmt.Sprintf(" from %s to %s", s.min, s.max)
	case s.min != "":
		d += " of at least " + s.min
	case s.max != "":
		d += " of at most " + s.max
	}
	if s.kind == integer {
		d += " without fraction or exponent"
	}
	switch {
	case s.limited && s.minItems == s.maxItems:
		d += fmt.Sprintf(" of %d items", s.minItems)
	case s.limited:
		d += fmt.Sprintf(" of %d to %d items", s.minItems, s.maxItems)
	case s.minItems > 0:
		d += fmt.Sprintf(" of at least %d items", s.minItems)
	}
	switch {
	case s.format == "date-time":
		d += " with a time in RFC 3339"
	case s.encoding == "base64":
		d += " in base64"
	case s.pattern != nil:
		d += " that matches " + s.pattern.String()
	}
	return d
}

// show describes a value briefly, so that an error does not repeat a whole document.
func show(v strictjson.Value) string {
	const most = 40
	switch v.Kind {
	case strictjson.Object:
		return fmt.Sprintf("an object of %d properties", len(v.Members))
	case strictjson.Array:
		return fmt.Sprintf("an array of %d items", len(v.Items))
	case strictjson.Null:
		return "null"
	}
	raw := string(v.Raw)
	if len(raw) > most {
		raw = strings.ToValidUTF8(raw[:most], "") + "..."
	}
	return fmt.Sprintf("the %s %s", v.Kind, raw)
}
