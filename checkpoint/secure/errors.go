package secure

import (
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// ErrKeyring is returned by Encrypt and Sign for keys that cannot be used: not 32 bytes, no id, or an id that is there twice.
var ErrKeyring = errors.New("secure: bad keyring")

// Why a stored row is refused. Each comes in a *RowError and also wraps checkpoint.ErrCorrupt.
var (
	// ErrTampered is returned for a row that is not what was written at its place: edited, moved, forged or cut.
	ErrTampered = errors.New("secure: the row is not what was written there")

	// ErrPlain is returned for a row that is not sealed although it had to be.
	ErrPlain = errors.New("secure: the row is not sealed")

	// ErrUnknownKey is returned for a row whose key is not in the keyring. RowError.KeyID says which one it is.
	ErrUnknownKey = errors.New("secure: the key of the row is not in the keyring")
)

// A RowError says which stored row is refused and why. It never holds anything of the row's content.
type RowError struct {
	Key   checkpoint.Key
	Row   string // "record 7 (E) of branch 0, namespace \"\"", "question q1", ...
	KeyID string // as the row names it; empty if it names none
	Why   error  // wraps ErrTampered, ErrPlain or ErrUnknownKey
}

// Error names the thread, the row and the reason.
func (e *RowError) Error() string {
	if errors.Is(e.Why, ErrUnknownKey) {
		return fmt.Sprintf("thread %s/%s, %s: %v: %q", e.Key.Tenant, e.Key.Thread, e.Row, e.Why, e.KeyID)
	}
	return fmt.Sprintf("thread %s/%s, %s: %v", e.Key.Tenant, e.Key.Thread, e.Row, e.Why)
}

// Unwrap gives the reason, and checkpoint.ErrCorrupt: repeating the call does not help.
func (e *RowError) Unwrap() []error { return []error{e.Why, checkpoint.ErrCorrupt} }
