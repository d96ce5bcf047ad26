package session

import (
	"cmp"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/tokens"
	"github.com/holdfast-go/holdfast/memory"
)

// Options of a store. The zero value is ready for production. Every limit is checked at the write, which is ErrTooLarge.
type Options struct {
	Fields []Definition // that conversations keep; default Env and CurrentService

	Count        func(text string) int // tokens of a text; default an estimate by kinds of characters
	StateTokens  int                   // of State.Summary; default 1,000
	MessageBytes int                   // of one message as JSON; default 16 MB
	ResultBytes  int                   // of one result; default 64 MB
	Candidates   int                   // pending in one conversation; default 16
	Pins         int                   // in force in one conversation, standing ones among them; default 100
	PinBytes     int                   // of one pin as JSON; default 8 KB
	Batch        int                   // messages, results or other items in one write; default 1,000

	Auditor memory.Auditor // notes every read and write; nil: none does

	CandidateTTL time.Duration // how long a proposal without a time of its own can be confirmed; default 15 minutes
	OpTimeout    time.Duration // how long a call may take whose context has no deadline; default 10 s
}

func (o Options) withDefaults() Options {
	if o.Fields == nil {
		o.Fields = []Definition{Env, CurrentService}
	}
	if o.Count == nil {
		o.Count = tokens.Estimate
	}
	o.StateTokens = cmp.Or(o.StateTokens, 1000)
	o.MessageBytes = cmp.Or(o.MessageBytes, 16<<20)
	o.ResultBytes = cmp.Or(o.ResultBytes, 64<<20)
	o.Candidates = cmp.Or(o.Candidates, 16)
	o.Pins = cmp.Or(o.Pins, 100)
	o.PinBytes = cmp.Or(o.PinBytes, 8<<10)
	o.Batch = cmp.Or(o.Batch, 1000)
	o.CandidateTTL = cmp.Or(o.CandidateTTL, 15*time.Minute)
	o.OpTimeout = cmp.Or(o.OpTimeout, 10*time.Second)
	return o
}

func (o Options) validate() error {
	least := min(o.StateTokens, o.MessageBytes, o.ResultBytes, o.Candidates, o.Pins, o.PinBytes, o.Batch)
	if least < 0 || min(o.CandidateTTL, o.OpTimeout) < 0 {
		return fmt.Errorf("%w: a limit is negative", ErrOptions)
	}
	seen := map[string]bool{}
	for _, f := range o.Fields {
		switch {
		case f == nil:
			return fmt.Errorf("%w: a field is nil", ErrOptions)
		case !goodID(f.Name()):
			return fmt.Errorf("%w: field %.80q needs a name of 1 to %d bytes of text", ErrOptions, f.Name(), MaxID)
		case seen[f.Name()]:
			return fmt.Errorf("%w: field %q is there twice", ErrOptions, f.Name())
		}
		seen[f.Name()] = true
	}
	return nil
}
