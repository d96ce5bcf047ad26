package longterm

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
)

func audits(o Options) *audited.Log {
	return &audited.Log{Auditor: o.Auditor, Box: "longterm", Kinds: []audited.Kind{
		{Err: errUndone, Name: "not done"}, {Err: ErrDraft, Name: "no draft"}, {Err: ErrRefused, Name: "refused"}, {Err: ErrExchange, Name: "no exchange"},
		{Err: ErrQuery, Name: "bad query"}, {Err: ErrDenied, Name: "denied"}, {Err: ErrNotFound, Name: "not found"}, {Err: ErrEnded, Name: "ended"},
		{Err: ErrTooLarge, Name: "too large"}, {Err: ErrOptions, Name: "no embedder"}, {Err: ErrNoExtractor, Name: "no extractor"},
		{Err: ErrClosed, Name: "closed"}, {Err: ErrUnavailable, Name: "unavailable"}, {Err: ErrCorrupt, Name: "corrupt"},
	}}
}

func access(sc memory.Scope, agent, verb, conversation string, items ...string) memory.Access {
	return memory.Access{Tenant: sc.Tenant(), User: sc.User(), Agent: agent, Verb: verb, Conversation: conversation, Items: items}
}

// errUndone is how a job ends that failed, or was lost: its state says which.
var errUndone = errors.New("the job is not done")

// jobAccess notes that a job is worked on, on behalf of the agent whose it is.
func (s *Store) jobAccess(ctx context.Context, row JobRow) (memory.Access, error) {
	if s.o.Auditor == nil {
		return memory.Access{}, nil
	}
	j, err := taskOf(row)
	if err != nil {
		return memory.Access{}, err
	}
	acc := access(row.Scope, j.Agent.Name(), "Work", j.Conversation, row.ID)
	return acc, s.audit.Begin(ctx, acc)
}

func (s *Store) jobEnded(ctx context.Context, acc memory.Access, done *bool, err *error) {
	how := *err
	if how == nil && !*done {
		how = errUndone
	}
	s.audit.Ended(ctx, acc, &how)
	if !errors.Is(how, errUndone) || errors.Is(how, memory.ErrAudit) {
		*err = how
	}
}

// conversationOf is the one that all drafts come from, or "".
func conversationOf(drafts []Draft) (id string) {
	for i, d := range drafts {
		if i > 0 && d.Source.Conversation != id {
			return ""
		}
		id = d.Source.Conversation
	}
	return id
}

// outcomeIDs are of the items that a call wrote.
func outcomeIDs(outs []Outcome) (ids []string) {
	for _, o := range outs {
		ids = append(ids, o.ID, o.Over)
	}
	return ids
}

func itemID(i Item) []string { return []string{i.ID} }

func itemIDs(items []Item) (ids []string) {
	for _, i := range items {
		ids = append(ids, i.ID)
	}
	return ids
}

func hitIDs(hits []Hit) (ids []string) {
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func jobIDs(jobs []Job) (ids []string) {
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}
