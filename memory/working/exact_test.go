package working_test

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/memory/working/tiktoken"
)

// By the exact tokenizer every prompt leaves the answer its reserve, whether it was made by the estimate or by that
// tokenizer. // R55, report 99, report 163, report 166
func TestWithinTheLimitByTheExactTokenizer(t *testing.T) {
	t.Parallel()
	exact := working.Cached(tiktoken.O200k(), 20_000)
	worst, prompts := 0.0, 0
	for seed := range inputs() / 5 {
		g := newGen(seed)
		in, profile := g.input(), g.profile()
		for _, c := range []working.Counter{working.Estimate, exact} {
			a, err := working.New(profile, c)
			if err != nil {
				t.Fatal(err)
			}
			p, err := a.Assemble(in)
			if errors.Is(err, working.ErrBudget) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			prompts++
			n, limit := working.CountRequest(exact, p.Messages, p.Tools), profile.MaxInput-profile.Reserve
			worst = max(worst, float64(n)/float64(limit))
			if n > limit {
				t.Errorf("seed %d by %s: %d tokens of %d", seed, c.Name(), n, limit)
			}
		}
	}
	if prompts == 0 {
		t.Fatal("no input made a prompt")
	}
	t.Logf("%d prompts, the fullest has %.1f%% of what it may", prompts, worst*100)
}
