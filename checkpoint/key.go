package checkpoint

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Key names a thread. Both parts are required, so that no query can forget the tenant.
type Key struct {
	Tenant string
	Thread string
}

// Valid reports whether both parts are there and are valid UTF-8 without NUL, which not every database can keep in a key.
func (k Key) Valid() error {
	for _, p := range [...]struct{ noun, s string }{{"tenant", k.Tenant}, {"thread", k.Thread}} {
		switch {
		case p.s == "":
			return fmt.Errorf("%w: the %s is empty", ErrBadKey, p.noun)
		case len(p.s) > MaxKeyBytes:
			return fmt.Errorf("%w: the %s has %d bytes, at most %d are allowed", ErrBadKey, p.noun, len(p.s), MaxKeyBytes)
		case !utf8.ValidString(p.s) || strings.ContainsRune(p.s, 0):
			return fmt.Errorf("%w: the %s is not valid UTF-8 without NUL", ErrBadKey, p.noun)
		}
	}
	return nil
}

// MaxKeyBytes is the largest tenant, thread, owner, run or question id in bytes.
const MaxKeyBytes = 512

// A Namespace is an encoded list of segments; the root is empty. The encoding puts the length before each segment, so
// two different lists never share an encoding, and a prefix of whole segments is a prefix of the bytes.
type Namespace string

// NamespaceOf encodes segments.
func NamespaceOf(segments ...string) Namespace {
	var b []byte
	for _, s := range segments {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return Namespace(b)
}

// Child returns the namespace one segment below n.
func (n Namespace) Child(segment string) Namespace { return n + NamespaceOf(segment) }

// Segments decodes n. It fails on bytes that NamespaceOf did not make.
func (n Namespace) Segments() ([]string, error) {
	var out []string
	for rest := string(n); rest != ""; {
		size, w := binary.Uvarint([]byte(rest[:min(len(rest), binary.MaxVarintLen64)]))
		if w <= 0 || size > uint64(len(rest)-w) {
			return nil, fmt.Errorf("%w: namespace %q is cut", ErrCorrupt, string(n))
		}
		out = append(out, rest[w:w+int(size)])
		rest = rest[w+int(size):]
	}
	return out, nil
}

// A Chain names one row of records.
type Chain struct {
	Key
	Branch    int32
	Namespace Namespace
}
