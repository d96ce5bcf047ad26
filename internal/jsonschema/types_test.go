//lint:file-ignore SA5008 odd tags are what these types are for

package jsonschema_test

import (
	"encoding/json"
	"math/big"
	"math/rand"
	"net/netip"
	"reflect"
	"time"
)

// The types below are the cases of the generator. Each marshals to documents that its schema must accept.

type Level string

type Base struct {
	ID     string `json:"id"`
	Hidden string `json:"-"`
	Shadow int    `json:"shadow"`
}

type Extra struct {
	Shadow string
	Note   *string `json:"note,omitempty"`
}

type base2 struct {
	Deep  int8 `json:"deep"`
	Twice int
}

type other struct{ Twice int }

type tagged struct {
	Title int  `json:"Title"`
	Own   bool `json:"own"`
}

type untagged struct{ Title string }

type Scalars struct {
	Bool  bool
	I8    int8
	I16   int16
	I32   int32
	I64   int64
	Int   int
	U8    uint8
	U16   uint16
	U32   uint32
	U64   uint64
	F32   float32
	F64   float64
	Text  string `json:"text" description:"free text" `
	Dash  string `json:"-,"`
	Odd   string `json:"bad\"name"`
	Punct string `json:"a/b~c"`
	QI    int    `json:",string"`
	QB    bool   `json:"qb,string"`
	QF    float64
	QFS   float64  `json:",string"`
	QS    string   `json:"qs,string"`
	QP    *int     `json:"qp,string"`
	Skip  []string `json:"skip,string"`
}

type Containers struct {
	Bytes   []byte
	Named   []Level
	Array   [3]int
	Matrix  [][]float32
	ByName  map[string]int
	ByInt   map[int16]string
	ByUint  map[uint64]bool
	ByLevel map[Level]*Base
	Ptr     *int
	PtrPtr  **string
	Inline  struct{ A, B int }
	Empty   struct{}
	Maybe   []int          `json:"maybe,omitempty"`
	Zero    map[string]int `json:"zero,omitzero"`
	ByteArr [4]byte
}

type Embedding struct {
	Base
	*Extra
	base2
	other
	untagged
	tagged
	Level
	Own string `json:"own"`
}

type Tree struct {
	Name     string           `json:"name"`
	Children []Tree           `json:"children"`
	Left     *Tree            `json:"left"`
	ByName   map[string]*Tree `json:"byName"`
}

type (
	List  []List
	Graph map[string]Graph
)

type Mutual struct{ Other *MutualB }

type MutualB struct {
	Back []Mutual
	Base Base
	More Base
}

type Pair[A, B any] struct {
	First  A `json:"first"`
	Second B `json:"second"`
}

type Special struct {
	When  time.Time
	WhenP *time.Time
	Took  time.Duration
	Raw   json.RawMessage
	Any   any
	Big   big.Int
	BigP  *big.Int
	IP    netip.Addr
	ByIP  map[netip.Addr]int
}

type Chosen struct {
	Size  Level    `json:"size" enum:"s,m,l" description:"how big"`
	Maybe *Level   `json:"maybe" enum:"s,m"`
	Many  []Level  `json:"many" enum:"s,m"`
	Count int      `json:"count" enum:"1,2"`
	Opt   string   `json:"opt,omitempty" enum:"a"`
	Tags  Levels   `json:"tags" enum:"x"`
	Rate  *float64 `json:"rate" enum:"0.5,1"`
}

type Levels []Level

// quickTypes have values that testing/quick can make.
var quickTypes = []reflect.Type{
	reflect.TypeFor[Scalars](), reflect.TypeFor[Containers](), reflect.TypeFor[Embedding](), reflect.TypeFor[Tree](),
	reflect.TypeFor[List](), reflect.TypeFor[Graph](), reflect.TypeFor[Mutual](), reflect.TypeFor[Pair[int, *Tree]](),
	reflect.TypeFor[[]*Pair[Base, []byte]](), reflect.TypeFor[*Containers](), reflect.TypeFor[Level](),
	reflect.TypeFor[float32](), reflect.TypeFor[map[int8][]uint8](), reflect.TypeFor[[2]*bool](),
}

// Generate fills what testing/quick cannot, because fields of unexported embedded types are not settable from there.
func (Embedding) Generate(r *rand.Rand, size int) reflect.Value {
	e := Embedding{Base: Base{ID: "i", Shadow: r.Intn(9)}, Own: "o", Level: "l"}
	e.Deep, e.base2.Twice = int8(r.Intn(9)), r.Intn(9)
	if r.Intn(2) == 0 {
		note := "n"
		e.Extra = &Extra{Shadow: "s", Note: &note}
	}
	return reflect.ValueOf(e)
}

// Generate keeps the depth small.
func (List) Generate(r *rand.Rand, size int) reflect.Value {
	return reflect.ValueOf(makeList(r, 4))
}

func makeList(r *rand.Rand, depth int) List {
	if depth == 0 || r.Intn(5) == 0 {
		return nil
	}
	l := make(List, r.Intn(4))
	for i := range l {
		l[i] = makeList(r, depth-1)
	}
	return l
}

// Generate keeps the depth small.
func (Graph) Generate(r *rand.Rand, size int) reflect.Value {
	g := Graph{}
	for _, name := range []string{"a", "~/", "\x00"}[:r.Intn(4)] {
		if r.Intn(3) == 0 {
			g[name] = nil
		} else {
			g[name] = Graph{"leaf": nil}
		}
	}
	return reflect.ValueOf(g)
}
