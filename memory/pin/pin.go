// Package pin keeps what a user has forbidden, or ruled for good, in force: recognised by rule in Chinese and English, told
// back as it was understood, part of every prompt, and enforced at the gate that every tool call must pass. The gate does
// not trust the prompt.
package pin

import "time"

// An Effect is what a pin does.
type Effect string

// The effects.
const (
	Deny Effect = "deny" // an action is forbidden: the gate stops it
	Rule Effect = "rule" // a standing instruction: it is in every prompt
)

// A Pin is one denial or standing rule of a user.
type Pin struct {
	ID       string    `json:"id"`
	Effect   Effect    `json:"effect"`
	Text     string    `json:"text"`              // the user's own words
	Actions  []string  `json:"actions,omitzero"`  // of Deny: canonical names such as "restart"; none: every action that changes something
	Targets  []string  `json:"targets,omitzero"`  // of Deny: what it is about, in the user's words; none: everything
	Env      string    `json:"env,omitzero"`      // of Deny: development, testing or production; "": all
	Standing bool      `json:"standing,omitzero"` // kept beyond the conversation, because the user said so
	Message  string    `json:"message"`           // id of the message that said it
	At       time.Time `json:"at"`
}
