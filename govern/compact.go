package govern

import (
	"context"
	"errors"
	"fmt"
)

// A Compacter can write its files anew, without what was deleted. The stores of memory and of threads can.
type Compacter interface {
	Compact(ctx context.Context) error
}

// Compact has all of them do it, one after the other; one that fails does not keep the others from it. It belongs after an Erase, or
// after all those of a day: it costs as much as copying the stores, and on Postgres all calls wait for it.
func Compact(ctx context.Context, stores ...Compacter) error {
	var errs []error
	for i, s := range stores {
		if err := s.Compact(ctx); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			errs = append(errs, fmt.Errorf("govern: compact store %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}
