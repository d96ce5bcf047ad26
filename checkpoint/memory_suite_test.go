package checkpoint_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/internal/linear"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory(t *testing.T) {
	t.Parallel()
	checkpointtest.Run(t, func(*testing.T) checkpoint.Store { return new(checkpoint.Memory) })
}

func TestMemoryIsLinearizable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed-", seed), func(t *testing.T) {
			t.Parallel()
			linear.Check(t, new(checkpoint.Memory), seed, 2_000)
		})
	}
}

func BenchmarkMemory(b *testing.B) {
	checkpointtest.Bench(b, func(*testing.B) checkpoint.Store { return new(checkpoint.Memory) })
}
