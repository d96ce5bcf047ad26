// Package pin keeps what a user has forbidden, or ruled for good, in force: recognised by rule in Chinese and English, told back as it was
// understood, part of every prompt, and enforced at the gate that every tool call must pass. The gate does not trust the prompt.
//
// # The nouns
//
// A [Found] is one thing that a message of the user says: a denial, a standing rule, or a permission that takes denials back. A [Pin] is a denial
// or a rule in force; memory/session stores it with the message that said it. A [Tool] says what a tool does. A [Verdict] is what [Gate] says to a
// call: Allow, Ask or Block, with the pin and a reason for the user and the model.
//
//	for _, f := range pin.Detect(m) { // m is the user's message
//		if f.Effect != pin.Permit {
//			w.Pins = append(w.Pins, f.Pin(id, m.ID, time.Now())) // show p.Understood()
//		}
//	}
//	...
//	switch v := pin.Gate(pins, call, tool); v.Decision { // before every call
//	case pin.Block: // the model reads v.Reason as the result of the call: denied
//	case pin.Ask: // a person sees the call; if they say yes: pin.Gate(pins, call, tool, pin.Hash(call))
//	}
//
// # Caveats
//
// Rules read what people usually say and miss what they say in other words: show the user what was understood, and what was not is
// missing there. A [Model] may add what the rules miss; it can never lift a pin. The gate knows of a call what its tool's author and its arguments
// say: give tools their Actions, and ReadOnly where they change nothing. Where nothing tells what a tool does, the gate asks.
package pin

import "time"

// An Effect is what a pin does.
type Effect string

// The effects.
const (
	Deny Effect = "deny" // an action is forbidden: the gate stops it
	Rule Effect = "rule" // a standing instruction: it is in every prompt

	// Permit is never a pin's effect, only that of a Found: it takes denials back, see Lift.
	Permit Effect = "permit"
)

// The environments that a pin and a tool can name. There are no others; "" is all of them, or not known.
const (
	Development = "development"
	Testing     = "testing"
	Production  = "production"
)

// A Pin is one denial or standing rule of a user.
type Pin struct {
	ID       string    `json:"id"`
	Effect   Effect    `json:"effect"`
	Text     string    `json:"text"`              // the user's own words
	Actions  []string  `json:"actions,omitzero"`  // of Deny: canonical names such as "restart"; none: every action that changes something
	Targets  []string  `json:"targets,omitzero"`  // of Deny: what it is about, in the user's words; none: everything
	Env      string    `json:"env,omitzero"`      // of Deny: development, testing or production; "": all
	Ask      bool      `json:"ask,omitzero"`      // of Deny: the action is not refused but waits for the user's word ("not without my approval")
	Standing bool      `json:"standing,omitzero"` // kept beyond the conversation, because the user said so
	Message  string    `json:"message"`           // id of the message that said it
	At       time.Time `json:"at"`
}

// A Found is one thing that a message says about what may be done.
type Found struct {
	Effect   Effect   // Deny, Rule or Permit
	Text     string   // the sentence that says it, in the user's own words, cut after MaxText runes
	Actions  []string // of Deny and Permit: canonical names; none: every action that changes something, or of Permit what was said last
	Targets  []string // of Deny and Permit: in the user's words
	Env      string   // of Deny and Permit
	Ask      bool     // of Deny: not without the user's word
	Standing bool     // the words say that it is for good, such as "from now on"
	All      bool     // of Permit: everything that was ever forbidden ("lift all restrictions")
}

// MaxText is how many runes of a sentence a Found holds.
const MaxText = 300

// Pin returns the pin that a denial or a rule makes. A Permit makes none: give it to Lift.
func (f Found) Pin(id, message string, at time.Time) Pin {
	return Pin{
		ID: id, Effect: f.Effect, Text: f.Text, Actions: f.Actions, Targets: f.Targets, Env: f.Env,
		Ask: f.Ask, Standing: f.Standing, Message: message, At: at,
	}
}
