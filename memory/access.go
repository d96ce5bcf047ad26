package memory

import (
	"context"
	"errors"
)

// ErrAudit is returned by a call that an Auditor could not note: what is not audited is not read, and not written.
var ErrAudit = errors.New("memory: the audit log takes nothing, so nothing is read or written")

// ErrErased is returned by every write of a scope that was erased, until it is admitted again: a late job brings nothing back.
var ErrErased = errors.New("memory: the scope was erased; admit it again if the user has come back")

// An Access is one read or write of a box, without any of its content.
type Access struct {
	Tenant       string
	User         string // "": what was read or written belongs to the tenant
	Agent        string // on whose behalf; "": nobody has said
	Box          string // the package that was called: "session", "longterm", "knowledge"
	Verb         string // the method, such as "Search"
	Write        bool
	Conversation string   // "": the call names none
	Items        []string // ids of what was returned or written
	More         int      // how many there were besides
	Result       string   // Begun, OK, or the kind of the error
}

// Results of an access. Others are short names of errors, such as "not found".
const (
	AccessBegun = "begun" // a write is about to happen; the note of how it ended follows, unless the process died
	AccessOK    = "ok"
)

// An Auditor notes accesses. A box calls Record once for a read, before it returns what it has read, and twice for a write, before
// and after. An error refuses the access. It must be safe for concurrent use.
type Auditor interface {
	Record(ctx context.Context, a Access) error
}

type agentKey struct{}

// As returns a context that says on whose behalf boxes are called that take no agent. It is for the audit alone and gives no right.
func As(ctx context.Context, agent string) context.Context {
	return context.WithValue(ctx, agentKey{}, agent)
}

// AgentOf returns what As was told, or "".
func AgentOf(ctx context.Context) string {
	name, _ := ctx.Value(agentKey{}).(string)
	return name
}
