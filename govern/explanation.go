package govern

import (
	"fmt"
	"slices"
	"time"
)

// An Explanation is the way of some words through all boxes, up to where it ended. It shows content only of items that the agent who
// asked may see. It is plain data.
type Explanation struct {
	Words  string  `json:"words"`
	Cause  Cause   `json:"cause"`
	Reason string  `json:"reason,omitzero"` // of Filtered, Parked, DroppedByBudget, LeftOut: what the box noted
	Item   string  `json:"item,omitzero"`   // id of what was stored
	Stages []Stage `json:"stages"`          // all of them, in order
	Prompt *Prompt `json:"prompt,omitzero"` // of the turn that is looked at: its last one
}

// A StageName names a stage.
type StageName string

// The stages, in the order of the way.
const (
	StageSaid      StageName = "said"
	StageQueued    StageName = "queued"
	StageExtracted StageName = "extracted"
	StageKept      StageName = "kept"
	StageCurrent   StageName = "current"
	StageRanked    StageName = "ranked"
	StageBudget    StageName = "budget"
	StagePrompt    StageName = "prompt"
)

var stages = []StageName{StageSaid, StageQueued, StageExtracted, StageKept, StageCurrent, StageRanked, StageBudget, StagePrompt}

// A Verdict says what became of the words at a stage.
type Verdict string

// The verdicts.
const (
	Passed  Verdict = "passed"
	Stopped Verdict = "stopped" // the way ends here: Explanation.Cause says why
	Unknown Verdict = "unknown" // there is no record, or no box to look into; the way went on
	Beyond  Verdict = "beyond"  // the way ended before
)

// A Stage is one of the way.
type Stage struct {
	Name    StageName `json:"name"`
	Verdict Verdict   `json:"verdict"`
	Found   []Finding `json:"found,omitzero"`
	English string    `json:"en"` // one line for people
	Chinese string    `json:"zh"`
}

// A Finding is a record of a box. Which fields it has depends on the stage.
type Finding struct {
	ID           string    `json:"id"` // of the message, job, item or prompt's run
	Conversation string    `json:"conversation,omitzero"`
	Message      string    `json:"message,omitzero"`
	Text         string    `json:"text,omitzero"` // of an item
	State        string    `json:"state,omitzero"`
	Reason       string    `json:"reason,omitzero"`
	By           string    `json:"by,omitzero"` // id of the version after
	At           time.Time `json:"at,omitzero"`
	Confidence   float64   `json:"confidence,omitzero"`
	Least        float64   `json:"least,omitzero"` // confidence that was needed
	Rank         int       `json:"rank,omitzero"`  // from 1
	Of           int       `json:"of,omitzero"`    // items that the turn took
	Score        float64   `json:"score,omitzero"`
	Coverage     float64   `json:"coverage,omitzero"` // how much of the question its words have
	Cosine       float64   `json:"cosine,omitzero"`
	Decay        float64   `json:"decay,omitzero"`
	Tokens       int       `json:"tokens,omitzero"`
	Sent         int       `json:"sent,omitzero"`
}

// A Prompt is the log of one prompt: what was read for it, and what became of that.
type Prompt struct {
	Thread       string    `json:"thread"`
	Conversation string    `json:"conversation"`
	Message      string    `json:"message"` // of the user, that it answers
	Run          string    `json:"run"`
	Step         int64     `json:"step"`
	At           time.Time `json:"at"`
	Read         []Read    `json:"read,omitzero"`
	Before       int       `json:"before"` // tokens if nothing had been left out
	After        int       `json:"after"`  // tokens of the request
	Limit        int       `json:"limit"`
}

// A Read says what was read from one store.
type Read struct {
	Source    string   `json:"source"` // "ltm", "rag", "graph"
	Kept      []string `json:"kept,omitzero"`
	Shortened []string `json:"shortened,omitzero"`
	Dropped   []string `json:"dropped,omitzero"`
}

// Stage returns one of the stages, or the zero Stage.
func (e Explanation) Stage(name StageName) Stage {
	for _, s := range e.Stages {
		if s.Name == name {
			return s
		}
	}
	return Stage{}
}

// Line is the cause in one line, in English or Chinese.
func (e Explanation) Line(chinese bool) string {
	i := 0
	if chinese {
		i = 1
	}
	line := said[e.Cause][i]
	if e.Reason != "" {
		line += " (" + e.Reason + ")"
	}
	return line
}

// pass notes that the words got beyond a stage.
func (e *Explanation) pass(name StageName, en, zh string, found ...Finding) {
	e.note(Stage{name, Passed, found, en, zh})
}

// miss notes that nothing is known of a stage.
func (e *Explanation) miss(name StageName, en, zh string) {
	e.note(Stage{Name: name, Verdict: Unknown, English: en, Chinese: zh})
}

// stop ends the way at a stage.
func (e *Explanation) stop(name StageName, c Cause, reason string, found ...Finding) {
	e.Cause, e.Reason = c, reason
	s := Stage{name, Stopped, found, e.Line(false), e.Line(true)}
	if c == InPrompt || c == Found {
		s.Verdict = Passed
	}
	e.note(s)
	at := slices.Index(stages, name)
	for i, n := range stages {
		switch {
		case i > at:
			e.note(Stage{Name: n, Verdict: Beyond, English: "it did not come that far", Chinese: "没有到达这一步"})
		case e.Stage(n).Name == "":
			e.miss(n, "nothing is recorded", "没有记录")
		}
	}
	slices.SortFunc(e.Stages, func(a, b Stage) int { return slices.Index(stages, a.Name) - slices.Index(stages, b.Name) })
}

func (e *Explanation) note(s Stage) {
	e.Stages = append(slices.DeleteFunc(e.Stages, func(o Stage) bool { return o.Name == s.Name }), s)
}

func both(format, formatZH string, args ...any) (en, zh string) {
	return fmt.Sprintf(format, args...), fmt.Sprintf(formatZH, args...)
}
