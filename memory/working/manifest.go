package working

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// An Outcome says what became of an entry.
type Outcome string

// The outcomes.
const (
	Kept      Outcome = "kept"
	Shortened Outcome = "shortened"
	Dropped   Outcome = "dropped"
)

// A Reason says why an entry was shortened or dropped.
type Reason string

// The reasons.
const (
	TooLong    Reason = "too long"             // longer than what one may take
	OldResult  Reason = "older result"         // only the results of the latest step are told in full
	OverCap    Reason = "over cap"             // the section was full, and nothing was left over for it
	OverBudget Reason = "over budget"          // the section was not full, but the prompt was
	Duplicate  Reason = "duplicate"            // of a better one of the same origin and text
	Covered    Reason = "covered by summary"   // the summary stands for it
	NotUsed    Reason = "not used by profile"  // the profile has no room for such
	NoDocument Reason = "without its document" // a preference whose document was left out
)

// An Entry is one thing that was to be told, without its content.
type Entry struct {
	Section Section `json:"section"`
	Source  Source  `json:"source,omitzero"`
	ID      string  `json:"id"`     // of the message, item, note or tool; of a rule its number
	Tokens  int     `json:"tokens"` // of all of it
	Sent    int     `json:"sent"`   // of what is in the prompt
	Outcome Outcome `json:"outcome"`
	Reason  Reason  `json:"reason,omitzero"`
}

// A Use says what one section took.
type Use struct {
	Section   Section `json:"section"`
	Cap       int     `json:"cap"`    // some share one: see Caps
	Tokens    int     `json:"tokens"` // sent
	Kept      int     `json:"kept"`   // entries
	Shortened int     `json:"shortened"`
	Dropped   int     `json:"dropped"`
}

// Compaction says how near the part that compaction can shorten is to the limit.
type Compaction struct {
	Tokens  int  `json:"tokens"`  // hard zone, summary and history, whole; without what the summary covers
	Trigger int  `json:"trigger"` // from here on it is time
	Needed  bool `json:"needed"`
}

// A Manifest says what is in a prompt and what is not, and why. It is plain data and holds no content. Its sums hold: the
// tokens of the sections are those of their entries, and with Frame they are After; Before is the same of whole entries.
type Manifest struct {
	Profile    string     `json:"profile"`
	Counter    string     `json:"counter"`   // how tokens were counted
	MaxInput   int        `json:"max_input"` // of the profile
	Reserve    int        `json:"reserve"`   // of it, for the answer
	Limit      int        `json:"limit"`     // what is left of it, less the margin of the counter
	Before     int        `json:"before"`    // tokens if nothing had been left out
	After      int        `json:"after"`     // tokens of the request
	Frame      int        `json:"frame"`     // of it, what holds the parts together
	Sections   []Use      `json:"sections"`
	Entries    []Entry    `json:"entries"`
	Prefix     string     `json:"prefix"` // SHA-256 of rules and tools in hex: equal as long as a provider can cache them
	Compaction Compaction `json:"compaction"`
}

// record adds up the entries of a prompt that has some tokens in all.
func (a *Assembler) record(in Input, entries []Entry, after int) Manifest {
	m := Manifest{
		Profile: a.profile.Name, Counter: a.counter.Name(), MaxInput: a.profile.MaxInput, Reserve: a.profile.Reserve,
		Limit: a.limit, After: after, Frame: after, Entries: entries, Prefix: prefix(in.System, in.Tools),
	}
	uses := map[Section]*Use{}
	for _, s := range sections {
		m.Sections = append(m.Sections, Use{Section: s, Cap: a.profile.cap(s)})
	}
	for i := range m.Sections {
		uses[m.Sections[i].Section] = &m.Sections[i]
	}
	for _, e := range entries {
		uses[e.Section].add(e)
		m.Frame -= e.Sent
		m.Before += e.Tokens
		if compactible(e) {
			m.Compaction.Tokens += e.Tokens
		}
	}
	m.Before += m.Frame
	m.Compaction.Tokens += m.Frame
	m.Compaction.Trigger = int(a.profile.Trigger * float64(a.limit))
	m.Compaction.Needed = m.Compaction.Tokens >= m.Compaction.Trigger
	return m
}

func (u *Use) add(e Entry) {
	u.Tokens += e.Sent
	switch e.Outcome {
	case Kept:
		u.Kept++
	case Shortened:
		u.Shortened++
	case Dropped:
		u.Dropped++
	}
}

// compactible reports whether an entry is of the hard zone or of what compaction works on.
func compactible(e Entry) bool {
	switch e.Section {
	case SectionNotes, SectionMemories, SectionKnowledge:
		return false
	}
	return e.Reason != Covered
}

// prefix is a hash of what comes first in each request, in which no two lists of texts look alike.
func prefix(rules []string, tools []Tool) string {
	h := sha256.New()
	write := func(texts ...string) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(texts))))
		for _, t := range texts {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(t))))
			h.Write([]byte(t))
		}
	}
	write(rules...)
	for _, t := range tools {
		write(t.Name, t.Description, t.Schema)
	}
	return hex.EncodeToString(h.Sum(nil))
}
