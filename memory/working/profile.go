package working

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Caps are the most tokens that each part of a prompt takes before what the others left over is given out. A soft part with
// a cap of 0 is not used at all. The hard zone is never cut to its cap; a manifest shows that it is over.
type Caps struct {
	System       int // rules and tools
	State        int // session state and pins
	Recent       int // messages before the question, the question itself, and the summary
	Summary      int // of Recent: the summary
	Memories     int // recalled from long-term memory
	Knowledge    int // recalled from documents and the graph
	Observations int // calls and results of this turn, and the notes
	Notes        int // of Observations: the notes
}

func (c Caps) sum() int {
	return c.System + c.State + c.Recent + c.Memories + c.Knowledge + c.Observations
}

// A Profile says how the prompts of one kind of task are made. Start from [Default] or a named one and change fields.
type Profile struct {
	Name     string
	MaxInput int // tokens that the model takes, the answer included
	Reserve  int // of them, left free for the answer
	Caps     Caps

	// Order is the order in which summary, recent, notes, memories and knowledge stand, and in which memories and knowledge
	// are served when there is too little for both. What stands before recent is told before the messages, what stands after it
	// just before the question.
	Order []Section

	Sources  []Source // that items are taken from; items of others are left out
	Rounds   int      // the latest rounds, at least 1, which are shortened rather than dropped; usually 2 to 6
	Excerpt  int      // the most tokens of a tool result that is not of the latest step
	Trigger  float64  // the share of the limit, over 0 up to 1, from which a manifest asks for compaction
	Language Language // of the words around data
}

// Default returns a profile for 24,000 tokens that uses every source.
func Default() Profile {
	return Profile{
		Name:     "default",
		MaxInput: 24_000,
		Reserve:  1_000,
		Caps: Caps{
			System: 4_000, State: 1_000, Recent: 6_000, Summary: 600, Memories: 2_000, Knowledge: 6_000,
			Observations: 4_000, Notes: 800,
		},
		Order:   []Section{SectionSummary, SectionRecent, SectionNotes, SectionMemories, SectionKnowledge},
		Sources: []Source{LongTerm, Knowledge, Graph},
		Rounds:  4,
		Excerpt: 400,
		Trigger: 0.8,
	}
}

// Answers returns a profile for plain questions and answers over documents, in 12,000 tokens: nothing is remembered of the
// user, and documents stand before the summary of what was said.
func Answers() Profile {
	return Profile{
		Name:     "answers",
		MaxInput: 12_000,
		Reserve:  1_000,
		Caps:     Caps{System: 2_000, State: 500, Recent: 3_000, Summary: 400, Knowledge: 4_500, Observations: 1_000, Notes: 200},
		Order:    []Section{SectionRecent, SectionKnowledge, SectionSummary, SectionNotes, SectionMemories},
		Sources:  []Source{Knowledge},
		Rounds:   2,
		Excerpt:  200,
		Trigger:  0.8,
	}
}

// Assistant returns a profile for a personal assistant, in 16,000 tokens: much of the conversation and of the user, little
// of documents.
func Assistant() Profile {
	return Profile{
		Name:     "assistant",
		MaxInput: 16_000,
		Reserve:  1_000,
		Caps: Caps{
			System: 3_000, State: 1_000, Recent: 5_000, Summary: 800, Memories: 3_000, Knowledge: 1_500,
			Observations: 1_500, Notes: 300,
		},
		Order:   []Section{SectionSummary, SectionRecent, SectionNotes, SectionMemories, SectionKnowledge},
		Sources: []Source{LongTerm, Knowledge},
		Rounds:  6,
		Excerpt: 200,
		Trigger: 0.8,
	}
}

// Operations returns a profile for the operation of systems by an enterprise: the caps of [Default], and documents before
// preferences and before the summary, since an answer must follow the norm.
func Operations() Profile {
	p := Default()
	p.Name = "operations"
	p.Order = []Section{SectionRecent, SectionNotes, SectionKnowledge, SectionMemories, SectionSummary}
	return p
}

// LongTask returns a profile for one task of many steps, in 64,000 tokens: results and notes of this run before all else,
// compacted early.
func LongTask() Profile {
	return Profile{
		Name:     "long task",
		MaxInput: 64_000,
		Reserve:  2_000,
		Caps: Caps{
			System: 6_000, State: 2_000, Recent: 16_000, Summary: 2_000, Memories: 2_000, Knowledge: 12_000,
			Observations: 24_000, Notes: 4_000,
		},
		Order:   []Section{SectionSummary, SectionRecent, SectionNotes, SectionKnowledge, SectionMemories},
		Sources: []Source{LongTerm, Knowledge, Graph},
		Rounds:  3,
		Excerpt: 300,
		Trigger: 0.7,
	}
}

// Uses reports whether items of a source can be in a prompt of this profile; what it does not use need not be recalled.
func (p Profile) Uses(s Source) bool { return slices.Contains(p.Sources, s) && p.cap(s.section()) > 0 }

// cap is the cap of a section; the question has none of its own.
func (p Profile) cap(s Section) int {
	switch s {
	case SectionSystem:
		return p.Caps.System
	case SectionState:
		return p.Caps.State
	case SectionQuestion, SectionRecent:
		return p.Caps.Recent
	case SectionSummary:
		return p.Caps.Summary
	case SectionMemories:
		return p.Caps.Memories
	case SectionKnowledge:
		return p.Caps.Knowledge
	case SectionStep, SectionObservations:
		return p.Caps.Observations
	case SectionNotes:
		return p.Caps.Notes
	}
	return 0
}

// ErrConfig is returned for a profile that cannot work. The error is a *ConfigError.
var ErrConfig = errors.New("working: the profile cannot work")

// A ConfigError lists all that is wrong with a profile. It matches ErrConfig.
type ConfigError struct {
	Profile string
	Faults  []string
}

// Error has one line for each fault.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("%v: %q\n\t%s", ErrConfig, e.Profile, strings.Join(e.Faults, "\n\t"))
}

// Is reports whether target is ErrConfig.
func (e *ConfigError) Is(target error) bool { return target == ErrConfig }

// Check returns a *ConfigError with all faults of the profile, or nil.
func (p Profile) Check() error {
	faults := slices.Concat(p.checkCaps(), p.checkOrder(), p.checkSources())
	if p.Rounds < 1 {
		faults = append(faults, fmt.Sprintf("Rounds is %d: at least the latest round stays", p.Rounds))
	}
	if p.Excerpt < 1 {
		faults = append(faults, fmt.Sprintf("Excerpt is %d: it is the tokens of an older tool result", p.Excerpt))
	}
	if !(p.Trigger > 0 && p.Trigger <= 1) { // NaN too
		faults = append(faults, fmt.Sprintf("Trigger is %v: it is a share of the limit, over 0 and up to 1", p.Trigger))
	}
	if int(p.Language) >= len(languages) {
		faults = append(faults, fmt.Sprintf("Language %d is not known", p.Language))
	}
	if faults == nil {
		return nil
	}
	return &ConfigError{p.Name, faults}
}

func (p Profile) checkCaps() (faults []string) {
	c := p.Caps
	for _, n := range []struct {
		name string
		n    int
	}{
		{"MaxInput", p.MaxInput}, {"Reserve", p.Reserve}, {"Caps.System", c.System}, {"Caps.State", c.State},
		{"Caps.Recent", c.Recent}, {"Caps.Summary", c.Summary}, {"Caps.Memories", c.Memories},
		{"Caps.Knowledge", c.Knowledge}, {"Caps.Observations", c.Observations}, {"Caps.Notes", c.Notes},
	} {
		if n.n < 0 || n.n > maxTokens {
			faults = append(faults, fmt.Sprintf("%s is %d: tokens are 0 to %d", n.name, n.n, maxTokens))
		}
	}
	if sum := c.sum() + p.Reserve; faults == nil && sum > p.MaxInput {
		faults = append(faults, fmt.Sprintf("the caps and Reserve add up to %d, MaxInput is %d", sum, p.MaxInput))
	}
	if c.Summary > c.Recent {
		faults = append(faults, fmt.Sprintf("Caps.Summary is %d of the %d of Caps.Recent", c.Summary, c.Recent))
	}
	if c.Notes > c.Observations {
		faults = append(faults, fmt.Sprintf("Caps.Notes is %d of the %d of Caps.Observations", c.Notes, c.Observations))
	}
	return faults
}

// maxTokens keeps sums of caps far from overflow.
const maxTokens = 1 << 30

func (p Profile) checkOrder() (faults []string) {
	seen := map[Section]int{}
	for _, s := range p.Order {
		seen[s]++
		if !slices.Contains(movable, s) {
			faults = append(faults, fmt.Sprintf("Order has %q, whose place is fixed or which is not known", s))
		}
	}
	for _, s := range movable {
		if seen[s] != 1 {
			faults = append(faults, fmt.Sprintf("Order has %q %d times: each of %q comes once", s, seen[s], movable))
		}
	}
	return faults
}

func (p Profile) checkSources() (faults []string) {
	for i, s := range p.Sources {
		switch {
		case s.section() == "":
			faults = append(faults, fmt.Sprintf("Sources has %q, which is not known", s))
		case slices.Contains(p.Sources[:i], s):
			faults = append(faults, fmt.Sprintf("Sources has %q twice", s))
		}
	}
	return faults
}
