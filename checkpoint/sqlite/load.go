package sqlite

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	recordColumns = `branch, ns, pos, ord, by, base, step, kind, at, `
	inChain       = ` where tenant = ?1 and thread = ?2 and branch = ?3 and ns = ?4`

	sqlLoad = `select ` + recordColumns + `body from hf_record` + inChain + ` and pos >=
		(select base from hf_record` + inChain + ` order by pos desc limit 1) order by pos`

	sqlRead = `select ` + recordColumns + `case when ?9 then x'' else body end from hf_record` + inChain + `
		and pos between ?5 and ?6 and ord <= ?7`
	sqlReadFirst  = sqlRead + ` order by pos limit ?8`
	sqlReadNewest = sqlRead + ` order by pos desc limit ?8`

	// Hops from namespace to namespace, so that the cost is in the number of chains, not of records.
	sqlChains = `with recursive chain(ns) as (
			select min(ns) from hf_record where tenant = ?1 and thread = ?2 and branch = ?3
			union all
			select (select min(r.ns) from hf_record r where r.tenant = ?1 and r.thread = ?2 and r.branch = ?3 and r.ns > chain.ns)
			from chain where chain.ns is not null)
		select ` + recordColumns + `x'' from hf_record join chain using (ns) where tenant = ?1 and thread = ?2 and branch = ?3 and pos =
			(select max(t.pos) from hf_record t where t.tenant = ?1 and t.thread = ?2 and t.branch = ?3 and t.ns = chain.ns) order by ns`

	sqlBranches = `select n, name, origin, ord, reason from hf_branch where tenant = ? and thread = ? order by n`
)

// scanRecord reads recordColumns and a body.
func scanRecord(r *row) checkpoint.Record {
	return checkpoint.Record{
		Branch: r.int32(), Namespace: checkpoint.Namespace(r.blob()), Pos: r.int(), Ord: r.int(), By: r.int(),
		Base: r.int(), Step: r.int(), Kind: checkpoint.Kind(r.byte()), At: r.time(), Body: r.blob(),
	}
}

// Load implements checkpoint.Log.
func (s *Store) Load(ctx context.Context, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	if err := key.Valid(); err != nil {
		return nil, err
	}
	return read(ctx, s, func(ctx context.Context, c *conn) (*checkpoint.Loaded, error) {
		now := s.now()
		t, err := head(ctx, c, key, now)
		l := &checkpoint.Loaded{Head: t.Head, Branch: resolve(branch, t.Active)}
		if err != nil || t.Epoch == 0 {
			return l, err
		}
		add := func(r *row) { l.Records = append(l.Records, scanRecord(r)) }
		if err = c.query(ctx, sqlLoad, add, key.Tenant, key.Thread, l.Branch, []byte(ns)); err != nil {
			return nil, err
		}
		ask := func(r *row) { l.Questions = append(l.Questions, scanQuestion(r, now)) }
		if err = c.query(ctx, sqlPending, ask, key.Tenant, key.Thread, l.Branch); err != nil {
			return nil, err
		}
		fork := func(r *row) { l.Branches = append(l.Branches, scanBranch(r)) }
		if err = c.query(ctx, sqlBranches, fork, key.Tenant, key.Thread); err != nil {
			return nil, err
		}
		l.Inbox, err = inbox(ctx, c, key)
		return l, err
	})
}

func scanBranch(r *row) checkpoint.Branch {
	return checkpoint.Branch{N: r.int32(), Name: r.text(), Origin: r.int32(), Ord: r.int(), Reason: r.text()}
}

// resolve replaces checkpoint.Active.
func resolve(branch, active int32) int32 {
	if branch == checkpoint.Active {
		return active
	}
	return branch
}

// branchOf is resolve for a call that has not read the head.
func branchOf(ctx context.Context, c *conn, key checkpoint.Key, branch int32) (int32, error) {
	if branch != checkpoint.Active {
		return branch, nil
	}
	branch = 0
	err := c.query(ctx, `select active from hf_thread where tenant = ? and thread = ?`,
		func(r *row) { branch = r.int32() }, key.Tenant, key.Thread)
	return branch, err
}

// Read implements checkpoint.Log.
func (s *Store) Read(ctx context.Context, q checkpoint.Query) ([]checkpoint.Record, error) {
	if err := q.Key.Valid(); err != nil {
		return nil, err
	}
	text, limit := sqlReadFirst, cmp.Or(max(q.Limit, 0), -1)
	newest := q.Newest && limit > 0
	if newest {
		text = sqlReadNewest
	}
	to, ord := q.To, cmp.Or(max(q.MaxOrd, 0), math.MaxInt64)
	if to < 0 {
		to = math.MaxInt64
	}
	return read(ctx, s, func(ctx context.Context, c *conn) (out []checkpoint.Record, err error) {
		branch, err := branchOf(ctx, c, q.Key, q.Branch)
		if err != nil {
			return nil, err
		}
		noBody := 0
		if q.NoBody {
			noBody = 1
		}
		err = c.query(ctx, text, func(r *row) { out = append(out, scanRecord(r)) },
			q.Tenant, q.Thread, branch, []byte(q.Namespace), q.From, to, ord, limit, noBody)
		if newest {
			slices.Reverse(out)
		}
		return out, err
	})
}

// Chains implements checkpoint.Log.
func (s *Store) Chains(ctx context.Context, key checkpoint.Key, branch int32) ([]checkpoint.Record, error) {
	if err := key.Valid(); err != nil {
		return nil, err
	}
	return read(ctx, s, func(ctx context.Context, c *conn) (out []checkpoint.Record, err error) {
		branch, err := branchOf(ctx, c, key, branch)
		if err != nil {
			return nil, err
		}
		err = c.query(ctx, sqlChains, func(r *row) { out = append(out, scanRecord(r)) }, key.Tenant, key.Thread, branch)
		return out, err
	})
}
