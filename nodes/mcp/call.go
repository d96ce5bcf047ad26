package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// KeyMeta is the name of the idempotency key in the _meta of a call.
const KeyMeta = "io.github.holdfast-go/idempotency-key"

// A ToolError is what a tool says when it failed, or what the server says when it refuses a call.
type ToolError struct {
	Tool string // as the server calls it
	Code int64  // of JSON-RPC; 0: the tool ran and reports the error itself
	Text string // the server's own
}

// Error is what the model reads.
func (e *ToolError) Error() string {
	if e.Code == 0 {
		return e.Text
	}
	return fmt.Sprintf("The server refused the call: %s (%d)", e.Text, e.Code)
}

// A caller calls one tool of a server.
type caller struct {
	session *sdk.ClientSession
	name    string
}

func (c caller) call(ctx context.Context, args json.RawMessage) ([]message.Part, error) {
	p := &sdk.CallToolParams{Name: c.name, Meta: sdk.Meta{}}
	if len(args) > 0 {
		p.Arguments = args
	}
	if in, ok := nodes.Current(ctx); ok && in.Key != "" {
		p.Meta[KeyMeta] = in.Key
	}
	token, done := watch(ctx)
	defer done()
	p.SetProgressToken(token)
	r, err := c.session.CallTool(ctx, p)
	switch {
	case err != nil:
		return nil, c.failure(ctx, err)
	case r.NeedsInput():
		return nil, &ToolError{Tool: c.name, Text: "The tool wants to ask something back, which is not supported here."}
	case r.IsError:
		return nil, &ToolError{Tool: c.name, Text: errorText(r)}
	}
	return partsOf(r), nil
}

// failure tells the end of the context, the server's refusal and a lost connection apart.
func (c caller) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	refused, ok := errors.AsType[*jsonrpc.Error](err)
	if ok && !errors.Is(err, sdk.ErrConnectionClosed) && !errors.Is(err, sdk.ErrSessionMissing) {
		return &ToolError{Tool: c.name, Code: refused.Code, Text: refused.Message}
	}
	return fmt.Errorf("%w (%w)", ErrLost, err)
}
