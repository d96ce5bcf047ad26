package extract

import (
	"encoding/json"
	"io"
	"strings"
)

// A value is one of a JSON text, with its place.
type value struct {
	text    string // of a string, number or truth
	members []member
	items   []*value
	end     int
}

type member struct {
	name  string
	start int // of the name
	value *value
}

// maxDepth is how deep a result may be nested.
const maxDepth = 20

// parse returns the one JSON object or list that a text is; nil if it is none.
func parse(text string) *value {
	if t := strings.TrimSpace(text); !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "[") {
		return nil
	}
	p := &parser{text: text, d: json.NewDecoder(strings.NewReader(text))}
	p.d.UseNumber()
	v := p.value(0)
	if _, err := p.d.Token(); v == nil || err != io.EOF {
		return nil
	}
	return v
}

type parser struct {
	text string
	d    *json.Decoder
}

func (p *parser) value(depth int) *value {
	t, err := p.d.Token()
	if err != nil || depth > maxDepth {
		return nil
	}
	v := &value{}
	switch t := t.(type) {
	case json.Delim:
		if !p.inside(v, t, depth) {
			return nil
		}
	case string:
		v.text = t
	case json.Number:
		v.text = t.String()
	case bool:
		v.text = map[bool]string{true: "true", false: "false"}[t]
	}
	v.end = int(p.d.InputOffset())
	return v
}

// inside reads an object or a list.
func (p *parser) inside(v *value, open json.Delim, depth int) bool {
	if open == '{' {
		v.members = []member{}
	} else {
		v.items = []*value{}
	}
	for p.d.More() {
		m := member{}
		if open == '{' {
			from := int(p.d.InputOffset())
			t, err := p.d.Token()
			if err != nil {
				return false
			}
			m.name, _ = t.(string)
			m.start = from + max(0, strings.IndexByte(p.text[from:], '"'))
		}
		if m.value = p.value(depth + 1); m.value == nil {
			return false
		}
		if open == '{' {
			v.members = append(v.members, m)
		} else {
			v.items = append(v.items, m.value)
		}
	}
	_, err := p.d.Token()
	return err == nil
}
