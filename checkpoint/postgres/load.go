package postgres

import (
	"context"
	"math"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	inThatChain = ` where tenant = $1 and thread = $2 and branch = ` + branchOf + ` and ns = $4`

	sqlLoad = `select ` + recordColumns + `body from hf_record` + inThatChain + ` and pos >=
		(select base from hf_record` + inThatChain + ` order by pos desc limit 1) order by pos`

	sqlRead = `select ` + recordColumns + `case when $9::bool then null else body end from hf_record` + inThatChain + `
		and pos between $5 and $6 and ord <= $7`
	sqlReadFirst  = sqlRead + ` order by pos limit $8`
	sqlReadNewest = sqlRead + ` order by pos desc limit $8`

	// Hops from namespace to namespace, so that the cost is in the number of chains, not of records.
	sqlChains = `with recursive chain(ns) as (
			(select ns from hf_record where tenant = $1 and thread = $2 and branch = ` + branchOf + ` order by ns limit 1)
			union all
			select (select r.ns from hf_record r where r.tenant = $1 and r.thread = $2 and r.branch = ` + branchOf + ` and r.ns > chain.ns order by r.ns limit 1)
			from chain where chain.ns is not null)
		select l.branch, l.ns, l.pos, l.ord, l.by, l.base, l.step, l.kind, l.at, null::bytea from chain cross join lateral (select * from hf_record r
			where r.tenant = $1 and r.thread = $2 and r.branch = ` + branchOf + ` and r.ns = chain.ns order by r.pos desc limit 1) l order by l.ns`

	sqlBranches = `select n, name, origin, ord, reason from hf_branch where tenant = $1 and thread = $2 order by n`
)

// scanRecord reads recordColumns and a body.
func scanRecord(r row, to *[]checkpoint.Record) error {
	var v checkpoint.Record
	var ns []byte
	if err := r.Scan(&v.Branch, &ns, &v.Pos, &v.Ord, &v.By, &v.Base, &v.Step, octet[checkpoint.Kind]{&v.Kind}, stamp{&v.At}, &v.Body); err != nil {
		return err
	}
	v.Namespace = checkpoint.Namespace(ns)
	*to = append(*to, v)
	return nil
}

// Load implements checkpoint.Log.
func (s *Store) Load(ctx context.Context, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	if err := key.Valid(); err != nil {
		return nil, err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	var l *checkpoint.Loaded
	err = s.readAsOfOneMoment(ctx, key.Tenant, func(b *batch) {
		l = &checkpoint.Loaded{}
		b.head(key, &l.Head)
		b.rows(func(r row) error { return scanRecord(r, &l.Records) }, sqlLoad, key.Tenant, key.Thread, branch, []byte(ns))
		b.rows(func(r row) error { return scanQuestion(r, &l.Questions) }, sqlPending, key.Tenant, key.Thread, branch)
		b.rows(func(r row) error { return scanBranch(r, &l.Branches) }, sqlBranches, key.Tenant, key.Thread)
		b.inbox(key, &l.Inbox)
	})
	if err != nil {
		return nil, err
	}
	if l.Branch = branch; branch == checkpoint.Active {
		l.Branch = l.Head.Active
	}
	return l, nil
}

func scanBranch(r row, to *[]checkpoint.Branch) error {
	var v checkpoint.Branch
	err := r.Scan(&v.N, &v.Name, &v.Origin, &v.Ord, &v.Reason)
	*to = append(*to, v)
	return err
}

// Read implements checkpoint.Log.
func (s *Store) Read(ctx context.Context, q checkpoint.Query) (out []checkpoint.Record, err error) {
	if err := q.Key.Valid(); err != nil {
		return nil, err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	text, to, ord := sqlReadFirst, q.To, q.MaxOrd
	newest := q.Newest && q.Limit > 0
	if newest {
		text = sqlReadNewest
	}
	if to < 0 {
		to = math.MaxInt64
	}
	if ord <= 0 {
		ord = math.MaxInt64
	}
	var limit *int
	if q.Limit > 0 {
		limit = &q.Limit
	}
	err = s.read(ctx, q.Tenant, func(b *batch) {
		out = nil
		b.rows(func(r row) error { return scanRecord(r, &out) }, text, q.Tenant, q.Thread, q.Branch, []byte(q.Namespace), q.From, to, ord, limit, q.NoBody)
	})
	if newest {
		slices.Reverse(out)
	}
	return out, err
}

// Chains implements checkpoint.Log.
func (s *Store) Chains(ctx context.Context, key checkpoint.Key, branch int32) (out []checkpoint.Record, err error) {
	if err := key.Valid(); err != nil {
		return nil, err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	err = s.read(ctx, key.Tenant, func(b *batch) {
		out = nil
		b.rows(func(r row) error { return scanRecord(r, &out) }, sqlChains, key.Tenant, key.Thread, branch)
	})
	return out, err
}
