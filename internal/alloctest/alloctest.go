// Package alloctest tests that a decoder trusts no length in its input.
//
// JSON says nowhere how much is to come, and the one encoding here that does, a namespace, is compared with the bytes that
// are left. So what a decoder allocates has three parts, and a test states the last:
//
//   - 64 KiB, for what does not depend on the input;
//   - PerByte for each byte: copies of the input, and the stack of encoding/json's scanner, which takes 8 bytes a bracket and
//     four times as much while it grows, once or twice, and refuses more than 10,000;
//   - a fixed number of bytes for each value that is there. The smallest value of a document has two bytes ("1,"), while the
//     program's type for it may be a large struct; a decoder cannot be asked to hold a million numbers in two million bytes.
//     A document that is not valid JSON has no values: it is refused before anything is built.
package alloctest

import (
	"encoding/json"
	"runtime"
	"testing"
)

// Free is what a decoder may allocate for no bytes at all, and PerByte what it may for each byte.
const (
	Free    = 64 << 10
	PerByte = 80
)

// Bound fails the test if f allocates more than documents of these bytes can justify, with perValue bytes for each value in
// them. The counters are those of the process, so nothing else may run at the same time.
func Bound(t testing.TB, perValue int, f func(), docs ...[]byte) {
	t.Helper()
	size, values := 0, 0
	for _, d := range docs {
		size += len(d)
		values += Values(d)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(Free+PerByte*size+perValue*values); got > most {
		t.Fatalf("%d bytes with %d values made it allocate %d bytes, at most %d are justified: %.80q", size, values, got, most, docs)
	}
}

// Values counts the values and names of a document, 0 if it is not valid JSON.
func Values(doc []byte) int {
	if !json.Valid(doc) {
		return 0
	}
	n, quoted := 1, false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}
