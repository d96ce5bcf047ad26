package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/message"
)

const handOffPrefix = "transfer_to_"

// handOff is the tool with which a role hands the conversation over to another one.
func (k *Kit) handOff(to string) Tool {
	about := fmt.Sprintf("Hands the conversation over to %s, who then answers the user.", to)
	for _, r := range k.c.Roles {
		if r.Name == to && r.Description != "" {
			about += " " + r.Description
		}
	}
	t := NewTool(handOffPrefix+to, about, func(ctx context.Context, _ struct{}) (string, error) {
		if winner, mine := k.handsOver(ctx); !mine {
			return fmt.Sprintf("Nothing was done: of several calls that hand over only the first counts, %s.", winner.Name), nil
		}
		return to + " answers from now on.", nil
	}, ToolOptions[struct{}, string]{
		ReadOnly: true,
		Then: func(ctx context.Context, t *Turn, _ struct{}, _ string) (string, error) {
			if _, mine := k.handsOver(ctx); mine {
				t.Role.Set(to)
			}
			return "", nil
		},
	})
	t.inline = true
	return t
}

// handsOver returns the call that hands over, and whether it is the present one: of parallel ones the first in the model's
// message, or their writes would contradict each other.
func (k *Kit) handsOver(ctx context.Context) (first message.Call, mine bool) {
	in, _ := Current(ctx)
	t, ok := TurnOf(ctx)
	if !ok {
		return in.Call, false
	}
	for _, c := range callsBeside(t, in.Call) {
		if k.mayHandOver(in.Role, c) {
			return c, c.ID == in.Call.ID
		}
	}
	return in.Call, true
}

// mayHandOver reports whether a call of a role hands over if no other one does.
func (k *Kit) mayHandOver(role string, c message.Call) bool {
	r := k.roles[role]
	to, ok := strings.CutPrefix(c.Name, handOffPrefix)
	if !ok || !slices.Contains(r.HandOff, to) {
		return false
	}
	tool, ok := r.tool(c.Name)
	return ok && tool.valid(json.RawMessage(argsOf(c))) == nil
}

// callsBeside are the calls of the message that has made a call.
func callsBeside(t *Turn, c message.Call) []message.Call {
	m, _ := callerOf(t, c.ID)
	return m.Calls()
}
