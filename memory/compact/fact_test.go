package compact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/compact"
)

// The last line of an excerpt is no fact, be the excerpt older than the compaction or made by it.
func TestExcerptsAreNoFacts(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 2000, SummaryCap: 300, ChunkCap: 1000})
	history := slices.Concat(round(words(3000, false), "ok"), round(words(80000, false), "ok"), talk(8))
	st, report := do(t, c, scope, compact.State{History: history})
	if len(report.Excerpts) == 0 || strings.Contains(st.Summary.Text, "excerpt") || strings.Count(st.Summary.Text, "r_") != 1 {
		t.Errorf("%d excerpts, and the summary is\n%s", len(report.Excerpts), st.Summary.Text)
	}
}
