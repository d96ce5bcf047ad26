package relate_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/facttest"
	"github.com/holdfast-go/holdfast/memory/internal/relate"
)

// A later fact takes the place of the one before, and of nothing beside it. // R71, report 132
func TestPairs(t *testing.T) {
	t.Parallel()
	pairs, seeds := facttest.Pairs(1, 200), uint64(20)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		pairs = append(pairs, facttest.Pairs(100+seed, 200)...)
	}
	wrong, lost := 0, 0
	for _, p := range pairs {
		if r := relate.Compare(p.Old, p.New); r != relate.Supersedes {
			wrong++
			t.Errorf("%s: %q, then %q: %v", p.Class, p.Old, p.New, r)
		}
		for _, n := range p.Neighbours {
			if r, back := relate.Compare(n, p.New), relate.Compare(p.Old, n); r != relate.Apart || back == relate.Supersedes {
				lost++
				t.Errorf("%s: %q, then %q: %v; %v to %q", p.Class, n, p.New, r, back, p.Old)
			}
		}
	}
	t.Logf("of %d pairs %d wrong; %d neighbours lost", len(pairs), wrong, lost)
}

//go:embed testdata/relations.txt
var relations string

// Sentences that people say, in pairs. // R69, R71, R81, R82
func TestRelations(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(relations), "\n") {
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		p := strings.Split(line, " | ")
		if r := relate.Compare(p[1], p[2]); r.String() != p[0] {
			t.Errorf("%q, then %q: %v, want %s", p[1], p[2], r, p[0])
		}
	}
}

func FuzzCompare(f *testing.F) {
	for _, p := range facttest.Pairs(5, 90) {
		f.Add(p.Old, p.New)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if relate.Compare(a, a) != relate.Same {
			t.Fatalf("%q is not the same as itself", a)
		}
		if relate.Compare(a, b) == relate.Same && relate.Compare(b, a) == relate.Supersedes {
			t.Fatalf("%q and %q are the same, and are not", a, b)
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	for b.Loop() {
		relate.Compare("生产环境的超时时间是 30 秒", "生产环境的超时时间改成 60 秒")
		relate.Compare("The timeout of payment-api is 30s", "Change the timeout of payment-api to 60s")
	}
}
