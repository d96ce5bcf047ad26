package audit

import (
	"errors"
	"fmt"
)

// Errors of calls.
var (
	// ErrAccess is returned for an access that cannot be noted: it has no tenant, or a part that is no text.
	ErrAccess = errors.New("audit: an access needs a tenant, and parts that are text")

	// ErrAnchor is returned by Verify for an anchor that says nothing of what is there: it is of another tenant, or older than what was
	// kept by Trim. All else was found in order.
	ErrAnchor = errors.New("audit: the anchor is of another tenant, or older than all that is kept; take a newer one")

	// ErrOptions is returned when a log is opened with options that make no sense.
	ErrOptions = errors.New("audit: bad options")

	// ErrClosed is returned by a log that was closed.
	ErrClosed = errors.New("audit: log closed")

	// ErrUnavailable is returned when a log could not be reached or did not answer in time. Whether an access was noted is unknown.
	ErrUnavailable = errors.New("audit: log unavailable")

	// ErrCorrupt is returned when a log holds what this package did not write.
	ErrCorrupt = errors.New("audit: stored data cannot be read")

	// ErrNewerFormat is returned by an open for a log of a newer release, which is left as it is.
	ErrNewerFormat = errors.New("audit: the log was written by a newer release")
)

// A TamperedError says where a chain was changed by another way than this package.
type TamperedError struct {
	Tenant string
	N      int64 // of the first entry that is not as it was written, or is missing
	Reason string
}

// Error is one line.
func (e *TamperedError) Error() string {
	return fmt.Sprintf("audit: the log of tenant %q was tampered with at entry %d: %s", e.Tenant, e.N, e.Reason)
}
