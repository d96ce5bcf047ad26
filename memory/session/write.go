package session

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/message"
)

// MaxID is the longest id of a conversation, a message, a pin or a reference, in bytes.
const MaxID = 256

// A Write is what one event changes: the message or tool result, and the facts that it confirms. All of it is stored, or
// nothing. It is taken in the order of the fields.
type Write struct {
	Messages []message.Message // appended; one that is there is left alone
	Results  []memory.Result   // full texts, see memory.ResultID
	Reject   []Answer
	Confirm  []Answer
	Set      []Change
	Propose  []Proposal
	Pins     []pin.Pin // each said by a message of the user
	Lift     []Lift
}

// A Lift ends a pin, because the user said so.
type Lift struct {
	Pin     string // its id
	Message string // id of the user's message
}

func checkID(noun, id string) error {
	if !goodID(id) {
		return fmt.Errorf("%w: the id of %s is %.80q; 1 to %d bytes of text fit", ErrBadID, noun, id, MaxID)
	}
	return nil
}

func goodID(id string) bool {
	if id == "" || len(id) > MaxID || !utf8.ValidString(id) {
		return false
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}
