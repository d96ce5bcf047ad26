package checkpoint

import (
	"fmt"
	"time"
)

// A Record is one immutable element of a chain. The store keeps all of it and understands none of Body.
type Record struct {
	Branch    int32
	Namespace Namespace
	Pos       int64     // place in the chain: 0, 1, 2 ... without gaps
	Ord       int64     // one increasing order over all chains of the thread: epoch<<32 | count of records in this acquisition
	By        int64     // who wrote it: Nonce.Writer of the acquisition; with Ord it identifies the record for a read-back
	Base      int64     // where a reader of this record must begin, in the same chain
	Step      int64     // step of the chain; it never restarts
	Kind      Kind      // what Body is
	At        time.Time // the store's clock when it was appended; set by the store, never used for order
	Body      []byte
}

// A Kind says what a record's body is. Its values are letters so that a dump can be read.
type Kind byte

// The kinds of records. Their bodies are described in docs/log-format.md.
const (
	KindInput    Kind = 'I' // a run starts
	KindEntry    Kind = 'E' // a superstep was committed
	KindSnapshot Kind = 'S' // all fields and the control state, right after an entry
	KindResult   Kind = 'R' // one task of an open superstep finished or failed
	KindOnce     Kind = 'O' // an effect inside a task began or was recorded
	KindPause    Kind = 'P' // the run stopped resumably: questions, breakpoint, drain, limit
	KindSettle   Kind = 'X' // an open superstep was closed without finishing
	KindEdit     Kind = 'D' // writes or routing by hand
	KindSeal     Kind = 'F' // first record of a chain of a new branch
	KindVoid     Kind = 'V' // results that a conflict refused no longer count
)

// Valid reports whether k is a kind that this version knows.
func (k Kind) Valid() bool {
	switch k {
	case KindInput, KindEntry, KindSnapshot, KindResult, KindOnce, KindPause, KindSettle, KindEdit, KindSeal, KindVoid:
		return true
	}
	return false
}

// MarshalText writes the letter.
func (k Kind) MarshalText() ([]byte, error) { return []byte{byte(k)}, nil }

// UnmarshalText reads the letter.
func (k *Kind) UnmarshalText(b []byte) error {
	if len(b) != 1 || !Kind(b[0]).Valid() {
		return fmt.Errorf("%w: unknown kind %q", ErrCorrupt, b)
	}
	*k = Kind(b[0])
	return nil
}

// Overhead is what a record counts beside its body, in bytes, when reading and storing are weighed against each other.
const Overhead = 64
