package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
)

// compact returns a copy of data without white space, or an error if it is not JSON in UTF-8. The functions below need that.
func compact(data []byte) ([]byte, error) {
	if err := wellFormed(data); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(len(data))
	if err := json.Compact(&b, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// skip returns the index after the value that begins at i.
func skip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// array returns what is between the brackets.
func array(b []byte) ([]byte, error) {
	if len(b) < 2 || b[0] != '[' {
		return nil, fmt.Errorf("%w: want an array, have %.20s", errForm, b)
	}
	return b[1 : len(b)-1], nil
}

// values iterates over values that are separated by commas.
func values(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 0; i < len(b); {
			end := skip(b, i)
			if !yield(b[i:end:end]) {
				return
			}
			i = end + 1
		}
	}
}

// count returns how many values there are.
func count(b []byte) (n int) {
	for range values(b) {
		n++
	}
	return n
}

// pair splits [key] and [key,value].
func pair(b []byte) (key, value []byte, err error) {
	in, err := array(b)
	if err != nil {
		return nil, nil, err
	}
	end := skip(in, 0)
	key = in[:end:end]
	if end < len(in) {
		value = in[end+1:]
		if skip(value, 0) != len(value) {
			key = nil
		}
	}
	if len(key) == 0 {
		return nil, nil, fmt.Errorf("%w: want [key] or [key,value], have %.20s", errForm, b)
	}
	return key, value, nil
}

// members iterates over the names and values of an object.
func members(b []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := 1; i < len(b)-1; {
			colon := skip(b, i)
			end := skip(b, colon+1)
			if !yield(b[i:colon:colon], b[colon+1:end:end]) {
				return
			}
			i = end + 1
		}
	}
}

// replacing returns what data puts in the field's place, if it does: {"r":value}.
func replacing(b []byte) (value []byte, ok bool) {
	const open = `{"r":`
	if len(b) <= len(open)+1 || !bytes.HasPrefix(b, []byte(open)) {
		return nil, false
	}
	value = b[len(open) : len(b)-1]
	return value, skip(value, 0) == len(value)
}

// unquote decodes a JSON string.
func unquote(b []byte) (string, error) {
	if n := len(b); n >= 2 && b[0] == '"' && bytes.IndexByte(b, '\\') < 0 {
		return string(b[1 : n-1]), nil
	}
	var s *string
	if err := json.Unmarshal(b, &s); err != nil || s == nil {
		return "", fmt.Errorf("%w: want a string, have %.20s", errForm, b)
	}
	return *s, nil
}

// compareKeys orders encoded keys: integers by value before all others, which go by their bytes.
func compareKeys(a, b []byte) int {
	x, y := integer(a), integer(b)
	switch {
	case x && !y:
		return -1
	case y && !x:
		return 1
	case !x || a[0] == '-' && b[0] != '-' || a[0] != '-' && b[0] == '-': // '-' comes before digits
		return bytes.Compare(a, b)
	}
	c := len(a) - len(b)
	if c == 0 {
		c = bytes.Compare(a, b)
	}
	if a[0] == '-' {
		return -c
	}
	return c
}

func integer(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
