package state

import (
	"unsafe"

	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

// Number is what Sum can add.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Sum adds up what tasks add. Integers wrap around as they do in Go; floats are added in task order, and a sum that leaves
// their range fails the superstep. The zero value is ready to use.
type Sum[N Number] struct {
	header
	has, put       bool // base; add replaces base
	base, add, cut N
}

// Get returns the sum.
func (f *Sum[N]) Get() N {
	if f.put {
		return f.add
	}
	return f.base + f.add
}

// Add adds n. Adding 0 is a write.
func (f *Sum[N]) Add(n N) { f.add, f.written = f.add+n, true }

// Replace puts n in the place of the sum, and of what other tasks add in this superstep.
func (f *Sum[N]) Replace(n N) { f.add, f.written, f.put = n, true, true }

var errRange = errors.New("the sum is outside the range of its type")

func (f *Sum[N]) cast(p unsafe.Pointer) field         { return (*Sum[N])(p) }
func (f *Sum[N]) kind() string                        { return "sum." + numberOf[N]().name }
func (f *Sum[N]) elem() reflect.Type                  { return reflect.TypeFor[N]() }
func (f *Sum[N]) schema() (*jsonschema.Schema, error) { return jsonschema.For(numberOf[N]().basic) }
func (f *Sum[N]) single() bool                        { return false }
func (f *Sum[N]) persisted() bool                     { return true }
func (f *Sum[N]) mistakes() []string                  { return nil }
func (f *Sum[N]) attach()                             {}
func (f *Sum[N]) present() bool                       { return f.has }

func (f *Sum[N]) settle() {
	f.base, f.has = f.Get(), f.has || f.written
	f.add, f.put = 0, false
	f.reset()
}

func (f *Sum[N]) freeze() *fault {
	if !finite(f.add) {
		return &fault{"", errFinite}
	}
	f.cut = f.add
	return f.seal(modeOf(f.put))
}

func finite[N Number](n N) bool { return !math.IsInf(float64(n), 0) && n == n }

func (f *Sum[N]) fold(from field) error {
	g := from.(*Sum[N])
	sum := g.cut
	if g.cutMode != replaced {
		sum += f.base
	}
	if !finite(sum) {
		return errRange
	}
	f.base, f.has = sum, true
	return nil
}

func (f *Sum[N]) encode(b []byte) ([]byte, error) {
	if f.cutMode != replaced {
		return appendNumber(b, f.cut), nil
	}
	return append(appendNumber(append(b, `{"r":`...), f.cut), '}'), nil
}

func (f *Sum[N]) decode(data []byte) (err error) {
	data, replaces := replacingOr(data)
	f.seal(modeOf(replaces))
	f.cut, err = parseNumber[N](data)
	return err
}

func (f *Sum[N]) json(b []byte) ([]byte, error) { return appendNumber(b, f.base), nil }

func (f *Sum[N]) parse(data []byte) (func(), error) {
	n, err := parseNumber[N](data)
	return func() { f.Add(n) }, err
}

// A number is the basic type under a Number, and how sums of it are made from bytes.
type number struct {
	name  string
	basic reflect.Type
	add   func(a, b []byte) ([]byte, error)
}

func numberFor[N Number](name string) number { return number{name, reflect.TypeFor[N](), addBytes[N]} }

func numberOf[N Number]() number { return numbers[reflect.TypeFor[N]().Kind()] }

// numbers has int and uint under the name of their size, so that the name means one arithmetic everywhere.
var numbers = map[reflect.Kind]number{
	reflect.Int8: numberFor[int8]("int8"), reflect.Int16: numberFor[int16]("int16"),
	reflect.Int32: numberFor[int32]("int32"), reflect.Int64: numberFor[int64]("int64"),
	reflect.Uint8: numberFor[uint8]("uint8"), reflect.Uint16: numberFor[uint16]("uint16"),
	reflect.Uint32: numberFor[uint32]("uint32"), reflect.Uint64: numberFor[uint64]("uint64"),
	reflect.Float32: numberFor[float32]("float32"), reflect.Float64: numberFor[float64]("float64"),
	reflect.Int:  numberFor[int]("int" + strconv.Itoa(strconv.IntSize)),
	reflect.Uint: numberFor[uint]("uint" + strconv.Itoa(strconv.IntSize)),
}

// sums has the additions by the name of their kind.
var sums = func() map[string]func(a, b []byte) ([]byte, error) {
	m := map[string]func(a, b []byte) ([]byte, error){}
	for _, n := range numbers {
		m["sum."+n.name] = n.add
	}
	return m
}()

// addBytes adds two encoded numbers as Sum[N] does. Without the first it brings the second into our form.
func addBytes[N Number](a, b []byte) ([]byte, error) {
	if a == nil {
		n, err := parseNumber[N](b)
		return appendNumber(nil, n), err
	}
	x, err := parseNumber[N](a)
	if err != nil {
		return nil, err
	}
	y, err := parseNumber[N](b)
	if err != nil {
		return nil, err
	}
	if !finite(x + y) {
		return nil, errRange
	}
	return appendNumber(nil, x+y), nil
}

// appendNumber encodes n as encoding/json encodes its basic type: a named type may have a codec of its own, which addition
// without the program could not follow.
func appendNumber[N Number](b []byte, n N) []byte {
	switch k := reflect.TypeFor[N]().Kind(); {
	case k >= reflect.Int && k <= reflect.Int64:
		return strconv.AppendInt(b, int64(n), 10)
	case k >= reflect.Uint && k <= reflect.Uint64:
		return strconv.AppendUint(b, uint64(n), 10)
	case k == reflect.Float32:
		out, _ := json.Marshal(float32(n)) // finite
		return append(b, out...)
	}
	out, _ := json.Marshal(float64(n))
	return append(b, out...)
}

func parseNumber[N Number](b []byte) (n N, err error) {
	switch k := reflect.TypeFor[N]().Kind(); {
	case k >= reflect.Int && k <= reflect.Int64:
		i, err := strconv.ParseInt(string(b), 10, reflect.TypeFor[N]().Bits())
		return N(i), err
	case k >= reflect.Uint && k <= reflect.Uint64:
		u, err := strconv.ParseUint(string(b), 10, reflect.TypeFor[N]().Bits())
		return N(u), err
	case len(b) == 0 || b[0] != '-' && (b[0] < '0' || b[0] > '9'): // ParseFloat takes more than JSON numbers
		return 0, errForm
	}
	x, err := strconv.ParseFloat(string(b), reflect.TypeFor[N]().Bits())
	return N(x), err
}
