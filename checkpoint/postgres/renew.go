package postgres

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	leases = `with l as (select * from unnest($1::text[], $2::text[], $3::bytea[]) with ordinality as l(tenant, thread, nonce, i))`

	// Rows that an append holds at this moment are passed over, so that one slow append delays no other lease.
	sqlRenew = leases + `, k as materialized (select l.i, t.tenant, t.thread from l join hf_thread t
			on t.tenant = l.tenant and t.thread = l.thread and t.nonce = l.nonce order by t.tenant, t.thread for no key update of t skip locked)
		update hf_thread t set lease_until = clock_timestamp() + $4::bigint * interval '1 microsecond' from k
		where t.tenant = k.tenant and t.thread = k.thread returning k.i, t.inbox`
	sqlRenewOne = `update hf_thread t set lease_until = clock_timestamp() + $4::bigint * interval '1 microsecond'
		where t.tenant = $1 and t.thread = $2 and t.nonce = $3 returning t.inbox`
	sqlStillHeld = leases + ` select l.i, t.inbox from l join hf_thread t on t.tenant = l.tenant and t.thread = l.thread and t.nonce = l.nonce`

	passes   = 3                      // over rows that are locked
	lockWait = 300 * time.Millisecond // for all rows that are still locked then
)

// A renewal is a lease that is not yet renewed, and its place in the result.
type renewal struct {
	checkpoint.Lease
	i int
}

// Renew implements checkpoint.Leaser: one statement for all leases, on a connection of its own. A row that stays locked is
// the thread of a very large append: its lease is reported as held, and not extended. Whoever wants to take it over waits
// for that append.
func (s *Store) Renew(ctx context.Context, ls []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	out, err := s.renew(ctx, ls, ttl)
	if err == nil {
		for i := range out {
			if out[i].Lost {
				s.acked.forget(ls[i])
			}
		}
	}
	return out, err
}

func (s *Store) renew(ctx context.Context, ls []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	out := make([]checkpoint.Renewal, len(ls))
	tenants := map[string][]renewal{} // under row-level security each tenant has a statement of its own
	for i, l := range ls {
		out[i].Lost = true
		tenant := ""
		if s.o.RowSecurity {
			tenant = l.Tenant
		}
		if !l.Nonce.Zero() && l.Key.Valid() == nil {
			tenants[tenant] = append(tenants[tenant], renewal{l, i})
		}
	}
	for pass := range passes {
		if err := s.renewMost(ctx, tenants, ttl, out); err != nil || len(tenants) == 0 {
			return out, err
		}
		if err := s.keepHeld(ctx, tenants, out); err != nil || len(tenants) == 0 {
			return out, err
		}
		if pass == passes-1 {
			s.renewLocked(ctx, tenants, ttl, out)
		}
	}
	return out, nil
}

// renewMost renews all rows that are not locked, and takes them out of the map.
func (s *Store) renewMost(ctx context.Context, tenants map[string][]renewal, ttl time.Duration, out []checkpoint.Renewal) error {
	return s.each(ctx, tenants, sqlRenew, []any{ttl.Microseconds()}, func(r renewal, inbox int64) bool {
		out[r.i] = checkpoint.Renewal{Inbox: inbox}
		return false
	}, true)
}

// keepHeld keeps in the map what is locked, not lost.
func (s *Store) keepHeld(ctx context.Context, tenants map[string][]renewal, out []checkpoint.Renewal) error {
	return s.each(ctx, tenants, sqlStillHeld, nil, func(r renewal, inbox int64) bool {
		out[r.i] = checkpoint.Renewal{Inbox: inbox}
		return true
	}, false)
}

// each runs a statement over the leases. A lease stays in the map if found says so for a row, or missing where there is none.
func (s *Store) each(ctx context.Context, tenants map[string][]renewal, text string, more []any, found func(renewal, int64) bool, missing bool) error {
	for names := range together(tenants) {
		if err := s.eachOf(ctx, names, tenants, text, more, found, missing); err != nil {
			return err
		}
	}
	return nil
}

// together are the tenants in order, as many at a time as may lock rows in one pipeline.
func together(tenants map[string][]renewal) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		var names []string
		size := 0
		for _, name := range slices.Sorted(maps.Keys(tenants)) {
			more := 0
			for _, r := range tenants[name] {
				more += len(r.Tenant) + len(r.Thread) + checkpoint.Overhead
			}
			if len(names) > 0 && size+more > maxLocked {
				if !yield(names) {
					return
				}
				names, size = nil, 0
			}
			names, size = append(names, name), size+more
		}
		if len(names) > 0 {
			yield(names)
		}
	}
}

func (s *Store) eachOf(ctx context.Context, names []string, tenants map[string][]renewal, text string, more []any, found func(renewal, int64) bool, missing bool) error {
	keep := map[string][]bool{}
	err := s.send(ctx, s.renewals, true, func(b *batch) {
		for _, name := range names {
			ls := tenants[name]
			stays := slices.Repeat([]bool{missing}, len(ls))
			keep[name] = stays
			b.local(name, true)
			b.rows(func(row row) error {
				var i int
				var inbox int64
				err := row.Scan(&i, &inbox)
				if err == nil {
					stays[i-1] = found(ls[i-1], inbox)
				}
				return err
			}, text, append(columns(ls), more...)...)
		}
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		var rest []renewal
		for i, r := range tenants[name] {
			if keep[name][i] {
				rest = append(rest, r)
			}
		}
		if tenants[name] = rest; len(rest) == 0 {
			delete(tenants, name)
		}
	}
	return nil
}

// columns are the leases as three arrays.
func columns(ls []renewal) []any {
	tenants, threads, nonces := make([]string, len(ls)), make([]string, len(ls)), make([][]byte, len(ls))
	for i := range ls {
		tenants[i], threads[i], nonces[i] = ls[i].Tenant, ls[i].Thread, ls[i].Nonce[:]
	}
	return []any{tenants, threads, nonces}
}

// renewLocked waits a moment for each row that others have locked. What is still locked then stays as it is.
func (s *Store) renewLocked(ctx context.Context, tenants map[string][]renewal, ttl time.Duration, out []checkpoint.Renewal) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for _, name := range slices.Sorted(maps.Keys(tenants)) {
		for _, r := range tenants[name] {
			if ctx.Err() != nil {
				return
			}
			// The pool's connections, so that the next renewal finds its own free.
			var got *checkpoint.Renewal
			err := s.write(ctx, r.Tenant, func(b *batch) {
				got = nil
				b.set("lock_timeout", "100ms")
				b.rows(func(row row) error {
					got = &checkpoint.Renewal{}
					return row.Scan(&got.Inbox)
				}, sqlRenewOne, r.Tenant, r.Thread, r.Nonce[:], ttl.Microseconds())
			})
			switch {
			case err != nil: // locked still
			case got == nil:
				out[r.i] = checkpoint.Renewal{Lost: true}
			default:
				out[r.i] = *got
			}
		}
	}
}
