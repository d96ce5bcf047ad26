package sqlite_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint/internal/linear"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
)

func TestStoreIsLinearizable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed-", seed), func(t *testing.T) {
			t.Parallel()
			linear.Check(t, open(t, sqlite.Options{Synchronous: sqlite.Durability(seed % 2)}), seed, 600)
		})
	}
}
