package rows

import (
	"maps"
	"slices"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/session"
)

// save are the statements that store a delta, in an order that is the same for all writers: two that share a standing pin must
// not wait for each other.
func save(k session.Key, d session.Delta) []sqldb.Stmt {
	out := []sqldb.Stmt{sqldb.Exec(`update hfs_conversation set updated = $4, messages = $5 where tenant = $1 and usr = $2 and id = $3`,
		ids(k, d.Conversation.Updated.UnixMicro(), d.Conversation.Messages)...)}
	for _, m := range d.Messages {
		out = append(out, sqldb.Exec(`insert into hfs_message(tenant, usr, conversation, seq, id, role, at, body)
			values ($1, $2, $3, $4, $5, $6, $7, $8)
			on conflict (tenant, usr, conversation, seq) do update set body = excluded.body`,
			ids(k, m.Seq, m.ID, string(m.Role), m.At.UnixMicro(), m.Body)...))
	}
	for _, id := range slices.Sorted(maps.Keys(d.Calls)) {
		c := d.Calls[id]
		out = append(out, sqldb.Exec(`insert into hfs_call(tenant, usr, conversation, id, ok, seq) values ($1, $2, $3, $4, $5, $6)
			on conflict (tenant, usr, conversation, id) do update set ok = excluded.ok, seq = excluded.seq`,
			ids(k, id, flag(c.OK), c.Seq)...))
	}
	for _, f := range d.Facts {
		out = append(out, sqldb.Exec(`insert into hfs_fact(tenant, usr, conversation, `+factColumns+`)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			ids(k, f.Field, f.Version, string(f.Value), string(f.Origin), f.Ref, f.Candidate, f.At.UnixMicro())...))
	}
	for _, c := range d.Candidates {
		out = append(out, sqldb.Exec(`insert into hfs_candidate(
				tenant, usr, conversation, id, field, value, ref, since, at, expires, standing, settled_by)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
			on conflict (tenant, usr, conversation, id) do update
			set expires = excluded.expires, standing = excluded.standing, settled_by = excluded.settled_by`,
			ids(k, c.ID, c.Field, string(c.Value), c.Ref, c.Since, c.At.UnixMicro(), c.Expires.UnixMicro(), string(c.Standing), c.By)...))
	}
	for _, r := range d.Results {
		out = append(out, sqldb.Exec(`insert into hfs_result(tenant, usr, conversation, id, call, name, at, body)
			values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (tenant, usr, id) do nothing`,
			ids(k, r.ID, r.Call, r.Name, r.At.UnixMicro(), r.Body)...))
	}
	return append(out, savePins(k, d.Pins)...)
}

func savePins(k session.Key, pins []session.PinRow) (out []sqldb.Stmt) {
	for _, p := range pins {
		owner := k
		if p.Standing {
			owner.Conversation = ""
		}
		out = append(out, sqldb.Exec(`insert into hfs_pin as p (tenant, usr, conversation, id, at, lifted, settled_by, body)
			values ($1, $2, $3, $4, $5, $6, $7, $8)
			on conflict (tenant, usr, conversation, id) do update set lifted = excluded.lifted, settled_by = excluded.settled_by
			where p.lifted < excluded.lifted`,
			ids(owner, p.ID, p.At.UnixMicro(), flag(p.Lifted), p.By, p.Body)...))
	}
	return out
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
