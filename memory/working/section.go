package working

// A Section is a part of a prompt with a budget of its own.
type Section string

// The sections. The first four are the hard zone, of which nothing is ever left out.
const (
	SectionSystem       Section = "system"       // rules, identity, and the tools
	SectionState        Section = "state"        // session state and pins
	SectionQuestion     Section = "question"     // the latest user message
	SectionStep         Section = "step"         // the latest calls and their results; they may be shortened
	SectionSummary      Section = "summary"      // of older messages
	SectionRecent       Section = "recent"       // the rounds before the question
	SectionObservations Section = "observations" // earlier calls and results of this turn
	SectionNotes        Section = "notes"        // conclusions of earlier steps of this run
	SectionMemories     Section = "memories"     // recalled from long-term memory
	SectionKnowledge    Section = "knowledge"    // recalled from documents and the graph
)

// sections is the order of a manifest.
var sections = []Section{
	SectionSystem, SectionState, SectionQuestion, SectionStep, SectionSummary, SectionRecent,
	SectionObservations, SectionNotes, SectionMemories, SectionKnowledge,
}

// movable are the sections that an order arranges.
var movable = []Section{SectionSummary, SectionRecent, SectionNotes, SectionMemories, SectionKnowledge}

// section is where an item of a source belongs; "" for a source that is not known.
func (s Source) section() Section {
	switch s {
	case LongTerm:
		return SectionMemories
	case Knowledge, Graph:
		return SectionKnowledge
	}
	return ""
}
