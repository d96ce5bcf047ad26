package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Summary is the state as a prompt shows it: facts by field, each with who confirmed it, then candidates, marked as not
// confirmed. It is "" for a state without either. Pins are not in it; memory/pin renders them.
//
// It is made of the state alone and has no clock in it, so the same facts are the same bytes. A value is one line of JSON, in
// which <, > and & and what cannot be seen are escaped: it cannot look like another line or like a tag.
func (s State) Summary() string {
	var b strings.Builder
	if len(s.Facts) > 0 {
		b.WriteString("Confirmed:\n")
	}
	for _, f := range s.Facts {
		fmt.Fprintf(&b, "- %s: %s (%s)\n", name(f.Field), line(f.Value), who[f.Origin])
	}
	if len(s.Candidates) > 0 {
		b.WriteString("Not confirmed, only guessed. Ask the user before you use one:\n")
	}
	for _, c := range s.Candidates {
		fmt.Fprintf(&b, "- %s: %s (candidate %s)\n", name(c.Field), line(c.Value), c.ID)
	}
	return b.String()
}

var who = map[Origin]string{ByTool: "by a tool", ByUser: "by the user"}

// name is a field's name; one that has more than letters, digits and a few signs is quoted.
func name(field string) string {
	for _, r := range field {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.' {
			return fmt.Sprintf("%q", field)
		}
	}
	return field
}

// line is a JSON value in one line of characters that are seen: others, which could break or turn the line, are escaped.
func line(value json.RawMessage) string {
	var tight, safe bytes.Buffer
	if err := json.Compact(&tight, value); err != nil {
		return fmt.Sprintf("%q", value)
	}
	json.HTMLEscape(&safe, tight.Bytes())
	var b strings.Builder
	for _, r := range safe.String() {
		if unicode.IsGraphic(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
