package knowledge

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
)

func audits(o Options) *audited.Log {
	return &audited.Log{Auditor: o.Auditor, Box: "knowledge", Kinds: []audited.Kind{
		{Err: ErrDocument, Name: "no document"}, {Err: ErrConflict, Name: "conflict"}, {Err: ErrNotFound, Name: "not found"},
		{Err: ErrRelation, Name: "no relation"}, {Err: ErrTooLarge, Name: "too large"}, {Err: ErrEmbedder, Name: "embedder failed"},
		{Err: ErrOptions, Name: "no embedder"}, {Err: ErrClosed, Name: "closed"}, {Err: ErrUnavailable, Name: "unavailable"},
		{Err: ErrCorrupt, Name: "corrupt"},
	}}
}

// access is one of a tenant; a name that can be none touches nothing.
func access(ctx context.Context, tenant, verb string, items ...string) memory.Access {
	if name(tenant) != nil {
		tenant = ""
	}
	return memory.Access{Tenant: tenant, Agent: memory.AgentOf(ctx), Verb: verb, Items: items}
}

func documentIDs(docs []Document) (ids []string) {
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	return ids
}

// ids are of the documents that are shown, each once.
func (a Answer) ids() (ids []string) {
	for _, c := range slices.Concat(a.Chunks, a.Near) {
		ids = append(ids, c.Document)
	}
	return sorted(append(ids, pathIDs(a.Paths)...))
}

func pathIDs(paths []Path) (ids []string) {
	for _, p := range paths {
		for _, r := range p {
			ids = append(ids, r.Document)
		}
	}
	return sorted(ids)
}
