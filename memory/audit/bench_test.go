package audit_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/audit/audittest"
)

func BenchmarkRecord(b *testing.B) {
	audittest.Bench(b, func(b *testing.B) *audit.Log {
		l, err := audit.NewMemory(audit.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { l.Close() })
		return l
	}, nil)
}
