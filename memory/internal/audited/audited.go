// Package audited notes the accesses of a box with its auditor.
package audited

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// A Log is where the accesses of a box are noted. The zero Log notes nothing, at no cost.
type Log struct {
	Auditor memory.Auditor
	Box     string
	Kinds   []Kind // of its errors, the first that matches
}

// A Kind is the short name of an error.
type Kind struct {
	Err  error
	Name string
}

// kinds are of errors that all boxes have.
var kinds = []Kind{
	{memory.ErrErased, "erased"}, {memory.ErrAgent, "no agent"}, {memory.ErrNoResult, "not found"}, {context.Canceled, "cancelled"},
	{context.DeadlineExceeded, "timeout"},
}

// MostItems are listed of an access; the others are counted.
const MostItems = 100

// wait is how long a write that has happened waits for its note, when its context has ended.
const wait = 10 * time.Second

// Read is deferred by a call that reads. It notes what was read, or why not, and takes it back if that cannot be noted. a.Items are ids
// that were asked for; ids says what was returned, nil for the same.
func Read[T any](ctx context.Context, l *Log, a memory.Access, out *T, err *error, ids func(T) []string) {
	if l.off(a) {
		return
	}
	if *err == nil && ids != nil {
		a.Items = ids(*out)
	}
	if failed := l.record(ctx, a, l.result(*err)); failed != nil {
		*out, *err = *new(T), fmt.Errorf("%w: %w", memory.ErrAudit, failed)
	}
}

// Begin notes that a write is about to happen. Its error refuses it.
func (l *Log) Begin(ctx context.Context, a memory.Access) error {
	if l.off(a) {
		return nil
	}
	a.Write = true
	if failed := l.record(ctx, a, memory.AccessBegun); failed != nil {
		return fmt.Errorf("%w: %w", memory.ErrAudit, failed)
	}
	return nil
}

// End is deferred by a call that has begun to write. It notes how that ended. ids is as for Read.
func End[T any](ctx context.Context, l *Log, a memory.Access, out *T, err *error, ids func(T) []string) {
	if l.off(a) {
		return
	}
	if *err == nil && ids != nil {
		a.Items = ids(*out)
	}
	if failed := l.ended(ctx, a, *err); failed != nil {
		*out, *err = *new(T), failed
	}
}

// Ended is End for a write that returns nothing but an error.
func (l *Log) Ended(ctx context.Context, a memory.Access, err *error) {
	if l.off(a) {
		return
	}
	if failed := l.ended(ctx, a, *err); failed != nil {
		*err = failed
	}
}

func (l *Log) ended(ctx context.Context, a memory.Access, err error) error {
	a.Write = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	failed := l.record(ctx, a, l.result(err))
	switch {
	case failed == nil:
		return nil
	case err == nil:
		return &unnotedError{failed}
	}
	return fmt.Errorf("%w (and the audit log did not take how it ended: %w: %w)", err, memory.ErrAudit, failed)
}

// An unnotedError is of a write that happened. It matches memory.ErrAudit.
type unnotedError struct{ err error }

func (e *unnotedError) Error() string {
	return "memory: it is written, and the audit log did not take how it ended; it may be repeated: " + e.err.Error()
}

func (e *unnotedError) Unwrap() []error { return []error{memory.ErrAudit, e.err} }

// off reports whether there is nothing to note: a call without a tenant touches nothing.
func (l *Log) off(a memory.Access) bool { return l.Auditor == nil || a.Tenant == "" }

func (l *Log) record(ctx context.Context, a memory.Access, result string) error {
	a.Box, a.Result = l.Box, result
	a.Agent, a.Conversation = id(a.Agent), id(a.Conversation)
	var items []string
	for _, i := range a.Items {
		if i = id(i); i == "" {
			continue
		}
		if len(items) < MostItems {
			items = append(items, i)
		} else {
			a.More++
		}
	}
	a.Items = items
	return l.Auditor.Record(ctx, a)
}

// id is an id as it is noted. What cannot be one is content, for all anybody knows.
func id(s string) string {
	if _, err := memory.NewScope(cmp.Or(s, "-"), "-"); err != nil {
		return ""
	}
	return s
}

// result is the short name of how a call ended.
func (l *Log) result(err error) string {
	if err == nil {
		return memory.AccessOK
	}
	for _, of := range [][]Kind{l.Kinds, kinds} {
		for _, k := range of {
			if errors.Is(err, k.Err) {
				return k.Name
			}
		}
	}
	return "error"
}
