package rows

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/session"
)

// New returns the back end over a database.
func New(db sqldb.DB) session.Backend { return &backend{db} }

type backend struct{ db sqldb.DB }

const (
	sqlLock = `insert into hfs_conversation as c (tenant, usr, id, created, updated, messages)
		select $1, $2, $3, {now}, {now}, 0 where not exists (select 1 from hfs_erased where scope = $4)
		on conflict (tenant, usr, id) do update set messages = c.messages
		returning created, updated, messages, {now}`
	sqlConversation = `select created, updated, messages, {now} from hfs_conversation where tenant = $1 and usr = $2 and id = $3`
)

func (b *backend) Load(ctx context.Context, k session.Key, refs []string) (out session.Snapshot, err error) {
	err = b.db.Read(ctx, func(run sqldb.Run) (err error) {
		out, err = load(ctx, run, sqlConversation, k, refs)
		return err
	})
	return out, err
}

func (b *backend) Update(ctx context.Context, k session.Key, refs []string, decide func(session.Snapshot) (session.Delta, error)) error {
	return b.db.Write(ctx, func(run sqldb.Run) error {
		if err := run(ctx, sqldb.Share(gate(k.Scope))); err != nil {
			return err
		}
		snap, err := load(ctx, run, sqlLock, k, refs, k.Scope.Hash())
		if errors.Is(err, session.ErrNotFound) {
			return memory.ErrErased
		}
		if err != nil {
			return err
		}
		d, err := decide(snap)
		if err != nil {
			return err
		}
		return run(ctx, save(k, d)...)
	})
}

// load reads a conversation. The head is read first, because that may lock it.
func load(
	ctx context.Context, run sqldb.Run, head string, k session.Key, refs []string, more ...any,
) (session.Snapshot, error) {
	s := session.Snapshot{Calls: map[string]bool{}}
	if err := run(ctx, loadHead(head, k, &s, more...)); err != nil {
		return s, err
	}
	if s.Now.IsZero() {
		return s, session.ErrNotFound
	}
	stmts := []sqldb.Stmt{loadFacts(k, &s), loadCandidates(k, refs, &s), loadPins(k, refs, &s.Pins)}
	if len(refs) > 0 {
		stmts = append(stmts, loadEvents(k, refs, &s), loadMessages(k, refs, &s), loadCalls(k, refs, &s))
	}
	return s, run(ctx, stmts...)
}

func loadHead(text string, k session.Key, s *session.Snapshot, more ...any) sqldb.Stmt {
	s.Conversation = session.Conversation{ID: k.Conversation, Scope: k.Scope}
	return sqldb.Query(text, func(scan func(...any) error) error {
		var created, updated, now int64
		if err := scan(&created, &updated, &s.Conversation.Messages, &now); err != nil {
			return err
		}
		s.Conversation.Created, s.Conversation.Updated, s.Now = at(created), at(updated), at(now)
		return nil
	}, ids(k, more...)...)
}

// gate is what writers of a scope share, and its erasure has alone.
func gate(s memory.Scope) string { return "hfs_" + s.Hash() }

// ids are the arguments $1, $2 and $3 of nearly every statement.
func ids(k session.Key, more ...any) []any {
	return append([]any{k.Scope.Tenant(), k.Scope.User(), k.Conversation}, more...)
}

// at is a time from its column. Microseconds are what both databases and every platform keep.
func at(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

const (
	here        = ` where tenant = $1 and usr = $2 and conversation = $3 `
	factColumns = `field, version, value, origin, ref, candidate, at`
)

func loadFacts(k session.Key, s *session.Snapshot) sqldb.Stmt {
	return sqldb.Query(`select `+factColumns+` from hfs_fact f`+here+`and version =
		(select max(version) from hfs_fact where tenant = $1 and usr = $2 and conversation = $3 and field = f.field)`,
		eachFact(&s.Facts), ids(k)...)
}

// loadEvents reads all facts of the sources that refs name; there are few.
func loadEvents(k session.Key, refs []string, s *session.Snapshot) sqldb.Stmt {
	return sqldb.Query(`select `+factColumns+` from hfs_fact`+here+`and ref {in $4}`, eachFact(&s.Facts), ids(k, refs)...)
}

func eachFact(out *[]session.Fact) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var f session.Fact
		var value, origin string
		var stored int64
		if err := scan(&f.Field, &f.Version, &value, &origin, &f.Ref, &f.Candidate, &stored); err != nil {
			return err
		}
		if value != "" {
			f.Value = []byte(value)
		}
		f.Origin, f.At = session.Origin(origin), at(stored)
		*out = append(*out, f)
		return nil
	}
}

func loadCandidates(k session.Key, refs []string, s *session.Snapshot) sqldb.Stmt {
	return sqldb.Query(`select id, field, value, ref, since, at, expires, standing, settled_by from hfs_candidate`+here+
		`and (standing = $4 or id {in $5} or settled_by {in $5})`,
		func(scan func(...any) error) error {
			var c session.Candidate
			var value, standing string
			var stored, expires int64
			if err := scan(&c.ID, &c.Field, &value, &c.Ref, &c.Since, &stored, &expires, &standing, &c.By); err != nil {
				return err
			}
			c.Value, c.Standing, c.At, c.Expires = []byte(value), session.Standing(standing), at(stored), at(expires)
			s.Candidates = append(s.Candidates, c)
			return nil
		}, ids(k, string(session.Pending), refs)...)
}

// loadPins reads those of the conversation and, under no conversation, the standing ones.
func loadPins(k session.Key, refs []string, out *[]session.PinRow) sqldb.Stmt {
	return sqldb.Query(`select id, conversation, at, lifted, settled_by, body from hfs_pin
		where tenant = $1 and usr = $2 and conversation in ('', $3) and (lifted = 0 or id {in $4})`,
		func(scan func(...any) error) error {
			var r session.PinRow
			var conversation string
			var stored, lifted int64
			if err := scan(&r.ID, &conversation, &stored, &lifted, &r.By, &r.Body); err != nil {
				return err
			}
			r.Standing, r.Lifted, r.At = conversation == "", lifted != 0, at(stored)
			*out = append(*out, r)
			return nil
		}, ids(k, refs)...)
}

func loadMessages(k session.Key, refs []string, s *session.Snapshot) sqldb.Stmt {
	return sqldb.Query(`select `+messageColumns+` from hfs_message`+here+`and id {in $4}`, eachMessage(&s.Messages), ids(k, refs)...)
}

func loadCalls(k session.Key, refs []string, s *session.Snapshot) sqldb.Stmt {
	return sqldb.Query(`select id, ok from hfs_call`+here+`and id {in $4}`, func(scan func(...any) error) error {
		var id string
		var ok int64
		if err := scan(&id, &ok); err != nil {
			return err
		}
		s.Calls[id] = ok != 0
		return nil
	}, ids(k, refs)...)
}

func (b *backend) Pins(ctx context.Context, k session.Key) (out []session.PinRow, err error) {
	err = b.db.Read(ctx, func(run sqldb.Run) error {
		out = nil
		return run(ctx, loadPins(k, nil, &out))
	})
	return out, err
}

func (b *backend) Result(ctx context.Context, s memory.Scope, id string) (out memory.Result, err error) {
	found := false
	err = b.db.Read(ctx, func(run sqldb.Run) error {
		return run(ctx, sqldb.Query(`select conversation, call, name, body, at from hfs_result where tenant = $1 and usr = $2 and id = $3`,
			func(scan func(...any) error) error {
				var stored int64
				out, found = memory.Result{ID: id}, true
				err := scan(&out.Conversation, &out.Call, &out.Name, &out.Body, &stored)
				out.At = at(stored)
				return err
			}, s.Tenant(), s.User(), id))
	})
	if err == nil && !found {
		err = memory.ErrNoResult
	}
	return out, err
}
