package working_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/memory/working"
)

// A correction learns the ratio of what was reported to what was counted: not from few reports, not from wild ones, and never
// beyond its bounds. // R46
func TestCorrection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reports [][2]int // counted, reported
		times   int
		want    float64
	}{
		"nothing":           {nil, 1, 1},
		"too few":           {[][2]int{{100, 130}}, 19, 1},
		"enough":            {[][2]int{{100, 130}}, 20, 1.3},
		"lower":             {[][2]int{{100, 90}}, 20, 0.9},
		"far too high":      {[][2]int{{100, 900}}, 40, 1.5},
		"far too low":       {[][2]int{{100, 1}}, 40, 0.7},
		"some are wild":     {[][2]int{{100, 120}, {100, 120}, {100, 120}, {100, 100_000}, {100, 1}}, 10, 1.2},
		"some are nonsense": {[][2]int{{100, 120}, {0, 5}, {0, 0}, {100, 0}, {100, -3}, {-1, 3}}, 30, 1.2},
	} {
		var x working.Correction
		for range c.times {
			for _, r := range c.reports {
				x.Observe(r[0], r[1])
			}
		}
		if got := x.Ratio(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		again := working.NewCorrection(x.Samples())
		if again.Ratio() != x.Ratio() || !slices.Equal(again.Samples(), x.Samples()) || len(x.Samples()) > 100 {
			t.Errorf("%s: kept and read back it is %v", name, again.Ratio())
		}
	}
}

// What a corrected counter observes is put against its plain count: it does not correct its own correction.
func TestCorrectedCounter(t *testing.T) {
	t.Parallel()
	var x working.Correction
	for range 200 {
		c := x.Wrap(working.Estimate)
		counted := c.Count("some text that a provider counts as more than we do")
		plain := working.Estimate.Count("some text that a provider counts as more than we do")
		c.Observe(counted, plain*12/10)
	}
	if got := x.Ratio(); got < 1.1 || got > 1.3 {
		t.Errorf("%v, want about 1.2", got)
	}
	if c := x.Wrap(working.Estimate); c.Name() != "estimate, corrected" || c.Margin() != 0.15 || c.Count("") != 0 {
		t.Error(c.Name(), c.Margin())
	}
}

func TestCorrectionAtOnce(t *testing.T) {
	t.Parallel()
	var x working.Correction
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				x.Observe(100, 110)
				x.Ratio()
			}
		})
	}
	all.Wait()
	if got := x.Ratio(); math.Abs(got-1.1) > 1e-9 {
		t.Error(got)
	}
}
