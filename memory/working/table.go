package working

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// maxListed is how many entries that are not whole String lists.
const maxListed = 20

// String is a table for people, of 80 columns: each section, then what was shortened or dropped, up to 20 of them.
func (m Manifest) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %d tokens (before: %d), counted by %s\n", textwidth.Clip(name(m.Profile), 16), m.After, m.Limit, m.Before,
		textwidth.Clip(name(m.Counter), 12))
	fmt.Fprintf(&b, "%-14s %9s %9s %9s %9s %9s\n", "section", "tokens", "cap", "kept", "shortened", "dropped")
	for _, u := range m.Sections {
		fmt.Fprintf(&b, "%-14s %9d %9d %9d %9d %9d\n", u.Section, u.Tokens, u.Cap, u.Kept, u.Shortened, u.Dropped)
	}
	fmt.Fprintf(&b, "%-14s %9d\n", "frame", m.Frame)
	m.list(&b)
	verdict := "not needed"
	if m.Compaction.Needed {
		verdict = "needed"
	}
	fmt.Fprintf(&b, "compaction %s: %d tokens, trigger %d; prefix %.16s\n", verdict, m.Compaction.Tokens, m.Compaction.Trigger, m.Prefix)
	return b.String()
}

func (m Manifest) list(b *strings.Builder) {
	n := 0
	for _, e := range m.Entries {
		if e.Outcome == Kept {
			continue
		}
		if n++; n <= maxListed {
			id := pad(strings.TrimSpace(string(e.Source)+" "+e.ID), 20)
			fmt.Fprintf(b, "%-9s %-12s %s %7d -> %-6d %s\n", e.Outcome, e.Section, id, e.Tokens, e.Sent, e.Reason)
		}
	}
	if n > maxListed {
		fmt.Fprintf(b, "and %d more\n", n-maxListed)
	}
}

// pad returns a name in a number of columns, clipped or filled up.
func pad(s string, columns int) string {
	return textwidth.Pad(textwidth.Clip(name(s), columns), columns)
}
