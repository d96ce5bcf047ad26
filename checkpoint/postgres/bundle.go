package postgres

import (
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// sqlBundle judges each append by itself and stores those that fit; it returns which they are. What it asks is what buildHot
// asks. It carries everything that it stores, so nothing is locked before all of it is there.
//
// The thread is looked up in a subquery that locks, which the server can neither move nor join by reading the whole table: so
// threads are locked one by one, in the order of the arrays.
const sqlBundle = `with t as materialized (select a.*, h.inbox
		from unnest($1::text[], $2::text[], $3::bytea[], $4::int[], $5::bytea[], $6::bigint[], $7::bool[], $8::int[], $9::int[])
			with ordinality as a(tenant, thread, nonce, branch, ns, pos, entry, first, n, i)
		cross join lateral (select inbox from hf_thread h where h.tenant = a.tenant and h.thread = a.thread and h.nonce = a.nonce
			and h.branches > a.branch and (h.takeovers = 0 or not a.entry) for share) h
		where a.pos - 1 = coalesce((select p.pos from hf_record p where p.tenant = a.tenant and p.thread = a.thread and p.branch = a.branch
			and p.ns = a.ns and p.pos >= a.pos - 1 order by p.pos desc limit 1), -1)),
	r as (insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, body, at)
		select t.tenant, t.thread, t.branch, t.ns, t.pos + v.k, ($10::bigint[])[t.first + v.k], ($11::bigint[])[t.first + v.k],
			($12::bigint[])[t.first + v.k], ($13::bigint[])[t.first + v.k], ($14::smallint[])[t.first + v.k], ($15::bytea[])[t.first + v.k], clock_timestamp()
		from t, generate_series(0, t.n - 1) as v(k))
	select i, inbox from t`

// A bundle is hot appends as arrays: of what an append is, and of what a record is. Each append has one chain.
type bundle struct {
	tenants, threads     []string
	nonces, spaces       [][]byte
	branches             []int32
	pos                  []int64
	entries              []bool
	firsts, counts       []int32 // where its records begin, counted from 1, and how many they are
	ord, by, base, steps []int64
	kinds                []int16
	bodies               [][]byte
}

func (l *bundle) add(h *hot) {
	rs := h.Records
	l.tenants, l.threads, l.nonces = append(l.tenants, h.Tenant), append(l.threads, h.Thread), append(l.nonces, h.Nonce[:])
	l.branches, l.spaces, l.pos = append(l.branches, rs[0].Branch), append(l.spaces, []byte(rs[0].Namespace)), append(l.pos, rs[0].Pos)
	l.entries, l.firsts, l.counts = append(l.entries, h.entry), append(l.firsts, int32(len(l.ord)+1)), append(l.counts, int32(len(rs)))
	for i := range rs {
		r := &rs[i]
		l.ord, l.by, l.base, l.steps = append(l.ord, r.Ord), append(l.by, r.By), append(l.base, r.Base), append(l.steps, r.Step)
		l.kinds, l.bodies = append(l.kinds, int16(r.Kind)), append(l.bodies, bytesOf(r.Body))
	}
}

// bundle queues appends as one statement; done tells which of them it stored.
func (b *batch) bundle(ws []*waiter, done []bool) {
	var l bundle
	for _, w := range ws {
		l.add(w.hot)
	}
	b.rows(func(r row) error {
		var i int
		var ack checkpoint.Ack
		if err := r.Scan(&i, &ack.Inbox); err != nil {
			return err
		}
		if i < 1 || i > len(ws) {
			return corrupt("an acknowledgement", fmt.Errorf("of append %d among %d", i, len(ws)))
		}
		ws[i-1].ack, done[i-1] = ack, true
		return nil
	}, sqlBundle, l.tenants, l.threads, l.nonces, l.branches, l.spaces, l.pos, l.entries, l.firsts, l.counts,
		l.ord, l.by, l.base, l.steps, l.kinds, l.bodies)
}
