package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"unicode/utf8"
)

// A codec copies, checks, encodes and decodes values of one type.
type codec[T any] struct {
	plan *plan
	own  func(*T) T // T's own Clone
	flat bool       // an assignment copies
	errs []string   // what is wrong with T, each with its path in T
}

var codecs sync.Map // reflect.Type to *codec of it

// codecFor returns the codec of T. The first call for a type compiles it.
func codecFor[T any]() *codec[T] {
	t := reflect.TypeFor[T]()
	if c, ok := codecs.Load(t); ok {
		return c.(*codec[T])
	}
	cc := compiler{plans: map[planKey]*plan{}}
	c := &codec[T]{plan: cc.compile(t, "", true), errs: cc.errs}
	c.flat = c.plan.clone == nil
	if _, ok := any((*T)(nil)).(interface{ Clone() T }); ok && !c.flat {
		c.own = func(p *T) T { return any(p).(interface{ Clone() T }).Clone() }
	}
	got, _ := codecs.LoadOrStore(t, c)
	return got.(*codec[T])
}

// copy returns a copy for the reader. It panics on a value that contains itself, which only a node's own write can.
func (c *codec[T]) copy(p *T) T {
	if c.flat {
		return *p
	}
	v, err := c.clone(p)
	if err != nil {
		panic(fmt.Errorf("state: reading %s: %w", reflect.TypeFor[T](), err))
	}
	return v
}

func (c *codec[T]) clone(p *T) (v T, err error) {
	if c.own != nil {
		return c.own(p), nil
	}
	err = c.plan.copy(reflect.ValueOf(&v).Elem(), reflect.ValueOf(p).Elem(), 0)
	return v, err
}

// check returns what keeps *p from coming back as it is.
func (c *codec[T]) check(p *T) *fault {
	if c.plan.check == nil {
		return nil
	}
	if s, ok := any(p).(*string); ok {
		if utf8.ValidString(*s) {
			return nil
		}
		return &fault{"", errUTF8}
	}
	return c.plan.verify(reflect.ValueOf(p).Elem(), 0)
}

// cut checks *p and returns it, or a copy that shares nothing with the writer.
func (c *codec[T]) cut(p *T) (T, *fault) {
	if f := c.check(p); f != nil {
		var zero T
		return zero, f
	}
	if c.flat {
		return *p, nil
	}
	v, err := c.clone(p)
	if err != nil {
		return v, &fault{"", err}
	}
	return v, nil
}

// append appends the JSON of *p to b.
func (c *codec[T]) append(b []byte, p *T) ([]byte, error) {
	switch v := any(p).(type) {
	case *string:
		return appendString(b, *v), nil
	case *int:
		return strconv.AppendInt(b, int64(*v), 10), nil
	case *int64:
		return strconv.AppendInt(b, *v, 10), nil
	case *bool:
		return strconv.AppendBool(b, *v), nil
	}
	n := len(b)
	b, err := appendJSON(b, p)
	if err == nil && c.plan.custom {
		err = wellFormed(b[n:])
	}
	return b, err
}

func (c *codec[T]) decode(b []byte, p *T) error { return json.Unmarshal(b, p) }

// decodeAll decodes an array. Its elements are counted first: it takes the memory of as many as are there, and no more.
func (c *codec[T]) decodeAll(data []byte) ([]T, error) {
	in, err := array(data)
	if err != nil || len(in) == 0 {
		return nil, err
	}
	vs := make([]T, 0, count(in))
	err = json.Unmarshal(data, &vs)
	return vs, err
}

// next is decode for one value of many. A decoder of its own for each of them would cost more than most values.
func (c *codec[T]) next(r *reader, b []byte, p *T) error {
	if s, ok := any(p).(*string); ok && b[0] == '"' && bytes.IndexByte(b, '\\') < 0 {
		*s = string(b[1 : len(b)-1])
		return nil
	}
	return r.next(b, p)
}

// A reader decodes values one after another. It stops at the first error.
type reader struct {
	buf bytes.Buffer
	dec *json.Decoder
}

func newReader() *reader {
	r := new(reader)
	r.dec = json.NewDecoder(&r.buf)
	return r
}

// newStrictReader is for what a person or another program wrote.
func newStrictReader() *reader {
	r := newReader()
	r.dec.DisallowUnknownFields()
	return r
}

func (r *reader) next(b []byte, p any) error {
	r.buf.Write(b)
	r.buf.WriteByte('\n') // ends a number
	return r.dec.Decode(p)
}

// read is decode for what others wrote: names that T does not have are an error, and so is null where T has no nil.
func (c *codec[T]) read(r *reader, b []byte, p *T) error {
	switch k := reflect.TypeFor[T]().Kind(); {
	case string(b) != "null" || c.plan.custom:
	case k == reflect.Pointer || k == reflect.Slice || k == reflect.Map:
	default:
		return fmt.Errorf("null for a %s", reflect.TypeFor[T]())
	}
	if err := r.next(b, p); err != nil {
		return err
	}
	if f := c.check(p); f != nil {
		return f
	}
	return nil
}

// An encoder writes JSON without escaping HTML.
type encoder struct {
	buf bytes.Buffer
	enc *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.enc = json.NewEncoder(&e.buf)
	e.enc.SetEscapeHTML(false)
	return e
}}

// keepBuffer is the largest buffer that a pooled encoder keeps.
const keepBuffer = 64 << 10

func appendJSON(b []byte, v any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	e.buf.Reset()
	err := e.enc.Encode(v)
	if err != nil { // an encoder does not forget an error of its writer, and what is in buf is half a value
		return b, fmt.Errorf("encode: %w", err)
	}
	b = append(b, e.buf.Bytes()[:e.buf.Len()-1]...) // without the newline
	if e.buf.Cap() <= keepBuffer {
		encoders.Put(e)
	}
	return b, nil
}

// appendString appends s as encoding/json does.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			out, err := appendJSON(b, &s)
			if err != nil {
				panic(err) // a string always encodes
			}
			return out
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

var errForm = errors.New("not in the form of this kind")
