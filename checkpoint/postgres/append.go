package postgres

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	recordColumns = `branch, ns, pos, ord, by, base, step, kind, at, `
	inChain       = ` where tenant = $1 and thread = $2 and branch = $3 and ns = $4`

	sqlInsert = `insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, at, body)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp(), $11)`

	// From here to the end of the batch the thread is this write's alone: each later statement sees all that went before.
	sqlHold = `with t as materialized (select inbox from hf_thread where tenant = $1 and thread = $2 and nonce = $3 for update)
		select hf_must(count(*) = 1, '` + codeRefused + `'), max(inbox) from t`
	sqlFits = `select hf_must(t.branches = coalesce($3::int, t.branches) and t.branches + $4::int > $5::int
		and not exists (select 1 from hf_branch b where b.tenant = $1 and b.thread = $2 and b.name = $6), '` + codeUnfit + `')
		from hf_thread t where t.tenant = $1 and t.thread = $2`
	sqlTail = `select hf_must($5::bigint = coalesce((select pos from hf_record` + inChain + ` order by pos desc limit 1), -1) + 1, '` + codeUnfit + `')`

	sqlChange = `update hf_thread set branches = branches + $3::int, active = coalesce($4::int, active),
		takeovers = case when $5::bool then 0 else takeovers end where tenant = $1 and thread = $2`
	sqlClose  = `update hf_question set state = 2 where tenant = $1 and thread = $2 and id = any($3::text[])`
	sqlBranch = `insert into hf_branch(tenant, thread, n, name, origin, ord, reason) values ($1, $2, $3, $4, $5, $6, $7)`
	sqlTake   = `delete from hf_inbox where tenant = $1 and thread = $2 and n <= $3`

	sqlPlace  = `select count(*) from hf_record` + inChain + ` and pos = $5 and ord = $6 and by = $7`
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
	if h := hotOf(a, size); h != nil {
		switch done, err := s.appendHot(ctx, h); {
		case err != nil:
			return checkpoint.Ack{}, err // h may still be written to
		case done:
			return h.ack, nil
		}
	}
	return s.appendAny(ctx, a)
}

// weigh is about how many bytes an append sends.
func weigh(a *checkpoint.Append) (size int, err error) {
	for i := range a.Records {
		if len(a.Records[i].Body) > maxBody {
			return 0, fmt.Errorf("%w: a body of %d bytes, Postgres takes %d", checkpoint.ErrTooLarge, len(a.Records[i].Body), maxBody)
		}
		size += len(a.Records[i].Body) + checkpoint.Overhead
	}
	if a.Park == nil {
		return size, nil
	}
	for i := range a.Park.Questions {
		q := &a.Park.Questions[i]
		if len(q.Body)+len(q.Shown) > maxBody {
			return 0, fmt.Errorf("%w: question %s", checkpoint.ErrTooLarge, q.ID)
		}
		size += len(q.Body)
	}
	return size, nil
}

// appendAny is every append that is not hot, or that did not fit.
func (s *Store) appendAny(ctx context.Context, a *checkpoint.Append) (ack checkpoint.Ack, err error) {
	err = s.write(ctx, a.Tenant, func(b *batch) {
		ack = checkpoint.Ack{}
		b.rows(func(r row) error { return r.Scan(nil, &ack.Inbox) }, sqlHold, a.Tenant, a.Thread, a.Nonce[:])
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

// readBack decides about a write that was refused: it was stored before, or it is stale.
func (s *Store) readBack(ctx context.Context, a *checkpoint.Append) (ack checkpoint.Ack, err error) {
	var found int
	var mine bool
	err = s.read(ctx, a.Tenant, func(b *batch) {
		found, mine = 0, false
		for i := range a.Records {
			r := &a.Records[i]
			b.rows(func(row row) error {
				var n int
				err := row.Scan(&n)
				found += n
				return err
			}, sqlPlace, a.Tenant, a.Thread, r.Branch, []byte(r.Namespace), r.Pos, r.Ord, r.By)
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
	case found < len(a.Records):
		return checkpoint.Ack{}, checkpoint.ErrStale
	}
	ack.Released = a.Park != nil && !mine
	return ack, nil
}

// fit refuses the batch unless each record comes right after the tail of its chain, and the branches are as expected.
func (b *batch) fit(a *checkpoint.Append) {
	most, more := int32(-1), 0
	next := make(map[checkpoint.Chain]int64, 1)
	unfit := false
	for i := range a.Records {
		r := &a.Records[i]
		chain := checkpoint.Chain{Branch: r.Branch, Namespace: r.Namespace}
		if want, ok := next[chain]; !ok {
			b.add(sqlTail, a.Tenant, a.Thread, r.Branch, []byte(r.Namespace), r.Pos)
		} else if want != r.Pos {
			unfit = true
		}
		next[chain] = r.Pos + 1
		most = max(most, r.Branch)
	}
	if a.Activate != nil {
		most = max(most, *a.Activate)
		unfit = unfit || *a.Activate < 0
	}
	var n *int32
	name := ""
	if a.Branch != nil {
		n, name, more = &a.Branch.N, a.Branch.Name, 1
	}
	if unfit {
		b.add(`select hf_must(false, '` + codeUnfit + `')`)
	}
	b.add(sqlFits, a.Tenant, a.Thread, n, more, most, name)
}

// apply stores what fits: records, used questions, a branch, the active branch.
func (b *batch) apply(a *checkpoint.Append) {
	entry := false
	for i := range a.Records {
		r := &a.Records[i]
		b.add(sqlInsert, a.Tenant, a.Thread, r.Branch, []byte(r.Namespace), r.Pos, r.Ord, r.By, r.Base, r.Step, int16(r.Kind), bytesOf(r.Body))
		entry = entry || r.Kind == checkpoint.KindEntry
	}
	if len(a.Closed) > 0 {
		b.add(sqlClose, a.Tenant, a.Thread, a.Closed)
	}
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
const sqlStub = `insert into hf_thread(tenant, thread, epoch, takeovers, inbox, active, branches, run, status, graph, owner, created, updated)
	values ($1, $2, 0, 0, 0, 0, 1, '', 0, '', $3, clock_timestamp(), clock_timestamp()) on conflict do nothing`

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
			for _, t := range tables {
				b.add(`delete from `+t+` where tenant = $1 and thread = $2`, key.Tenant, key.Thread)
			}
		})
		if !refused(err) { // else another deletion was between the two first statements
			return err
		}
	}
}
