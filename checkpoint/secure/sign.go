package secure

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A Signed is a store in which edits are seen. Its methods are those of checkpoint.Store, and Anchor and Verify; the
// documentation of the package says what they protect.
type Signed struct {
	store
	chain *signing
}

var _ checkpoint.Store = (*Signed)(nil)

// Sign wraps a store so that each row carries a MAC of its content and its place, and each record also one of the record
// before it. Content stays readable. Closing it closes the store below. It returns ErrKeyring for keys that cannot be used.
//
// A record grows by 67 bytes and the length of the key's id, another row by 34 and the length. A body is copied once when
// it is written and not when it is read. An append needs the MAC of its predecessor: it is remembered from the load or
// from the append before, else it is read, which costs one more read.
func Sign(inner checkpoint.Store, keys Keyring) (*Signed, error) {
	r, err := newRing(keys, "sign")
	if err != nil {
		return nil, err
	}
	g := &signing{ring: r, inner: inner, tails: tails{threads: map[checkpoint.Key]*threadTails{}}}
	return &Signed{store{inner, g, r, "signed"}, g}, nil
}

// A mac is an HMAC-SHA-256.
type mac = [sha256.Size]byte

// A link is what a record says of the one before it. The first record of a chain has the zero link.
type link struct {
	mac   mac
	plain bool // that one is not signed: the MAC was made when its successor was
}

// signing is the guard of Sign.
type signing struct {
	ring  *ring
	inner checkpoint.Store
	tails tails
}

func (*signing) forms() (record, other form) { return formSignedRecord, formSignedRow }

// sum is the MAC of a row. head is all of the sealed body that stands before the MAC.
func sum(s secret, r *row, head, body []byte) (out mac) {
	m := hmac.New(sha256.New, s)
	bound := appendPart(make([]byte, 0, len(r.place)+len(head)+10), r.place)
	m.Write(appendPart(bound, head))
	m.Write(body)
	m.Sum(out[:0])
	return out
}

func (g *signing) seal(r *row, body []byte) []byte {
	out := appendHeader(make([]byte, 0, 2+len(g.ring.current)+len(mac{})+len(body)), formSignedRow, g.ring.current)
	m := sum(g.ring.secrets[g.ring.current], r, out, body)
	return append(append(out, m[:]...), body...)
}

func (g *signing) open(r *row, stored []byte) ([]byte, error) {
	id, head, rest, ok := cutHeader(stored)
	if !ok {
		return nil, r.refuse(ErrTampered)
	}
	_, body, err := g.check(r, id, head, rest)
	return body, err
}

// check compares the MAC at the beginning of rest with that of what is before and behind it.
func (g *signing) check(r *row, id string, head, rest []byte) (m mac, body []byte, err error) {
	s, err := g.ring.named(r, id)
	if err != nil {
		return mac{}, nil, err
	}
	if len(rest) < len(m) {
		return mac{}, nil, r.refuse(ErrTampered)
	}
	body = rest[len(m):]
	if m = sum(s, r, head, body); !hmac.Equal(m[:], rest[:len(m)]) {
		return mac{}, nil, r.refuse(ErrTampered)
	}
	return m, body, nil
}

// sealRecord signs a record and what it says of the one before it.
func (g *signing) sealRecord(key checkpoint.Key, r *checkpoint.Record, before link) (body []byte, next link) {
	at := recordRow(key, r)
	room := 2 + len(g.ring.current) + 1 + 2*len(mac{}) + len(r.Body)
	out := appendHeader(make([]byte, 0, room), formSignedRecord, g.ring.current)
	flags := byte(0)
	if before.plain {
		flags = 1
	}
	out = append(append(out, flags), before.mac[:]...)
	next.mac = sum(g.ring.secrets[g.ring.current], &at, out, r.Body)
	return append(append(out, next.mac[:]...), r.Body...), next
}

// openRecord checks a record by itself. next is what the record behind it has to say.
func (g *signing) openRecord(key checkpoint.Key, r *checkpoint.Record) (body []byte, before, next link, err error) {
	at := recordRow(key, r)
	id, head, rest, ok := cutHeader(r.Body)
	if !ok || len(rest) < 1+len(mac{}) || rest[0] > 1 {
		return nil, before, next, at.refuse(ErrTampered)
	}
	before.plain = rest[0] == 1
	copy(before.mac[:], rest[1:])
	n := 1 + len(mac{})
	next.mac, body, err = g.check(&at, id, r.Body[:len(head)+n], rest[n:])
	return body, before, next, err
}

// plainLink is what a signed record says of one that is not signed. Its MAC is under the key of the signed one.
func (g *signing) plainLink(key checkpoint.Key, r *checkpoint.Record, id string) link {
	at := recordRow(key, r)
	return link{mac: sum(g.ring.secrets[id], &at, nil, r.Body), plain: true}
}

func (g *signing) sealRecords(ctx context.Context, key checkpoint.Key, epoch int64, records []checkpoint.Record) (func(), error) {
	last := make(map[chainID]tail, 1)
	for i := range records {
		r := &records[i]
		id := chainID{r.Branch, r.Namespace}
		before, ok := last[id]
		if !ok || before.pos != r.Pos-1 {
			var err error
			if before.link, err = g.before(ctx, key, epoch, r); err != nil {
				return nil, err
			}
		}
		body, next := g.sealRecord(key, r, before.link)
		r.Body, last[id] = body, tail{r.Pos, next}
	}
	written := records[0].Ord >> 32
	return func() { g.tails.wrote(key, written, last) }, nil
}

// before is the link of a record to its predecessor: remembered, or read.
func (g *signing) before(ctx context.Context, key checkpoint.Key, epoch int64, r *checkpoint.Record) (link, error) {
	if r.Pos == 0 {
		return link{}, nil
	}
	if l, ok := g.tails.at(key, epoch, chainID{r.Branch, r.Namespace}, r.Pos-1); ok {
		return l, nil
	}
	chain := checkpoint.Chain{Key: key, Branch: r.Branch, Namespace: r.Namespace}
	rows, err := g.inner.Read(ctx, checkpoint.Query{Chain: chain, From: r.Pos - 1, To: r.Pos})
	if err != nil {
		return link{}, err
	}
	for i := range rows {
		at := row{key: key, record: &rows[i]}
		switch old := &rows[i]; {
		case old.Pos == r.Pos-1 && sealed(old.Body, formSignedRecord):
			_, _, next, err := g.openRecord(key, old)
			return next, err
		case old.Pos == r.Pos-1 && g.ring.adopt:
			return g.plainLink(key, old, g.ring.current), nil
		case old.Pos == r.Pos-1:
			return link{}, at.refuse(ErrPlain)
		case old.By == r.By && old.Ord == r.Ord && sealed(old.Body, formSignedRecord):
			_, before, _, err := g.openRecord(key, old) // a repeat, and retention has removed the one before it
			return before, err
		}
	}
	return link{}, nil // it does not fit, and the store will say so
}

func (g *signing) openRecords(key checkpoint.Key, records []checkpoint.Record, from int) error {
	var last link
	for i := range records[from:] {
		r := &records[from+i]
		id, _, _, _ := cutHeader(r.Body)
		body, before, next, err := g.openRecord(key, r)
		if err != nil {
			return err
		}
		known := true
		switch n := from + i; {
		case r.Pos == 0:
			last = link{}
		case n == 0:
			known = false // the predecessor was not read
		case n == from:
			last = g.plainLink(key, &records[n-1], id)
		}
		if known && before != last {
			at := row{key: key, record: r}
			return at.refuse(fmt.Errorf("%w: it was written behind another record", ErrTampered))
		}
		r.Body, last = body, next
	}
	return nil
}

// hide leaves the hash readable.
func (*signing) hide(_ checkpoint.Key, _ string, shown []byte) []byte { return shown }

func (g *signing) loaded(l *checkpoint.Loaded, last *checkpoint.Record, stored []byte) {
	if last == nil {
		return
	}
	t := tail{pos: last.Pos}
	if _, _, rest, ok := cutHeader(stored); ok && sealed(stored, formSignedRecord) {
		copy(t.mac[:], rest[1+len(mac{}):]) // the record was opened: it is whole
	} else {
		t.link = g.plainLink(l.Head.Key, last, g.ring.current)
	}
	g.tails.loaded(&l.Head, chainID{last.Branch, last.Namespace}, t)
}

func (g *signing) acquired(a *checkpoint.Acquire, h *checkpoint.Head) { g.tails.acquired(a, h) }
func (g *signing) deleted(key checkpoint.Key)                         { g.tails.deleted(key) }

// Signing is the signing store in a stack of stores of this package, which alone can make and verify anchors; nil if there is
// none.
func Signing(s checkpoint.Store) *Signed {
	switch s := s.(type) {
	case *Signed:
		return s
	case *Encrypted:
		return Signing(s.inner)
	}
	return nil
}
