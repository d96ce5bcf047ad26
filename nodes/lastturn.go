package nodes

import (
	"slices"

	"github.com/holdfast-go/holdfast/message"
)

// lastTurn is the history from the latest message of the user on, or all of it if there is none. It copies no more than that.
func lastTurn(t *Turn) []message.Message {
	var out []message.Message
	for _, m := range t.Messages.Backward() {
		out = append(out, m)
		if m.Role == message.RoleUser {
			break
		}
	}
	slices.Reverse(out)
	return out
}

// lastOfUser is the latest message of the user.
func lastOfUser(t *Turn) (message.Message, bool) {
	for _, m := range t.Messages.Backward() {
		if m.Role == message.RoleUser {
			return m, true
		}
	}
	return message.Message{}, false
}

// callerOf returns the message that has made a call.
func callerOf(t *Turn, call string) (message.Message, bool) {
	for _, m := range t.Messages.Backward() {
		if slices.ContainsFunc(m.Calls(), func(c message.Call) bool { return c.ID == call }) {
			return m, true
		}
	}
	return message.Message{}, false
}
