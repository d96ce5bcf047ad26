package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/longterm/sqlite"
)

// BenchmarkSearch is a whole search of one user: 99 of 100 take less than 20 ms over 2,000 facts, 60 ms over 100,000.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{2_000, 100_000} {
		path := filepath.Join(b.TempDir(), "app.db")
		back, err := sqlite.OpenBackend(path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := rowstest.Fill(b.Context(), back, "u", n); err != nil {
			b.Fatal(err)
		}
		s, err := longterm.New(back, longterm.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) { rowstest.Bench(b, s, "u") })
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
