package govern

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// ErrLeft is returned by Erase when a box has something of the scope after it was erased: somebody writes who was not refused. Call
// it again.
var ErrLeft = errors.New("govern: something of the scope is left; call Erase again")

// A Receipt says what an erasure did. It has nothing of the user but the Hash of the scope, so that it can be kept.
type Receipt struct {
	Scope   string    `json:"scope"` // its Hash
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Boxes   []Erasure `json:"boxes"` // in the order in which they were given
}

// An Erasure is what became of one box.
type Erasure struct {
	Box   string `json:"box"`
	Found int    `json:"found"` // things that it had
	Left  int    `json:"left"`  // things that it had when all boxes were done
	Error string `json:"error,omitzero"`
}

// Erase removes all that boxes have of a scope. A box that fails does not keep the others from it; then, or if anything is left, there
// is an error beside the receipt of what was done. It may be called again at any time, and must be after an error or a crash: what
// is done is found done. Boxes of memory refuse the scope from then on (memory.ErrErased) until Readmit, so the order does not
// matter.
//
// What databases, their logs, replicas and backups keep of deleted rows is not its concern: see Compact, and docs/governance.md.
func Erase(ctx context.Context, sc memory.Scope, boxes ...Box) (Receipt, error) {
	if err := errors.Join(sc.Valid(), known(boxes)); err != nil {
		return Receipt{}, err
	}
	r := Receipt{Scope: sc.Hash(), Started: time.Now().UTC(), Boxes: make([]Erasure, len(boxes))}
	errs := make([]error, len(boxes))
	for i, b := range boxes {
		r.Boxes[i].Box = b.Name
		r.Boxes[i].Found, errs[i] = b.Count(ctx, sc)
		errs[i] = errors.Join(errs[i], b.Erase(ctx, sc))
	}
	for i, b := range boxes { // what a box was told while the others were erased is in it now
		left, err := b.Count(ctx, sc)
		if err == nil && left > 0 {
			err = fmt.Errorf("%w: %d", ErrLeft, left)
		}
		errs[i] = named(b.Name, errors.Join(errs[i], err))
		r.Boxes[i].Left = left
		if errs[i] != nil {
			r.Boxes[i].Error = errs[i].Error()
		}
	}
	r.Ended = time.Now().UTC()
	return r, errors.Join(errs...)
}

// ErrBoxes is returned for boxes without a name or an eraser, or of which two have one name.
var ErrBoxes = errors.New("govern: each box needs a name of its own, and an eraser")

func known(boxes []Box) error {
	names := map[string]bool{}
	for _, b := range boxes {
		if b.Name == "" || b.Eraser == nil || names[b.Name] {
			return fmt.Errorf("%w: %.80q", ErrBoxes, b.Name)
		}
		names[b.Name] = true
	}
	if len(boxes) == 0 {
		return ErrBoxes
	}
	return nil
}

func named(box string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", box, err)
	}
	return nil
}
