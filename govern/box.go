package govern

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/memory"
)

// An Eraser has something of users. *session.Store and *longterm.Store are, and what Threads returns.
type Eraser interface {
	// Erase removes all that there is of a scope, and sees to it that what is under way brings nothing back. It may be repeated,
	// also after a crash in the middle of it.
	Erase(ctx context.Context, sc memory.Scope) error

	// Count returns how many things there are of a scope, of any kind.
	Count(ctx context.Context, sc memory.Scope) (int, error)
}

// A Box is an Eraser with the name that it has in a receipt.
type Box struct {
	Name string
	Eraser
}

// A readmitter refuses what comes for an erased scope, until it is told otherwise.
type readmitter interface {
	Readmit(ctx context.Context, sc memory.Scope) error
}

// Readmit lets a user in again whose scope was erased: boxes that refuse late writes take new ones. Nothing comes back.
func Readmit(ctx context.Context, sc memory.Scope, boxes ...Box) error {
	if err := sc.Valid(); err != nil {
		return err
	}
	var errs []error
	for _, b := range boxes {
		if r, ok := b.Eraser.(readmitter); ok {
			errs = append(errs, named(b.Name, r.Readmit(ctx, sc)))
		}
	}
	return errors.Join(errs...)
}
