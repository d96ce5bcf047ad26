package session

import (
	"context"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
	"github.com/holdfast-go/holdfast/memory/pin"
)

func audits(o Options) *audited.Log {
	return &audited.Log{Auditor: o.Auditor, Box: "session", Kinds: []audited.Kind{
		{Err: ErrNotFound, Name: "not found"}, {Err: ErrUnconfirmed, Name: "unconfirmed"}, {Err: ErrUnknownField, Name: "unknown field"},
		{Err: ErrInvalidValue, Name: "invalid value"}, {Err: ErrAmbiguous, Name: "ambiguous"}, {Err: ErrNoCandidate, Name: "no candidate"},
		{Err: ErrNoPin, Name: "no pin"}, {Err: ErrExpired, Name: "expired"}, {Err: ErrSettled, Name: "settled"}, {Err: ErrConflict, Name: "conflict"},
		{Err: ErrTooLarge, Name: "too large"}, {Err: ErrBadID, Name: "bad id"}, {Err: ErrMessage, Name: "not well formed"}, {Err: ErrClosed, Name: "closed"},
		{Err: ErrUnavailable, Name: "unavailable"}, {Err: ErrCorrupt, Name: "corrupt"},
	}}
}

func access(ctx context.Context, verb string, sc memory.Scope, conversation string, items ...string) memory.Access {
	return memory.Access{
		Tenant: sc.Tenant(), User: sc.User(), Agent: memory.AgentOf(ctx), Verb: verb, Conversation: conversation, Items: items,
	}
}

// ids are of all that a write names: messages, results, fields, candidates and pins.
func (w Write) ids() (out []string) {
	for _, m := range w.Messages {
		out = append(out, m.ID)
	}
	for _, r := range w.Results {
		out = append(out, r.ID)
	}
	for _, c := range w.Set {
		out = append(out, c.Field)
	}
	for _, p := range w.Propose {
		out = append(out, p.Field)
	}
	for _, answers := range [][]Answer{w.Reject, w.Confirm} {
		for _, a := range answers {
			out = append(out, a.Candidate)
		}
	}
	for _, l := range w.Lift {
		out = append(out, l.Pin)
	}
	return append(out, pinIDs(w.Pins)...)
}

func (s State) ids() (out []string) {
	for _, f := range s.Facts {
		out = append(out, f.Field)
	}
	for _, c := range s.Candidates {
		out = append(out, c.ID)
	}
	return append(out, pinIDs(s.Pins)...)
}

func pinIDs(pins []pin.Pin) (out []string) {
	for _, p := range pins {
		out = append(out, p.ID)
	}
	return out
}

func messageIDs(ms []Message) (out []string) {
	for _, m := range ms {
		out = append(out, m.ID)
	}
	return out
}

func conversationIDs(cs []Conversation) (out []string) {
	for _, c := range cs {
		out = append(out, c.ID)
	}
	return out
}
