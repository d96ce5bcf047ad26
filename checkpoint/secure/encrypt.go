package secure

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// An Encrypted is a store whose content cannot be read or moved without the key. Its methods are those of
// checkpoint.Store; the documentation of the package says what they protect.
type Encrypted struct{ store }

var _ checkpoint.Store = (*Encrypted)(nil)

// Encrypt wraps a store so that bodies, answers and error texts are encrypted and bound to their place. Closing it
// closes the store below. It returns ErrKeyring for keys that cannot be used.
//
// A row grows by 30 bytes and the length of the key's id. A body is copied once when it is written and once when it is
// read. To chain the records of an encrypted store as well, sign below: Encrypt(Sign(store)).
func Encrypt(inner checkpoint.Store, keys Keyring) (*Encrypted, error) {
	r, err := newRing(keys, "encrypt")
	if err != nil {
		return nil, err
	}
	g := &encryption{ring: r, threads: map[threadKey]*threadCipher{}}
	if _, err := newThreadCipher(r.secrets[r.current], checkpoint.Key{}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeyring, err) // as under GODEBUG=fips140=only
	}
	return &Encrypted{store{inner, g, r, "encrypted"}}, nil
}

// encryption is the guard of Encrypt.
type encryption struct {
	ring *ring

	mu      sync.Mutex
	threads map[threadKey]*threadCipher // the last ones used
}

type threadKey struct {
	checkpoint.Key
	id string
}

// maxThreads is how many threads a wrapper remembers something of.
const maxThreads = 4096

// A threadCipher has the keys of one thread.
type threadCipher struct {
	aead  cipher.AEAD
	nonce []byte // key of the nonces of records
	shown []byte // key of the hashes of what was shown
}

// newThreadCipher derives the keys of one thread, so that the limit of a key is a limit of a thread.
func newThreadCipher(s secret, key checkpoint.Key) (*threadCipher, error) {
	out, err := hkdf.Expand(sha256.New, s, string(newPlace("thread", key, 0)), 3*KeyBytes)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(out[:KeyBytes])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &threadCipher{aead, out[KeyBytes : 2*KeyBytes], out[2*KeyBytes:]}, nil
}

// cipher is that of a thread under a key. The secret was tried by Encrypt, so deriving cannot fail.
func (e *encryption) cipher(key checkpoint.Key, id string, s secret) *threadCipher {
	k := threadKey{key, id}
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.threads[k]
	if c == nil {
		var err error
		if c, err = newThreadCipher(s, key); err != nil {
			panic(err)
		}
		evict(e.threads, maxThreads)
		e.threads[k] = c
	}
	return c
}

// evict makes room for one more: any one goes.
func evict[K comparable, V any](m map[K]V, most int) {
	for k := range m {
		if len(m) < most {
			return
		}
		delete(m, k)
	}
}

func (*encryption) forms() (record, other form) { return formEncrypted, formEncrypted }

func (e *encryption) seal(r *row, body []byte) []byte {
	c := e.cipher(r.key, e.ring.current, e.ring.secrets[e.ring.current])
	size := c.aead.NonceSize()
	room := 2 + len(e.ring.current) + size + len(body) + c.aead.Overhead()
	out := appendHeader(make([]byte, 0, room), formEncrypted, e.ring.current)
	bound := appendPart(slices.Clip(r.place), out) // the header, too
	from := len(out)
	out = out[:from+size]
	if r.record == nil {
		rand.Read(out[from:]) // never fails (crypto/rand)
	} else {
		c.fixedNonce(out[from:], bound, body)
	}
	return c.aead.Seal(out, out[from:], body, bound)
}

// fixedNonce makes a nonce that is the same for the same record only, so that a repeated append has the same bytes. To
// everybody without the key it looks random, and it repeats as rarely as a random one.
func (c *threadCipher) fixedNonce(nonce, bound, body []byte) {
	m := hmac.New(sha256.New, c.nonce)
	m.Write(appendPart(nil, bound))
	m.Write(body)
	var sum [sha256.Size]byte
	copy(nonce, m.Sum(sum[:0]))
}

func (e *encryption) open(r *row, stored []byte) ([]byte, error) {
	id, header, rest, ok := cutHeader(stored)
	if !ok {
		return nil, r.refuse(ErrTampered)
	}
	s, err := e.ring.named(r, id)
	if err != nil {
		return nil, err
	}
	c := e.cipher(r.key, id, s)
	size := c.aead.NonceSize()
	if len(rest) < size+c.aead.Overhead() {
		return nil, r.refuse(ErrTampered)
	}
	body, err := c.aead.Open(nil, rest[:size], rest[size:], appendPart(slices.Clip(r.place), header))
	if err != nil {
		return nil, r.refuse(ErrTampered)
	}
	return body, nil
}

func (e *encryption) sealRecords(_ context.Context, key checkpoint.Key, _ int64, records []checkpoint.Record) (func(), error) {
	for i := range records {
		at := recordRow(key, &records[i])
		records[i].Body = e.seal(&at, records[i].Body)
	}
	return func() {}, nil
}

func (e *encryption) openRecords(key checkpoint.Key, records []checkpoint.Record, from int) error {
	for i := range records[from:] {
		r := &records[from+i]
		at := recordRow(key, r)
		body, err := e.open(&at, r.Body)
		if err != nil {
			return err
		}
		r.Body = body
	}
	return nil
}

// hide keys the hash: prompts can be guessed, and a bare hash would confirm a guess.
func (e *encryption) hide(key checkpoint.Key, id string, shown []byte) []byte {
	if id == "" {
		id = e.ring.current
	}
	m := hmac.New(sha256.New, e.cipher(key, id, e.ring.secrets[id]).shown)
	m.Write(shown)
	return m.Sum(nil)
}

func (*encryption) loaded(*checkpoint.Loaded, *checkpoint.Record, []byte) {}
func (*encryption) acquired(*checkpoint.Acquire, *checkpoint.Head)        {}
func (*encryption) deleted(checkpoint.Key)                                {}
