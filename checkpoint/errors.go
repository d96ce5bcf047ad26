package checkpoint

import (
	"errors"
	"fmt"
	"time"
)

// Outcomes of writes.
var (
	// ErrStale is returned when a write comes too late: another holder has the thread, the thread is gone, or the position
	// is taken. Nothing of it was stored.
	ErrStale = errors.New("checkpoint: stale write: another holder has the thread")

	// ErrRolledBack is returned when the store has lost what it had acknowledged: the server crashed and came back without its
	// tail, or a replica took over that was behind. Nothing of the write was stored. It wraps ErrStale: the acquisition is
	// over. Whoever takes the thread next goes on from what is there; what was lost runs again under the same Once keys.
	ErrRolledBack = fmt.Errorf("checkpoint: the store came back older than what it had acknowledged (%w)", ErrStale)

	// ErrHeld is returned when a thread cannot be acquired as asked: load it again and decide.
	ErrHeld = errors.New("checkpoint: the thread is held")

	// ErrUnavailable is returned when a store could not be reached or did not answer in time. Whether the call happened is
	// unknown; repeating it unchanged is safe.
	ErrUnavailable = errors.New("checkpoint: store unavailable")

	// ErrClosed is returned by a store that was closed.
	ErrClosed = errors.New("checkpoint: store closed")
)

// Answers that are not taken.
var (
	// ErrNotPending is returned when a question is not open: answered, closed, dormant in another branch, or unknown.
	ErrNotPending = errors.New("checkpoint: the question is not pending")

	// ErrExpired is returned when an answer comes after the question's deadline.
	ErrExpired = errors.New("checkpoint: the question has expired")

	// ErrChanged is returned when an answer was given to something else than what is asked now.
	ErrChanged = errors.New("checkpoint: what was shown has changed")

	// ErrNotAllowed is returned when the one who answers is the one who must not.
	ErrNotAllowed = errors.New("checkpoint: this person must not answer")
)

// Things that are not there or not right.
var (
	// ErrNoThread is returned when a command is for a thread that does not exist.
	ErrNoThread = errors.New("checkpoint: no such thread")

	// ErrBadKey is returned for a key that no store takes.
	ErrBadKey = errors.New("checkpoint: bad key")

	// ErrTooLarge is returned when a value is larger than the store takes. Nothing was stored.
	ErrTooLarge = errors.New("checkpoint: too large")

	// ErrCorrupt is returned when stored bytes are not what this package wrote: cut, foreign, or of an unknown version.
	ErrCorrupt = errors.New("checkpoint: stored bytes cannot be read")

	// ErrNewerFormat is returned when a store was written by a newer release.
	ErrNewerFormat = errors.New("checkpoint: the store was written by a newer release; upgrade the program")

	// ErrPruned is returned when what is asked for was removed by retention.
	ErrPruned = errors.New("checkpoint: removed by retention")
)

// A NotPendingError tells who answered first, and what.
type NotPendingError struct {
	Question string
	State    QuestionState // Closed for an unknown question
	By       string
	At       time.Time
	Answer   []byte
}

// Error says which question and who won.
func (e *NotPendingError) Error() string {
	if e.State == Answered || len(e.Answer) > 0 {
		return fmt.Sprintf("checkpoint: question %s is not pending: answered by %q at %s", e.Question, e.By, e.At.Format(time.RFC3339))
	}
	return fmt.Sprintf("checkpoint: question %s is not pending", e.Question)
}

// Is makes errors.Is(err, ErrNotPending) true.
func (e *NotPendingError) Is(target error) bool { return target == ErrNotPending }

// A DuplicateError tells which run was started by the same request before.
type DuplicateError struct{ Run Run }

// Error names the run.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("checkpoint: request %q already started run %s", e.Run.Request, e.Run.ID)
}
