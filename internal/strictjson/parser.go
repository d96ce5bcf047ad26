package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// A parser walks a document that encoding/json has found valid, so it need not check syntax again.
type parser struct {
	doc  []byte
	at   int
	keep bool // whether values are built; otherwise they are only looked at
}

func (p *parser) space() {
	for p.at < len(p.doc) {
		switch p.doc[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (v Value, err error) {
	p.space()
	start := p.at
	switch c := p.doc[p.at]; c {
	case '{', '[':
		if depth >= MaxDepth {
			return v, &Error{Offset: start, Reason: fmt.Sprintf("nested deeper than %d", MaxDepth)}
		}
		if c == '{' {
			v.Kind = Object
			v.Members, err = p.members(depth + 1)
		} else {
			v.Kind = Array
			v.Items, err = p.items(depth + 1)
		}
	case '"':
		v.Kind = String
		v.Text, err = p.text()
	default:
		v.Kind = p.word()
	}
	v.Raw = p.doc[start:p.at:p.at]
	return v, err
}

func (p *parser) items(depth int) ([]Value, error) {
	p.at++
	if p.space(); p.doc[p.at] == ']' {
		p.at++
		return nil, nil
	}
	var items []Value
	for {
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		if p.keep {
			items = append(items, v)
		}
		if p.space(); p.next() == ']' {
			return items, nil
		}
	}
}

func (p *parser) members(depth int) ([]Member, error) {
	p.at++
	if p.space(); p.doc[p.at] == '}' {
		p.at++
		return nil, nil
	}
	var members []Member
	seen := map[string]bool{}
	for {
		p.space()
		start := p.at
		name, err := p.text()
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, &Error{Offset: start, Reason: fmt.Sprintf("duplicate name %q", name)}
		}
		seen[name] = true
		p.space()
		p.at++ // the colon
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		if p.keep {
			members = append(members, Member{Name: name, Value: v})
		}
		if p.space(); p.next() == '}' {
			return members, nil
		}
	}
}

func (p *parser) next() byte {
	c := p.doc[p.at]
	p.at++
	return c
}

// word skips a number, true, false or null.
func (p *parser) word() Kind {
	start := p.at
	for p.at < len(p.doc) && bytes.IndexByte([]byte(" \t\r\n,]}"), p.doc[p.at]) < 0 {
		p.at++
	}
	switch p.doc[start] {
	case 't', 'f':
		return Boolean
	case 'n':
		return Null
	}
	return Number
}

// text reads a string and refuses halves of surrogate pairs, which encoding/json would replace.
func (p *parser) text() (string, error) {
	start, escaped := p.at, false
	for p.at++; p.doc[p.at] != '"'; p.at++ {
		if p.doc[p.at] == '\\' {
			escaped = true
			p.at++
		}
	}
	p.at++
	token := p.doc[start:p.at]
	if !escaped {
		return string(token[1 : len(token)-1]), nil
	}
	if at := loneSurrogate(token); at >= 0 {
		return "", &Error{Offset: start + at, Reason: "half of a surrogate pair"}
	}
	var s string
	err := json.Unmarshal(token, &s)
	return s, err
}

// loneSurrogate returns the offset in a valid string token of an escape that is half of a pair, or -1.
func loneSurrogate(token []byte) int {
	for i := 0; i < len(token); i++ {
		if token[i] != '\\' {
			continue
		}
		if token[i+1] != 'u' {
			i++
			continue
		}
		switch u := hex4(token[i+2:]); {
		case u < 0xD800 || u > 0xDFFF:
			i += 5
		case u < 0xDC00 && token[i+6] == '\\' && token[i+7] == 'u' && hex4(token[i+8:])>>10 == 0xDC00>>10:
			i += 11
		default:
			return i
		}
	}
	return -1
}

// hex4 reads four hexadecimal digits. The caller knows that they are there.
func hex4(b []byte) uint64 {
	u, _ := strconv.ParseUint(string(b[:4]), 16, 16)
	return u
}
