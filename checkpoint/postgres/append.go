package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	recordColumns = `branch, ns, pos, ord, by, base, step, kind, at, `
	inChain       = ` where tenant = $1 and thread = $2 and branch = $3 and ns = $4`

	sqlFits = `select hf_must(t.branches = coalesce($3::int, t.branches) and t.branches + $4::int > $5::int
		and not exists (select 1 from hf_branch b where b.tenant = $1 and b.thread = $2 and b.name = $6), '` + codeUnfit + `')
		from hf_thread t where t.tenant = $1 and t.thread = $2`
	sqlPlaced = `select hf_must(exists (select 1 from hf_record` + inChain + ` and pos = $5 and ord = $6 and by = $7), '` + codeUnfit + `')`
	sqlUnfit  = `select hf_must(false, '` + codeUnfit + `')`

	sqlChange = `update hf_thread set branches = branches + $3::int, active = coalesce($4::int, active),
		takeovers = case when $5::bool then 0 else takeovers end where tenant = $1 and thread = $2`
	sqlBranch = `insert into hf_branch(tenant, thread, n, name, origin, ord, reason) values ($1, $2, $3, $4, $5, $6, $7)`
	sqlTake   = `delete from hf_inbox where tenant = $1 and thread = $2 and n <= $3`

	sqlPlace = `select exists (select 1 from hf_record` + inChain + ` and pos = $5 and ord = $6 and by = $7)
		or $8::bool and $5 < coalesce((select pos from hf_record` + inChain + ` order by pos limit 1), 0)`
	sqlThere  = `select exists (select 1 from hf_record` + inChain + ` and pos = $5)`
	sqlHolder = `select inbox, nonce from hf_thread where tenant = $1 and thread = $2`
	sqlTrim   = `delete from hf_record where tenant = $1 and thread = $2 and branch = ` + branchOf + ` and ns = $4 and pos < $5`
)

// branchOf replaces checkpoint.Active, in a statement whose parameters begin with tenant, thread and branch.
const branchOf = `(case when $3::int <> -1 then $3::int
	else coalesce((select active from hf_thread where tenant = $1 and thread = $2), 0) end)`

// maxBody leaves room in the server's limit of 1 GB for what surrounds a body in a message.
const maxBody = 1<<30 - 1<<20

// Append implements checkpoint.Log.
func (s *Store) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	if err := a.Valid(); err != nil {
		return checkpoint.Ack{}, err
	}
	size, err := weigh(a)
	if err != nil {
		return checkpoint.Ack{}, err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return checkpoint.Ack{}, err
	}
	defer leave()
	ack, err := s.append(ctx, a, size)
	switch {
	case err == nil && ack.Released:
		s.acked.forget(checkpoint.Lease{Key: a.Key, Nonce: a.Nonce})
	case err == nil:
		s.acked.note(a)
	}
	return ack, err
}

func (s *Store) append(ctx context.Context, a *checkpoint.Append, size int) (checkpoint.Ack, error) {
	behind := s.acked.behind(a)
	if h := hotOf(a, behind, size); h != nil {
		switch done, err := s.appendHot(ctx, h); {
		case err != nil:
			return checkpoint.Ack{}, err // h may still be written to
		case done:
			return h.ack, nil
		}
	}
	return s.appendAny(ctx, a, behind)
}

// weigh is about how many bytes an append sends. The server takes them in one message.
func weigh(a *checkpoint.Append) (size int, err error) {
	for i := range a.Records {
		size += len(a.Records[i].Body) + checkpoint.Overhead
	}
	if a.Park != nil {
		size += len(a.Park.Error)
		for i := range a.Park.Questions {
			q := &a.Park.Questions[i]
			size += len(q.Body) + len(q.Shown) + checkpoint.Overhead
		}
	}
	if size > maxBody {
		return 0, fmt.Errorf("%w: a write of %d bytes, Postgres takes %d", checkpoint.ErrTooLarge, size, maxBody)
	}
	return size, nil
}

// appendAny is every append that is not hot, or that did not fit.
func (s *Store) appendAny(ctx context.Context, a *checkpoint.Append, behind *place) (ack checkpoint.Ack, err error) {
	firsts, ok := chains(a.Records)
	if !ok || a.Activate != nil && *a.Activate < 0 {
		return s.readBack(ctx, a)
	}
	l := lockBehind(a, behind)
	l.records("t", a.Records, firsts)
	l.closes("t", closed(a))
	if a.Park != nil {
		l.asks(a.Park.Questions)
		l.fails(a.Park.Error)
	}
	l.part(`n as (select ?::bigint as records)`, len(a.Records))
	text := l.text(`select hf_must((select count(*) from t) = 1, '` + codeRefused + `'),
		hf_must((select count(*) from r) = (select records from n), '` + codeUnfit + `'), (select inbox from t)`)
	err = s.write(ctx, a.Tenant, func(b *batch) {
		ack = checkpoint.Ack{}
		b.rows(func(r row) error { return r.Scan(nil, nil, &ack.Inbox) }, text, l.args...)
		b.fit(a)
		b.apply(a)
		if a.Taken > 0 {
			b.add(sqlTake, a.Tenant, a.Thread, a.Taken)
		}
		if a.Park != nil {
			b.park(a, &ack)
		}
	})
	if refused(err) {
		return s.readBack(ctx, a)
	}
	if err != nil {
		return checkpoint.Ack{}, err
	}
	return ack, nil
}

// closed are the questions that an append closes and does not ask again.
func closed(a *checkpoint.Append) []string {
	if a.Park == nil || len(a.Closed) == 0 {
		return a.Closed
	}
	return slices.DeleteFunc(slices.Clone(a.Closed), func(id string) bool {
		return slices.ContainsFunc(a.Park.Questions, func(q checkpoint.Question) bool { return q.ID == id })
	})
}

// readBack decides about a write that was refused: it was stored before, or the server has lost what came before it, or it is
// stale. Records before the last of their chain may have been trimmed since: then the last one speaks for them.
func (s *Store) readBack(ctx context.Context, a *checkpoint.Append) (ack checkpoint.Ack, err error) {
	lease := checkpoint.Lease{Key: a.Key, Nonce: a.Nonce}
	before := s.acked.last(lease)
	var found int
	var mine, kept bool
	err = s.read(ctx, a.Tenant, func(b *batch) {
		found, mine, kept = 0, false, true
		b.placed(a, &found)
		if p := before; p != nil {
			b.rows(func(row row) error { return row.Scan(&kept) }, sqlThere, a.Tenant, a.Thread, p.branch, []byte(p.ns), p.pos)
		}
		// After the records: a head that was read before them could be older than they are.
		b.rows(func(row row) error {
			var n []byte
			err := row.Scan(&ack.Inbox, &n)
			mine = string(n) == string(a.Nonce[:])
			return err
		}, sqlHolder, a.Tenant, a.Thread)
	})
	switch {
	case err != nil:
		return checkpoint.Ack{}, err
	case found == len(a.Records):
		ack.Released = a.Park != nil && !mine
		return ack, nil
	case mine && !kept:
		return checkpoint.Ack{}, checkpoint.ErrRolledBack
	case !mine:
		s.acked.forget(lease)
	}
	return checkpoint.Ack{}, checkpoint.ErrStale
}

// placed counts the records of an append that are there.
func (b *batch) placed(a *checkpoint.Append, found *int) {
	last := make(map[checkpoint.Chain]int64, 1)
	for i := range a.Records {
		last[checkpoint.Chain{Branch: a.Records[i].Branch, Namespace: a.Records[i].Namespace}] = a.Records[i].Pos
	}
	for i := range a.Records {
		r := &a.Records[i]
		before := r.Pos < last[checkpoint.Chain{Branch: r.Branch, Namespace: r.Namespace}]
		b.rows(func(row row) error {
			var there bool
			err := row.Scan(&there)
			if there {
				*found++
			}
			return err
		}, sqlPlace, a.Tenant, a.Thread, r.Branch, []byte(r.Namespace), r.Pos, r.Ord, r.By, before)
	}
}

// fit refuses the batch unless the branches are as expected.
func (b *batch) fit(a *checkpoint.Append) {
	most, more := int32(-1), 0
	for i := range a.Records {
		most = max(most, a.Records[i].Branch)
	}
	if a.Activate != nil {
		most = max(most, *a.Activate)
	}
	var n *int32
	name := ""
	if a.Branch != nil {
		n, name, more = &a.Branch.N, a.Branch.Name, 1
	}
	b.add(sqlFits, a.Tenant, a.Thread, n, more, most, name)
}

// apply changes what the thread's row says, and adds a branch.
func (b *batch) apply(a *checkpoint.Append) {
	entry := slices.ContainsFunc(a.Records, func(r checkpoint.Record) bool { return r.Kind == checkpoint.KindEntry })
	more := 0
	if n := a.Branch; n != nil {
		b.add(sqlBranch, a.Tenant, a.Thread, n.N, n.Name, n.Origin, n.Ord, n.Reason)
		more = 1
	}
	if entry || more > 0 || a.Activate != nil {
		b.add(sqlChange, a.Tenant, a.Thread, more, a.Activate, entry)
	}
}

// bytesOf is never null.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Trim implements checkpoint.Log.
func (s *Store) Trim(ctx context.Context, c checkpoint.Chain, below int64) (removed int64, err error) {
	if err := c.Key.Valid(); err != nil {
		return 0, err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	err = s.write(ctx, c.Tenant, func(b *batch) {
		b.count(&removed, sqlTrim, c.Tenant, c.Thread, c.Branch, []byte(c.Namespace), below)
	})
	return removed, err
}

// sqlStub makes sure that there is a row to lock, so that nobody makes the thread while it is deleted.
var sqlStub = strings.Replace(sqlStubFor, "?", "$3", 1)

const sqlStubFor = `insert into hf_thread(tenant, thread, epoch, takeovers, inbox, active, branches, run, status, graph, owner, created, updated)
	values ($1, $2, 0, 0, 0, 0, 1, '', 0, '', ?, clock_timestamp(), clock_timestamp()) on conflict do nothing`

// Delete implements checkpoint.Log.
func (s *Store) Delete(ctx context.Context, key checkpoint.Key) error {
	if err := key.Valid(); err != nil {
		return err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	for {
		err := s.write(ctx, key.Tenant, func(b *batch) {
			b.add(sqlStub, key.Tenant, key.Thread, "")
			b.add(sqlLockThread, key.Tenant, key.Thread, []byte{})
			for _, t := range threadTables {
				b.add(`delete from `+t+` where tenant = $1 and thread = $2`, key.Tenant, key.Thread)
			}
		})
		if !refused(err) { // else another deletion was between the two first statements
			return err
		}
	}
}
