package redis

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/checkpoint"
	goredis "github.com/redis/go-redis/v9"
)

// A reply hands out what a script returned, one element after the other. The first error stays: such a reply does not come
// from a script of this package, or from a thread that another program wrote.
type reply struct {
	v   []any
	i   int
	err error
}

// newReply takes a list, or a single element as a list of one.
func newReply(v any, err error) *reply {
	if errors.Is(err, goredis.Nil) {
		v, err = nil, nil
	}
	r := &reply{err: failure(err)}
	if list, ok := v.([]any); ok {
		r.v = list
	} else {
		r.v = []any{v}
	}
	return r
}

// more reports whether there is an element.
func (r *reply) more() bool { return r.err == nil && r.i < len(r.v) }

func (r *reply) next() any {
	if r.err != nil {
		return nil
	}
	if r.i >= len(r.v) {
		r.fail("a reply", errors.New("it is too short"))
		return nil
	}
	r.i++
	return r.v[r.i-1]
}

// text is a string; nothing is an empty one.
func (r *reply) text() string {
	switch v := r.next().(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		r.fail("a string", fmt.Errorf("it is a %T", v))
		return ""
	}
}

// int is a whole number, also one in decimal; nothing is 0.
func (r *reply) int() int64 {
	switch v := r.next().(type) {
	case nil:
		return 0
	case int64:
		return v
	case string:
		if v == "" {
			return 0
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			r.fail("a number", err)
		}
		return n
	default:
		r.fail("a number", fmt.Errorf("it is a %T", v))
		return 0
	}
}

// int32 is a number of 32 bits, octet one of a byte: of a larger one the rest would be taken for another.
func (r *reply) int32() int32 {
	n := r.int()
	if n != int64(int32(n)) {
		r.fail("a number", fmt.Errorf("it is %d", n))
	}
	return int32(n)
}

func (r *reply) octet() uint8 {
	n := r.int()
	if n != int64(uint8(n)) {
		r.fail("a number", fmt.Errorf("it is %d", n))
	}
	return uint8(n)
}

// list is a list inside.
func (r *reply) list() *reply {
	v, ok := r.next().([]any)
	if !ok {
		r.fail("a list", errors.New("it is none"))
	}
	return &reply{v: v, err: r.err}
}

func (r *reply) nonce() (n checkpoint.Nonce) {
	s := r.text()
	if len(s) != 0 && len(s) != len(n) {
		r.fail("a nonce", fmt.Errorf("it has %d bytes", len(s)))
	}
	copy(n[:], s)
	return n
}

// json reads JSON into a value; nothing leaves it as it is.
func (r *reply) json(to any) {
	if s := r.text(); s != "" {
		if err := json.Unmarshal([]byte(s), to); err != nil {
			r.fail("a row", err)
		}
	}
}

func (r *reply) fail(noun string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s: %w", checkpoint.ErrCorrupt, noun, err)
	}
}

// head reads the fields of a head; a thread that is not there has Epoch 0.
func (r *reply) head(key checkpoint.Key, now int64) (h checkpoint.Head) {
	h.Key = key
	f := r.list()
	h.Epoch = f.int()
	h.Nonce = f.nonce()
	until := f.int()
	h.LeaseUntil = fromMillis(until)
	f.json(&h.Holder)
	h.Takeovers, h.Inbox = int(f.int()), f.int()
	h.Active, h.Branches = f.int32(), f.int32()
	h.Run, h.Status, h.Graph, h.Owner = f.text(), checkpoint.Status(f.octet()), f.text(), f.text()
	h.Created, h.Updated = fromMillis(f.int()), fromMillis(f.int())
	f.next() // the acquisition that was released last
	f.json(&h.Meta)
	if r.err == nil {
		r.err = f.err
	}
	if len(h.Meta) == 0 {
		h.Meta = nil
	}
	h.Expired = h.Held() && now >= until
	return h
}
