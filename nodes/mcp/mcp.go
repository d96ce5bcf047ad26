// Package mcp makes tools of those that a server of the Model Context Protocol offers.
//
//	client := sdk.NewClient(&sdk.Implementation{Name: "shop"}, &sdk.ClientOptions{ProgressNotificationHandler: mcp.Progress})
//	session, err := client.Connect(ctx, &sdk.CommandTransport{Command: exec.Command("orders-server")}, nil)
//	tools, err := mcp.Tools(ctx, session, mcp.Options{Prefix: "orders_", Rule: func(t *sdk.Tool) (mcp.Rule, bool) {
//		switch t.Name {
//		case "find":
//			return mcp.Rule{ReadOnly: true}, true
//		case "drop_all":
//			return mcp.Rule{Skip: true}, true
//		}
//		return mcp.Rule{}, false // a person decides about each call
//	}})
//
// The session is the program's: it connects, closes, and connects anew. sdk is github.com/modelcontextprotocol/go-sdk/mcp.
//
// # What is believed of a server
//
// Nothing but what Options.Rule says. Annotations such as readOnlyHint are the server's own words about itself: a Rule may read
// them, this package does not. A tool that no rule speaks of is one about which a person decides at each call, and is asked
// again when a process died in the middle of it: nobody knows whether the server can be called twice.
//
// Names, descriptions, schemas and instructions go into prompts with the authority of the program. Control characters and
// characters that nobody sees are taken out of them, and they are cut: 1024 bytes of a description, also of one inside a
// schema, as OpenAI takes no more, and 8192 of Instructions. What is left is still the server's text: connect to servers that
// you trust with it. Results are data and stay as they are.
//
// # Calls
//
// Each call carries the idempotency key of nodes.Invocation in its _meta, under KeyMeta. A server that honours it can be called
// again after a crash. Progress notifications become nodes.Progress if the client was made with Progress.
//
// A result is texts and images. Structured content is told as JSON text, unless a text says the same. Resources that have text
// are told with their address. Audio and other bytes are only mentioned. A result that is an error is an error of the tool,
// with its text; so is what the server refuses. Nothing is tried again here.
//
// A call whose connection ends is ErrLost. Nobody knows what came of it, and all later calls of the session are ErrLost too.
//
// # Caveats
//
// The SDK reads schemas and structured content as Go values: properties are sorted, and integers beyond 2^53 are rounded.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

var (
	// ErrList is returned when what a server lists cannot be made tools of.
	ErrList = errors.New("mcp: the server's list of tools cannot be used")

	// ErrLost is in the error of a call when the connection has ended. Connect anew and take the tools of the new session.
	ErrLost = errors.New("the connection to the server of the tool has ended; whether the call took effect is unknown")
)

// Limits of what a server may list.
const (
	maxTools       = 1000
	maxPages       = 1000
	maxDescription = 1024 // bytes; OpenAI refuses a request with a longer one
	maxInSchema    = 1024 // bytes of a description inside a schema
	maxSchema      = 64 << 10
	maxInstruction = 8192
)

// Options of Tools.
type Options struct {
	Prefix string // in front of each name, so that tools of two servers do not meet

	// Rule says what is known of a tool, by its name as the server calls it. False: nothing is known, and a person decides
	// about each call. Nil: nothing is known of any.
	Rule func(t *sdk.Tool) (Rule, bool)
}

// A Rule is what the program knows of a tool. See nodes.ToolOptions for its fields. The zero value lets it be called without
// asking, as what changes things and may be called again under the same key.
type Rule struct {
	Skip      bool // it is no tool of ours
	ReadOnly  bool
	Policy    nodes.Policy
	Actions   []string
	OnUnknown graph.OnUnknown
	Timeout   time.Duration
}

// unknown is the rule of a tool of which nothing is known.
var unknown = Rule{Policy: nodes.Ask, OnUnknown: graph.AskPerson}

// Tools lists the tools of a server, all pages, and makes each one that can be called through the session. Names keep letters,
// digits, - and _, up to 64 of them; other characters become _. Names that are no longer told apart get a hash of the whole
// name behind them, so that a name does not depend on the order of the list.
//
// Its errors are those of the session, and ErrList: a name twice, no end, more than 1000 tools, a schema of more than 64 KiB or
// of what is no object. Of a tool that is skipped only the name counts.
func Tools(ctx context.Context, session *sdk.ClientSession, o Options) ([]nodes.Tool, error) {
	listed, err := list(ctx, session)
	if err != nil {
		return nil, err
	}
	kept, rules := o.chosen(listed)
	names := namesOf(o.Prefix, kept)
	tools := make([]nodes.Tool, 0, len(kept))
	for i, t := range kept {
		schema, err := schemaOf(t)
		if err != nil {
			return nil, err
		}
		c := caller{session: session, name: t.Name}
		spec := working.Tool{Name: names[i], Description: about(t), Schema: schema}
		tools = append(tools, nodes.NewRawTool(spec, c.call, rules[i].options()))
	}
	return tools, nil
}

// chosen leaves out what the program does not want.
func (o Options) chosen(listed []*sdk.Tool) (kept []*sdk.Tool, rules []Rule) {
	for _, t := range listed {
		r := unknown
		if o.Rule != nil {
			if known, ok := o.Rule(t); ok {
				r = known
			}
		}
		if !r.Skip {
			kept, rules = append(kept, t), append(rules, r)
		}
	}
	return kept, rules
}

func (r Rule) options() nodes.ToolOptions[json.RawMessage, []message.Part] {
	return nodes.ToolOptions[json.RawMessage, []message.Part]{
		Actions: r.Actions, ReadOnly: r.ReadOnly, Policy: r.Policy, Timeout: r.Timeout, OnUnknown: r.OnUnknown,
	}
}

func list(ctx context.Context, session *sdk.ClientSession) (all []*sdk.Tool, err error) {
	seen := map[string]bool{}
	cursor := ""
	for range maxPages {
		page, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, fmt.Errorf("mcp: list the tools: %w", err)
		}
		for _, t := range page.Tools {
			if seen[t.Name] {
				return nil, fmt.Errorf("%w: %q is there twice", ErrList, clean(t.Name, 64))
			}
			seen[t.Name] = true
			all = append(all, t)
		}
		if len(all) > maxTools {
			break
		}
		if cursor = page.NextCursor; cursor == "" {
			return all, nil
		}
	}
	return nil, fmt.Errorf("%w: it has no end, or more than %d tools", ErrList, maxTools)
}

// about is the description, or the title of a tool without.
func about(t *sdk.Tool) string {
	if text := clean(t.Description, maxDescription); text != "" {
		return text
	}
	return clean(t.Title, maxDescription)
}

// Instructions returns what the server says of how to use it, "" if nothing. It is the server's text: put it into Role.System
// only if you trust the server as you trust your own prompt.
func Instructions(session *sdk.ClientSession) string {
	r := session.InitializeResult()
	if r == nil {
		return ""
	}
	return clean(r.Instructions, maxInstruction)
}
