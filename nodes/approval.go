package nodes

import (
	"encoding/json"

	"github.com/holdfast-go/holdfast/message"
)

// ApproveQuestion is the name of the questions about calls, in events and in Question.Name.
const ApproveQuestion = "approve"

// An Approval is what a person is asked: the prompt of the question. The answer is a Decision, made with Approve, Edit, Reject
// or Respond:
//
//	app.Resume(ctx, thread, graph.Answer(open.Questions[0], nodes.Approve()))
type Approval struct {
	Call     message.Call    `json:"call"`
	Args     json.RawMessage `json:"args"`            // of the call, as JSON
	About    string          `json:"about"`           // the tool's description
	Reason   string          `json:"reason,omitzero"` // why somebody has to decide: a pin's or AskIf's words
	ReadOnly bool            `json:"read_only,omitzero"`
}

// An Action is what a person decides about a call.
type Action string

// The actions.
const (
	ActionApprove Action = "approve" // it runs as it is
	ActionEdit    Action = "edit"    // it runs with other arguments
	ActionReject  Action = "reject"  // it does not run; the model reads why
	ActionRespond Action = "respond" // it does not run; the model reads the person's text as its result
)

// A Decision is a person's answer about one call.
type Decision struct {
	Action Action          `json:"action" enum:"approve,edit,reject,respond"`
	Args   json.RawMessage `json:"args,omitzero"` // of edit
	Text   string          `json:"text,omitzero"` // of reject and respond
}

// Approve lets a call run as it is.
func Approve() Decision { return Decision{Action: ActionApprove} }

// Edit lets a call run with other arguments, which must fit the tool.
func Edit(args json.RawMessage) Decision { return Decision{Action: ActionEdit, Args: args} }

// Reject refuses a call, with a reason for the model.
func Reject(reason string) Decision { return Decision{Action: ActionReject, Text: reason} }

// Respond answers in the place of the tool, which does not run.
func Respond(text string) Decision { return Decision{Action: ActionRespond, Text: text} }
