package nodes

import (
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/state"
)

// A Turn holds what the ready nodes keep in a thread. Embed it by value in the state of a graph. A node of your own may read all
// of it and write to Messages, Notes, Role and Notices; the rest belongs to the nodes that are named beside it.
type Turn struct {
	Scope        state.Last[memory.Scope] `json:"scope"`        // whose thread it is; the first Input sets it, for good
	Conversation state.Last[string]       `json:"conversation"` // id in the session store; the thread's id if Input did not say
	Asked        state.Ephemeral[Asked]   `json:"asked"`        // what this run was begun with; gone once load_working_state has read it

	Messages state.Keyed[message.Message] `json:"messages"` // the working copy of the history, which compact shortens
	Summary  state.Last[working.Summary]  `json:"summary"`  // of what compact took out
	Kept     state.Last[string]           `json:"kept"`     // id of the latest message that the conversation has too: load_working_state, write_back
	Told     state.Last[string]           `json:"told"`     // id of the latest message of the user that long-term memory was told: write_back
	Stored   state.Map[string, string]    `json:"stored"`   // id of a message or call -> id of the memory.Result with its full text

	Session   state.Last[session.State]  `json:"session"`   // load_working_state, and compact after facts have changed
	Inherited state.Last[[]pin.Pin]      `json:"inherited"` // pins of the agent that this one works for, maybe none: its messages are no user's
	Memories  state.Last[[]working.Item] `json:"memories"`  // load_long_term_memory
	Documents state.Last[[]working.Item] `json:"documents"` // retrieve_knowledge
	Notes     state.List[working.Note]   `json:"notes"`     // conclusions of earlier steps of this run; cleared when a run begins

	Role      state.Last[string]           `json:"role"`      // who answers; empty: the first of Config.Roles. Handing over sets it
	Decisions state.Map[string, Decision]  `json:"decisions"` // approve: by id and hash of the call; cleared when a run begins
	Passed    state.Set[string]            `json:"passed"`    // approve: ids of calls about which nobody has to decide any more; cleared as Decisions
	Jumps     state.Map[string, string]    `json:"jumps"`     // call_tools: id of the call -> node to go to next
	Changed   state.Sum[int]               `json:"changed"`   // call_tools: facts written since Session was read
	Prompt    state.Untracked[*Prompt]     `json:"prompt"`    // assemble: for the call that follows; never stored
	Report    state.Last[working.Manifest] `json:"report"`    // assemble: what was in the last prompt, what was not, and why; without the messages that were kept whole
	Status    state.Last[Status]           `json:"status"`    // what became of the turn
	Steps     state.Last[int]              `json:"steps"`     // calls of a model in this run
	Retries   state.Sum[int]               `json:"retries"`   // calls of a model that were tried again, in all
	Overflow  state.Last[Overflow]         `json:"overflow"`  // call_model: the provider takes less than the profile says
	Spent     Spent                        `json:"spent"`     // what models have used in this thread
	Notices   state.Last[[]string]         `json:"notices"`   // for the user, beside the answer: how a denial was understood
}

// Asked is what a run was begun with.
type Asked struct {
	Scope   memory.Scope `json:"scope"`
	Message string       `json:"message"` // id of the user's message
}

// A Status says what became of a turn.
type Status string

// The statuses.
const (
	Working   Status = "working"   // from load_working_state on
	Answered  Status = "answered"  // the last message is the answer
	Truncated Status = "truncated" // it is, and the model reached its limit of output tokens
	Ended     Status = "ended"     // a tool has ended the turn
)

// Spent adds up what models have used.
type Spent struct {
	Calls     state.Sum[int] `json:"calls"`
	Input     state.Sum[int] `json:"input"`
	Cached    state.Sum[int] `json:"cached"`
	Output    state.Sum[int] `json:"output"`
	Reasoning state.Sum[int] `json:"reasoning"`
}

// An Overflow remembers that a provider has refused a request as too long.
type Overflow struct {
	Times int  `json:"times"`          // in this turn
	Limit int  `json:"limit"`          // tokens that prompts may have, the answer included, a quarter more in each turn; 0: what the profile says
	Again bool `json:"again,omitzero"` // the model has not been asked again yet
}

// nextTurn lets prompts grow again: a limit is a guess, and may have been that of a model that was asked once.
func (o Overflow) nextTurn(most int) Overflow {
	limit := o.Limit + o.Limit/4
	if limit >= most {
		limit = 0
	}
	return Overflow{Limit: limit}
}

// A Prompt is what assemble hands to call_model.
type Prompt struct {
	working.Prompt
	Role Role   // who is asked
	last string // id of the last message that it was made of: a prompt of an older history is made anew
}
