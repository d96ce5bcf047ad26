package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"
)

// ErrNoResult is returned for the id of a result that is not there, or belongs to somebody else: the two look the same.
var ErrNoResult = errors.New("memory: no such result in this scope")

// A Result is the full text of what a tool returned, or of a message that is too long for a prompt. The prompt holds an
// excerpt and the id.
type Result struct {
	ID           string    `json:"id"`           // see ResultID
	Conversation string    `json:"conversation"` // where it was made
	Call         string    `json:"call"`         // id of the tool call, or of the message
	Name         string    `json:"name"`         // of the tool; "" for a message
	Body         []byte    `json:"body"`         // the exact bytes
	At           time.Time `json:"at"`           // when it was stored, by the store's clock
}

// Results keeps results by id.
type Results interface {
	// PutResult stores a result under its id. The same result stored again changes nothing.
	PutResult(ctx context.Context, s Scope, r Result) error

	// Result returns a result byte for byte, or ErrNoResult.
	Result(ctx context.Context, s Scope, id string) (Result, error)
}

// ResultID is the id of a body in a scope and conversation: the same body of the same call has the same id, so storing is
// safe to repeat, and an id says nothing about another's data.
func ResultID(s Scope, conversation, call string, body []byte) string {
	h := sha256.New()
	for _, part := range []string{s.tenant, s.user, conversation, call} {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	h.Write(body)
	return "r_" + hex.EncodeToString(h.Sum(nil)[:10])
}
