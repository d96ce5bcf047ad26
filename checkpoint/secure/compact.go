package secure

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// Compact implements checkpoint.Compacter. Where the store below is none it is errors.ErrUnsupported.
func (s *store) Compact(ctx context.Context) error {
	if c, ok := s.inner.(checkpoint.Compacter); ok {
		return c.Compact(ctx)
	}
	return fmt.Errorf("secure: the store below has no files: %w", errors.ErrUnsupported)
}
