package session

import (
	"errors"
	"fmt"
)

// Writes that are refused. Nothing of a refused write is stored.
var (
	// ErrUnconfirmed is returned for a fact, a confirmation, a pin or the lifting of one whose reference is not what it must
	// be: a call that succeeded, or a message of the user, stored in this conversation before or in the same write.
	ErrUnconfirmed = errors.New("session: only a successful tool result or a message of the user confirms; propose a candidate instead")

	// ErrUnknownField is returned for a field that the store was not opened with. The error is a *FieldError.
	ErrUnknownField = errors.New("session: unknown field")

	// ErrInvalidValue is returned for a value that its field does not allow. The error is a *FieldError.
	ErrInvalidValue = errors.New("session: invalid value")

	// ErrAmbiguous is returned for an answer that names no candidate where not exactly one is pending. The error is an
	// *AmbiguousError that lists them.
	ErrAmbiguous = errors.New("session: the answer could mean several candidates, or none; name one")

	// ErrNoCandidate is returned for the id of a candidate that this conversation does not have.
	ErrNoCandidate = errors.New("session: no such candidate in this conversation")

	// ErrNoPin is returned for the id of a pin that neither this conversation nor its scope has.
	ErrNoPin = errors.New("session: no such pin")

	// ErrExpired is returned for a candidate whose time is over: ask again.
	ErrExpired = errors.New("session: the candidate has expired; propose it again")

	// ErrSettled is returned for a candidate that was confirmed, rejected or overtaken before.
	ErrSettled = errors.New("session: the candidate is settled")

	// ErrConflict is returned for an id under which something else is stored.
	ErrConflict = errors.New("session: the id is taken by something else; give what is new an id of its own")

	// ErrTooLarge is returned for what is over a limit. The error is a *TooLargeError.
	ErrTooLarge = errors.New("session: over a limit")

	// ErrBadID is returned for an id that is empty, longer than MaxID, no valid UTF-8, or has a control character.
	ErrBadID = errors.New("session: bad id")

	// ErrMessage is returned for a message or a pin that is not well formed.
	ErrMessage = errors.New("session: not well formed")
)

// Other errors.
var (
	// ErrNotFound is returned for a conversation that is not there, or belongs to somebody else: the two look the same.
	ErrNotFound = errors.New("session: no such conversation in this scope")

	// ErrOptions is returned when a store is opened with fields or limits that make no sense.
	ErrOptions = errors.New("session: bad options")

	// ErrClosed is returned by a store that was closed.
	ErrClosed = errors.New("session: store closed")

	// ErrUnavailable is returned when a store could not be reached or did not answer in time. Whether a write happened is
	// unknown; repeating it unchanged is safe.
	ErrUnavailable = errors.New("session: store unavailable")

	// ErrCorrupt is returned when a store holds what this package did not write.
	ErrCorrupt = errors.New("session: stored data cannot be read")

	// ErrNewerFormat is returned by an open for a store of a newer release, which is left as it is.
	ErrNewerFormat = errors.New("session: the store was written by a newer release")
)

// A FieldError names the field and what is wrong with it or its value. It matches ErrUnknownField or ErrInvalidValue.
type FieldError struct {
	Err    error // one of the two
	Field  string
	Reason string // what is allowed
}

// Error is one line.
func (e *FieldError) Error() string { return fmt.Sprintf("%v: %q: %s", e.Err, e.Field, e.Reason) }

// Unwrap returns Err.
func (e *FieldError) Unwrap() error { return e.Err }

// An AmbiguousError lists the pending candidates, of which there are none or several. It matches ErrAmbiguous.
type AmbiguousError struct{ Candidates []Candidate }

// Error names the candidates.
func (e *AmbiguousError) Error() string {
	text := ErrAmbiguous.Error()
	for _, c := range e.Candidates {
		text += fmt.Sprintf("\n\t%s: %q = %s", c.ID, c.Field, c.Value)
	}
	return text
}

// Unwrap returns ErrAmbiguous.
func (e *AmbiguousError) Unwrap() error { return ErrAmbiguous }

// A TooLargeError says what is over which limit. It matches ErrTooLarge.
type TooLargeError struct {
	What        string // such as "tokens of the state"
	Size, Limit int
}

// Error is one line.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%v: %d %s, at most %d", ErrTooLarge, e.Size, e.What, e.Limit)
}

// Unwrap returns ErrTooLarge.
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

func within(what string, size, limit int) error {
	if size > limit {
		return &TooLargeError{what, size, limit}
	}
	return nil
}
