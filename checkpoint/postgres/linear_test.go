package postgres_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint/internal/linear"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
)

// C2, C4, C21: histories of 8 clients, some of whose calls are cut off, are those of one call after the other.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	seeds, ops := uint64(10), 2400
	if testing.Short() {
		seeds, ops = 3, 800
	}
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	s := open(t, o)
	for seed := range seeds {
		linear.Check(t, s, seed, ops)
	}
}
