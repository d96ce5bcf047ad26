package rows

import (
	"context"
	"math"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

const messageColumns = `seq, id, role, at, body`

func eachMessage(out *[]session.MessageRow) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var m session.MessageRow
		var role string
		var stored int64
		if err := scan(&m.Seq, &m.ID, &role, &stored, &m.Body); err != nil {
			return err
		}
		m.Role, m.At = message.Role(role), at(stored)
		*out = append(*out, m)
		return nil
	}
}

// inside runs statements about a conversation, or returns session.ErrNotFound. reset is called before each try.
func (b *backend) inside(ctx context.Context, k session.Key, reset func(), stmts ...sqldb.Stmt) error {
	return b.db.Read(ctx, func(run sqldb.Run) error {
		reset()
		var s session.Snapshot
		if err := run(ctx, append([]sqldb.Stmt{loadHead(sqlConversation, k, &s)}, stmts...)...); err != nil {
			return err
		}
		if s.Now.IsZero() {
			return session.ErrNotFound
		}
		return nil
	})
}

func (b *backend) Messages(ctx context.Context, k session.Key, p session.Page) (out []session.MessageRow, err error) {
	text, after := ` and seq > $4 order by seq limit $5`, p.After
	if p.Newest {
		text = ` and seq < $4 order by seq desc limit $5`
		if after == 0 {
			after = math.MaxInt64
		}
	}
	err = b.inside(ctx, k, func() { out = nil },
		sqldb.Query(`select `+messageColumns+` from hfs_message`+here+text, eachMessage(&out), ids(k, after, int64(p.Limit))...))
	return out, err
}

func (b *backend) FactHistory(ctx context.Context, k session.Key, field string) (out []session.Fact, err error) {
	err = b.inside(ctx, k, func() { out = nil },
		sqldb.Query(`select `+factColumns+` from hfs_fact`+here+`and field = $4 order by version`, eachFact(&out), ids(k, field)...))
	return out, err
}

func (b *backend) Conversations(
	ctx context.Context, s memory.Scope, after session.Conversation, limit int,
) (out []session.Conversation, err error) {
	created := int64(math.MaxInt64)
	if after.ID != "" {
		created = after.Created.UnixMicro()
	}
	err = b.db.Read(ctx, func(run sqldb.Run) error {
		out = nil
		return run(ctx, sqldb.Query(`select id, created, updated, messages from hfs_conversation
			where tenant = $1 and usr = $2 and (created < $3 or created = $3 and id > $4) order by created desc, id limit $5`,
			func(scan func(...any) error) error {
				c := session.Conversation{Scope: s}
				var created, updated int64
				if err := scan(&c.ID, &created, &updated, &c.Messages); err != nil {
					return err
				}
				c.Created, c.Updated = at(created), at(updated)
				out = append(out, c)
				return nil
			}, s.Tenant(), s.User(), created, after.ID, int64(limit)))
	})
	return out, err
}

// DeleteMessages locks the conversation, because a write may be placing a message.
func (b *backend) DeleteMessages(ctx context.Context, k session.Key, before time.Time) (n int, err error) {
	err = b.db.Write(ctx, func(run sqldb.Run) error {
		n = 0
		found := false
		lock := sqldb.Query(`update hfs_conversation set messages = messages where tenant = $1 and usr = $2 and id = $3 returning 1`,
			func(scan func(...any) error) error { found = true; return scan(new(int64)) }, ids(k)...)
		count := func(scan func(...any) error) error { n++; return scan(new(int64)) }
		old := ids(k, before.UnixMicro())
		err := run(ctx, lock,
			sqldb.Exec(`delete from hfs_call`+here+`and seq in (select seq from hfs_message`+here+`and at < $4)`, old...),
			sqldb.Query(`delete from hfs_message`+here+`and at < $4 returning seq`, count, old...))
		if err == nil && !found {
			err = session.ErrNotFound
		}
		return err
	})
	return n, err
}

// tables of a conversation, besides its own row, which is locked first.
var tables = []string{"hfs_message", "hfs_call", "hfs_fact", "hfs_candidate", "hfs_pin", "hfs_result"}

func (b *backend) Delete(ctx context.Context, k session.Key) error {
	stmts := []sqldb.Stmt{sqldb.Exec(`delete from hfs_conversation where tenant = $1 and usr = $2 and id = $3`, ids(k)...)}
	for _, t := range tables {
		stmts = append(stmts, sqldb.Exec(`delete from `+t+here, ids(k)...))
	}
	return b.db.Remove(ctx, func(run sqldb.Run) error { return run(ctx, stmts...) })
}

// Erase is no Remove: what it waited for it must see.
func (b *backend) Erase(ctx context.Context, s memory.Scope) error {
	stmts := []sqldb.Stmt{sqldb.Alone(gate(s))}
	for _, t := range scopeTables {
		stmts = append(stmts, sqldb.Exec(`delete from `+t+mineOnly, s.Tenant(), s.User()))
	}
	stmts = append(stmts, sqldb.Exec(`insert into hfs_erased(scope, at) values ($1, {now}) on conflict (scope) do nothing`, s.Hash()))
	if err := b.db.Write(ctx, func(run sqldb.Run) error { return run(ctx, stmts...) }); err != nil {
		return err
	}
	return b.db.Erased(ctx)
}

func (b *backend) Readmit(ctx context.Context, s memory.Scope) error {
	return b.db.Write(ctx, func(run sqldb.Run) error {
		return run(ctx, sqldb.Alone(gate(s)), sqldb.Exec(`delete from hfs_erased where scope = $1`, s.Hash()))
	})
}

func (b *backend) Count(ctx context.Context, s memory.Scope) (n int, err error) {
	err = b.db.Read(ctx, func(run sqldb.Run) error {
		n = 0
		return run(ctx, sqldb.Counts(&n, scopeTables, mineOnly, s.Tenant(), s.User())...)
	})
	return n, err
}

const mineOnly = ` where tenant = $1 and usr = $2`

// scopeTables are all that have rows of a scope.
var scopeTables = append([]string{"hfs_conversation"}, tables...)

func (b *backend) Compact(ctx context.Context) error { return b.db.Compact(ctx) }

func (b *backend) Close() error { return b.db.Close() }
