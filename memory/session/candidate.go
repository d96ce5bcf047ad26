package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// A Standing says what became of a candidate.
type Standing string

// The standings.
const (
	Pending   Standing = "pending"
	Confirmed Standing = "confirmed"
	Rejected  Standing = "rejected"
	Overtaken Standing = "overtaken" // its field was confirmed in another way
	Lapsed    Standing = "lapsed"    // nobody answered in time
)

// A Candidate is a value that was guessed or proposed, and that nobody has confirmed. It must not fill the argument of a
// tool without asking.
type Candidate struct {
	ID       string          `json:"id"` // made by the store of what was proposed and by what
	Field    string          `json:"field"`
	Value    json.RawMessage `json:"value"`
	Ref      string          `json:"ref"`     // id of the message or call that proposed it
	Since    int64           `json:"since"`   // the last message when it was proposed: only a later one confirms it
	At       time.Time       `json:"at"`      // by the store's clock
	Expires  time.Time       `json:"expires"` // by the store's clock
	Standing Standing        `json:"standing"`
	By       string          `json:"by,omitzero"` // id of the message that confirmed or rejected it
}

// A Proposal asks for a candidate. Make it with Propose.
type Proposal struct {
	Field string
	Value json.RawMessage
	Ref   string
	TTL   time.Duration
	err   error
}

// Propose is the proposal of a value, guessed by a model or offered to the user. ref is the id of the message or call that
// it comes from. It can be confirmed for ttl; 0 is Options.CandidateTTL.
//
// Of one field, value and ref there is one candidate, so a proposal is safe to repeat. While a value is pending, proposing
// it again from elsewhere extends the time of the candidate that is there.
func Propose[T any](f Field[T], value T, ref string, ttl time.Duration) Proposal {
	b, err := json.Marshal(value)
	return Proposal{f.name, b, ref, ttl, err}
}

// An Answer of the user settles a candidate.
type Answer struct {
	Candidate string // its id; "": the only one that is pending, else ErrAmbiguous
	Message   string // id of the user's message, which came after the proposal
}

// candidateID is short, because a prompt shows it. It is unique in a conversation only.
func candidateID(p Proposal) string {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(p.Field), p.Value, []byte(p.Ref)} {
		sum := sha256.Sum256(part)
		h.Write(sum[:])
	}
	return "c_" + hex.EncodeToString(h.Sum(nil)[:6])
}
