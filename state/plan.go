package state

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

// maxDepth bounds how deep a value may be nested, pointers counted. A deeper one is taken for a cycle. With the state around
// it, it stays below strictjson.MaxDepth.
const maxDepth = 990

// A plan is what is known about values of one type: how to copy them, and which of them would not come back.
type plan struct {
	clone  func(dst, src reflect.Value, depth int) error // nil: an assignment is a copy; dst is a zero value
	check  func(v reflect.Value, depth int) *fault       // nil: every value is fine
	custom bool                                          // a codec of the user's is in it
	busy   bool                                          // being compiled: the type contains itself
}

// A fault is a value that would not come back, and where it is.
type fault struct {
	path string
	err  error
}

func (f *fault) Error() string { return strings.TrimPrefix(f.path+": "+f.err.Error(), ": ") }

func (f *fault) Unwrap() error { return f.err }

func (f *fault) under(path string) *fault {
	f.path = path + f.path
	return f
}

var (
	errCycle  = fmt.Errorf("a cycle, or nested deeper than %d", maxDepth)
	errUTF8   = errors.New("invalid UTF-8 in a string; use []byte for other bytes, or strings.ToValidUTF8")
	errFinite = errors.New("NaN and infinity have no JSON form")
	errNilRaw = errors.New("empty json.RawMessage; set it to null, or tag its field omitzero")
	errRaw    = errors.New("json.RawMessage holds no valid JSON")
)

var (
	timeType      = reflect.TypeFor[time.Time]()
	rawType       = reflect.TypeFor[json.RawMessage]()
	marshalType   = reflect.TypeFor[json.Marshaler]()
	unmarshalType = reflect.TypeFor[json.Unmarshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
	untextType    = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// immutable types hold pointers that nobody can write through.
var immutable = map[reflect.Type]bool{
	timeType: true, reflect.TypeFor[netip.Addr](): true, reflect.TypeFor[netip.AddrPort](): true,
	reflect.TypeFor[netip.Prefix](): true,
}

// A compiler makes the plan of one type and collects what is wrong with it.
type compiler struct {
	plans map[planKey]*plan
	errs  []string
}

type planKey struct {
	t    reflect.Type
	addr bool // the value is addressable, so that encoding/json finds methods of the pointer
}

func (c *compiler) refuse(path, format string, args ...any) {
	c.errs = append(c.errs, path+" "+fmt.Sprintf(format, args...))
}

func (c *compiler) compile(t reflect.Type, path string, addr bool) *plan {
	key := planKey{t, addr}
	if p, ok := c.plans[key]; ok {
		return p
	}
	p := &plan{busy: true}
	c.plans[key] = p
	c.fill(p, t, path, addr)
	if own := cloneMethod(t); own != nil && p.clone != nil {
		p.clone = own
	}
	p.busy = false
	return p
}

func (c *compiler) fill(p *plan, t reflect.Type, path string, addr bool) {
	switch {
	case t == timeType:
		p.check = checkTime
		return
	case t == rawType:
		p.check, p.clone = checkRaw, cloneRaw
		return
	case t == reflect.TypeFor[json.Number]():
		c.refuse(path, "is a json.Number, whose zero value becomes 0; use a number type or a string")
		return
	case t.Kind() == reflect.Interface:
		c.refuse(path, "is an interface, which cannot be decoded; use a struct, or a type with MarshalJSON and UnmarshalJSON")
		return
	case t.Kind() != reflect.Pointer && c.codec(p, t, path, addr):
		return
	}
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		c.refuse(path, "is a %s, which has no JSON form; use state.Untracked for what lives in memory only", t)
	case reflect.String:
		p.check = checkString
	case reflect.Float32, reflect.Float64:
		p.check = checkFloat
	case reflect.Pointer:
		c.pointer(p, t, path)
	case reflect.Slice:
		c.slice(p, t, path)
	case reflect.Array:
		c.array(p, t, path, addr)
	case reflect.Map:
		c.mapping(p, t, path)
	case reflect.Struct:
		c.structure(p, t, path, addr)
	}
}

// codec fills p for a type that encodes itself and reports whether t is one. Such a type is trusted to round-trip.
func (c *compiler) codec(p *plan, t reflect.Type, path string, addr bool) bool {
	ptr := reflect.PointerTo(t)
	from := t
	if addr {
		from = ptr
	}
	js, text := from.Implements(marshalType), from.Implements(textType)
	unjs, untext := ptr.Implements(unmarshalType), ptr.Implements(untextType)
	switch {
	case !ptr.Implements(marshalType) && !unjs && !ptr.Implements(textType) && !untext:
		return false
	case js && unjs || text && untext && !js && !unjs:
	case ptr.Implements(marshalType) && unjs || ptr.Implements(textType) && untext:
		c.refuse(path, "of type %s is encoded by a method of its pointer, which is not found here; use *%[1]s", t)
		return true
	default:
		c.refuse(path, "of type %s has half a codec; it needs both MarshalJSON and UnmarshalJSON, or both MarshalText and UnmarshalText", t)
		return true
	}
	if promoted(t) {
		c.refuse(path, "of type %s is encoded by an embedded field alone; give that field a name", t)
		return true
	}
	p.custom = true
	if !pointerFree(t) && !immutable[t] {
		p.clone = cloneByCodec
	}
	return true
}

func (c *compiler) pointer(p *plan, t reflect.Type, path string) {
	switch t.Elem().Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		c.refuse(path, "is a %s: a pointer to nil would come back as nil; use %s", t, t.Elem())
		return
	}
	e := c.compile(t.Elem(), path, true)
	p.custom = e.custom
	p.clone = func(dst, src reflect.Value, depth int) error {
		if src.IsNil() {
			return nil
		}
		n := reflect.New(t.Elem())
		if err := e.copy(n.Elem(), src.Elem(), depth+1); err != nil {
			return err
		}
		dst.Set(n)
		return nil
	}
	if e.check == nil && !e.busy {
		return
	}
	p.check = func(v reflect.Value, depth int) *fault {
		if v.IsNil() {
			return nil
		}
		return e.verify(v.Elem(), depth+1)
	}
}

// copy copies src to dst, a zero value.
func (p *plan) copy(dst, src reflect.Value, depth int) error {
	if depth > maxDepth {
		return errCycle
	}
	if p.clone == nil {
		dst.Set(src)
		return nil
	}
	return p.clone(dst, src, depth)
}

func (p *plan) verify(v reflect.Value, depth int) *fault {
	if depth > maxDepth {
		return &fault{"", errCycle}
	}
	if p.check == nil {
		return nil
	}
	return p.check(v, depth)
}

// flat reports whether an assignment copies.
func (p *plan) flat() bool { return p.clone == nil && !p.busy }

// checked reports whether some values are refused.
func (p *plan) checked() bool { return p.check != nil || p.busy }

func checkString(v reflect.Value, _ int) *fault {
	if utf8.ValidString(v.String()) {
		return nil
	}
	return &fault{"", errUTF8}
}

func checkFloat(v reflect.Value, _ int) *fault {
	if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
		return &fault{"", errFinite}
	}
	return nil
}

// checkTime refuses what RFC 3339 cannot hold.
func checkTime(v reflect.Value, _ int) *fault {
	t := v.Interface().(time.Time)
	if y := t.Year(); y < 0 || y > 9999 {
		return &fault{"", fmt.Errorf("year %d is outside 0 to 9999", y)}
	}
	if _, off := t.Zone(); off%60 != 0 || off <= -24*3600 || off >= 24*3600 {
		return &fault{"", fmt.Errorf("zone offset of %d seconds is not one of whole minutes within a day; use UTC()", off)}
	}
	return nil
}

// checkTimeOmit is checkTime for a field that is left out if its instant is the zero one, whatever its zone.
func checkTimeOmit(v reflect.Value, depth int) *fault {
	if t := v.Interface().(time.Time); t.IsZero() && t != (time.Time{}) {
		return &fault{"", errors.New("the zero time in a zone would come back in UTC; use UTC()")}
	}
	return checkTime(v, depth)
}

func checkRaw(v reflect.Value, _ int) *fault {
	switch b := v.Bytes(); {
	case len(b) == 0:
		return &fault{"", errNilRaw}
	case !json.Valid(b):
		return &fault{"", errRaw}
	case !utf8.Valid(b):
		return &fault{"", errUTF8}
	}
	return nil
}

// checkRawOmit is checkRaw for a field that is left out when it is nil.
func checkRawOmit(v reflect.Value, depth int) *fault {
	if v.IsNil() {
		return nil
	}
	return checkRaw(v, depth)
}

// cloneRaw drops white space, as encoding does, so that a live value is the same as a decoded one.
func cloneRaw(dst, src reflect.Value, _ int) error {
	if src.IsNil() {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, src.Bytes()); err != nil { // read before it was checked
		dst.SetBytes(bytes.Clone(src.Bytes()))
		return nil
	}
	dst.SetBytes(b.Bytes())
	return nil
}

func cloneByCodec(dst, src reflect.Value, _ int) error {
	if !src.CanAddr() {
		n := reflect.New(src.Type()).Elem()
		n.Set(src)
		src = n
	}
	b, err := appendJSON(nil, src.Addr().Interface())
	if err != nil {
		return err
	}
	return json.Unmarshal(b, dst.Addr().Interface())
}
