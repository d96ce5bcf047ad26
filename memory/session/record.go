package session

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/message"
)

// A Conversation is what one user talks about in one place, such as a chat window. Its id is unique in its scope: two users
// may both have a "c1".
type Conversation struct {
	ID       string       `json:"id"`
	Scope    memory.Scope `json:"scope"`
	Created  time.Time    `json:"created"`  // by the store's clock
	Updated  time.Time    `json:"updated"`  // when something was last written
	Messages int64        `json:"messages"` // that were ever written: the highest Seq
}

// A Message is one of a conversation, as a page shows it and an audit reads it. It is never compacted.
type Message struct {
	message.Message
	Conversation string    `json:"conversation"`
	Seq          int64     `json:"seq"` // its place, from 1
	At           time.Time `json:"at"`  // when it was stored, by the store's clock
}

// A Page says which messages to list.
type Page struct {
	After  int64 // the Seq after which it begins, or before which if Newest; 0: at the end
	Limit  int   // at most 1000; 0 is 100
	Newest bool  // newest first
}

// A MessageRow is a message as a back end keeps it.
type MessageRow struct {
	Seq  int64
	ID   string
	Role message.Role
	At   time.Time
	Body []byte // JSON
}

func encodeMessage(m message.Message) ([]byte, error) {
	b, err := message.Encode([]message.Message{m})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return b, nil
}

func (r MessageRow) message() (message.Message, error) {
	ms, err := message.Decode(r.Body)
	if err == nil && len(ms) != 1 {
		err = fmt.Errorf("%d messages", len(ms))
	}
	if err != nil {
		return message.Message{}, fmt.Errorf("%w: message %q: %w", ErrCorrupt, r.ID, err)
	}
	return ms[0], nil
}

// A PinRow is a pin as a back end keeps it.
type PinRow struct {
	ID       string
	Standing bool // of the scope; else of the conversation
	Lifted   bool
	By       string    // id of the message that lifted it
	At       time.Time // when it was stored
	Body     []byte    // JSON
}

func (r PinRow) pin() (p pin.Pin, err error) {
	if err := json.Unmarshal(r.Body, &p); err != nil {
		return p, fmt.Errorf("%w: pin %q: %w", ErrCorrupt, r.ID, err)
	}
	if p.At.IsZero() {
		p.At = r.At
	}
	return p, nil
}
