package nodes

import (
	"context"
	"encoding/json"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A Tool is a Go function that a model may call. Make it with NewTool, NewRawTool, SubAgent, or take those of an MCP server from
// nodes/mcp.
type Tool struct {
	spec     working.Tool
	readOnly bool
	actions  []string
	policy   Policy
	fourEyes bool
	within   time.Duration
	timeout  time.Duration
	unknown  graph.OnUnknown
	inline   bool // it has no effect of its own to record: a sub-agent, whose steps are recorded themselves
	err      error

	valid func(args json.RawMessage) error                                          // the arguments fit
	asks  func(ctx context.Context, args json.RawMessage) (reason string, ask bool) // may be nil
	run   func(ctx context.Context, args json.RawMessage) (value json.RawMessage, parts []message.Part, err error)
	facts func(ctx context.Context, src session.Source, args, value json.RawMessage) ([]session.Change, error) // may be nil
	then  func(ctx context.Context, t *Turn, args, value json.RawMessage) (string, error)                      // may be nil
	wraps []func(ctx context.Context, c message.Call, next func(context.Context, message.Call) (message.Result, error)) (message.Result, error)
}

// A Policy says whether a tool may be called.
type Policy string

// The policies. What a pin or AskIf says can only make them stricter.
const (
	Allow Policy = ""     // without asking
	Ask   Policy = "ask"  // a person decides about each call
	Deny  Policy = "deny" // never; the model is told
)

// ToolOptions of a tool with arguments A and result R.
type ToolOptions[A, R any] struct {
	Actions  []string // what it does, for the gate of pins: see pin.Tool
	ReadOnly bool     // it changes nothing: it is not recorded before its task has ended, and may run twice after a crash

	Policy   Policy
	AskIf    func(ctx context.Context, a A) (reason string, ask bool) // asks a person about some calls; the reason is shown
	FourEyes bool                                                     // the user of the conversation must not be the one who decides
	Within   time.Duration                                            // how long a decision may take before it is a rejection; 0: for ever

	Timeout   time.Duration   // of one call; default 2 minutes
	OnUnknown graph.OnUnknown // what to do when a process died in the middle of the effect; default graph.Again, under the same key

	Text  func(r R) string                                                         // how the model reads a result; default R itself if it is a string or parts, else JSON
	Facts func(ctx context.Context, src session.Source, a A, r R) []session.Change // what a result confirms, written with it
	Then  func(ctx context.Context, t *Turn, a A, r R) (next string, err error)    // writes to the state; a node to go to instead of the model, graph.End to end the turn, "" to go on
}
