package working

import (
	"math"
	"slices"
	"sync"
)

// The bounds of a correction. Below minSamples nothing is corrected; the newest maxSamples count.
const (
	minSamples = 20
	maxSamples = 100
	minRatio   = 0.7
	maxRatio   = 1.5
)

// A Correction learns how far the counts for one model are from what its provider reports. Keep one for each model and counter.
// It is the median of the newest 100 ratios of reported to counted, so that a few wild reports change nothing, between 0.7
// and 1.5, and 1 until there are 20. The same reports in the same order give the same ratio. It is safe for concurrent
// use; the zero Correction knows nothing and is ready.
type Correction struct {
	mu      sync.Mutex
	samples []float64 // oldest first
}

// NewCorrection returns a correction that goes on from the samples of another, such as one of an earlier process. Samples that
// no report can have made are left out.
func NewCorrection(samples []float64) *Correction {
	c := new(Correction)
	for _, s := range samples {
		c.add(s)
	}
	return c
}

// Samples returns what was learned, oldest first: plain data to store. The slice is a copy.
func (c *Correction) Samples() []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.samples)
}

// Observe learns from one request: what a plain counter counted, and the input tokens that the provider reported, cached ones
// among them. A count of a [Corrected] is for its own Observe.
func (c *Correction) Observe(counted, reported int) {
	c.add(float64(reported) / float64(counted))
}

func (c *Correction) add(ratio float64) {
	if !(ratio > 0) || math.IsInf(ratio, 1) { // NaN too
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples = append(c.samples, ratio)
	c.samples = slices.Delete(c.samples, 0, max(0, len(c.samples)-maxSamples))
}

// Ratio is what counts are multiplied by at present.
func (c *Correction) Ratio() float64 {
	sorted := c.Samples()
	if len(sorted) < minSamples {
		return 1
	}
	slices.Sort(sorted)
	half := len(sorted) / 2
	median := (sorted[half] + sorted[len(sorted)-1-half]) / 2
	return min(maxRatio, max(minRatio, median))
}

// A Corrected counts by another counter and multiplies by the ratio that a correction had when it was made, rounded up. Make
// one for each call of a model, so that all of the call is counted by one measure; then give Observe what the call used.
type Corrected struct {
	Counter
	by    *Correction
	ratio float64
}

// Wrap returns a counter corrected by what is known now.
func (c *Correction) Wrap(counter Counter) Corrected { return Corrected{counter, c, c.Ratio()} }

// Count counts the corrected tokens of a text.
func (c Corrected) Count(text string) int {
	return int(math.Ceil(float64(c.Counter.Count(text)) * c.ratio))
}

// Name says that the count was corrected.
func (c Corrected) Name() string { return c.Counter.Name() + ", corrected" }

// Observe learns from the call that this counter was made for: what it counted for the whole request, and the input tokens that the
// provider reported, cached ones among them.
func (c Corrected) Observe(counted, reported int) {
	c.by.add(float64(reported) / (float64(counted) / c.ratio))
}
