package postgres

import (
	"context"
	"encoding/json"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	runColumns = `r.tenant, r.thread, r.run, r.request, r.status, r.graph, r.started_by, r.error, r.started, r.ended,
		(select json_object_agg(m.name, m.value)::text from hf_meta m where m.tenant = r.tenant and m.thread = r.thread and m.run = r.run)`
	sameRun    = ` from hf_run r where r.tenant = $1 and r.thread = $2 and (r.run = $3 or r.request = $4 and r.request <> '')`
	sqlSameRun = `select ` + runColumns + sameRun + ` order by r.run = $3 desc limit 1`
	sqlNewRun  = `select hf_must(not exists (select 1` + sameRun + `), '` + codeDuplicate + `')`

	// From here to the end of the batch the thread is this write's alone.
	sqlLockThread = `with t as materialized (select nonce from hf_thread where tenant = $1 and thread = $2 for update)
		select hf_must(count(*) = 1, '` + codeRefused + `'), hf_must(count(*) filter (where nonce = $3::bytea) = 0, '` + codeMine + `') from t`
	sqlExpect = `select hf_must(case $3::int when 0 then nonce is null and epoch = $4 when 1 then lease_until <= clock_timestamp()
		else nonce = $5::bytea end, '` + codeRefused + `') from hf_thread where tenant = $1 and thread = $2`

	sqlAcquire = `update hf_thread set nonce = $3, epoch = epoch + 1, lease_until = clock_timestamp() + $4::bigint * interval '1 microsecond',
		holder = $5, takeovers = case when $6::bool then takeovers + 1 else 0 end where tenant = $1 and thread = $2`
	sqlStart = `update hf_thread set run = $3, status = $4, graph = $5, updated = clock_timestamp() where tenant = $1 and thread = $2`
	sqlRun   = `insert into hf_run(tenant, thread, run, request, status, graph, started_by, error, started, ended)
		values ($1, $2, $3, $4, $5, $6, $7, '', clock_timestamp(), case when $8::bool then clock_timestamp() end)`
	sqlOldRun = `select hf_must(exists (select 1 from hf_run where tenant = $1 and thread = $2 and run = $3), '` + codeUnfit + `')`
	sqlStatus = `with t as (update hf_thread set status = $3, updated = clock_timestamp() where tenant = $1 and thread = $2 returning run)
		update hf_run r set status = $3, error = coalesce($4, r.error), ended = case when $5::bool then clock_timestamp() end from t
		where r.tenant = $1 and r.thread = $2 and r.run = t.run`
	free       = `released = nonce, nonce = null, lease_until = null, holder = null`
	sqlRelease = `update hf_thread set ` + free + ` where tenant = $1 and thread = $2 and nonce = $3 and inbox = $4`
	sqlHeld    = `select coalesce(nonce = $3, false), nonce is null and coalesce(released = $3, false) from hf_thread where tenant = $1 and thread = $2`
)

// scanRun reads runColumns.
func scanRun(r row, to *[]checkpoint.Run) error {
	var v checkpoint.Run
	var why []byte
	var names *string
	err := r.Scan(&v.Tenant, &v.Thread, &v.ID, &v.Request, octet[checkpoint.Status]{&v.Status}, &v.Graph, &v.By, &why, stamp{&v.Started}, stamp{&v.Ended}, &names)
	if err != nil {
		return err
	}
	v.Error = string(why)
	v.Meta, err = meta(names)
	*to = append(*to, v)
	return err
}

// Acquire implements checkpoint.Leaser.
func (s *Store) Acquire(ctx context.Context, a *checkpoint.Acquire) (checkpoint.Head, error) {
	if err := a.Valid(); err != nil {
		return checkpoint.Head{}, err
	}
	w := &checkpoint.Append{Key: a.Key, Records: a.Records, Closed: a.Closed, Branch: a.Branch, Activate: a.Activate}
	if _, err := weigh(w); err != nil {
		return checkpoint.Head{}, err
	}
	holder, err := json.Marshal(a.Holder)
	if err != nil {
		return checkpoint.Head{}, err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return checkpoint.Head{}, err
	}
	defer leave()
	for {
		var h checkpoint.Head
		err := s.write(ctx, a.Tenant, func(b *batch) { b.acquire(a, w, holder, &h) })
		if err == nil {
			s.acked.forget(checkpoint.Lease{Key: a.Key, Nonce: a.Seen}) // of a holder of this process, if it was one
		}
		if !refused(err) {
			return h, err
		}
		if h, err = s.whyNot(ctx, a, code(err)); err != errAgain {
			return h, err
		}
	}
}

// acquire queues all of an acquisition; the head is as after it.
func (b *batch) acquire(a *checkpoint.Acquire, w *checkpoint.Append, holder []byte, h *checkpoint.Head) {
	firsts, ok := chains(w.Records)
	ok = ok && (w.Activate == nil || *w.Activate >= 0)
	b.load(a, w, firsts, ok)
	b.add(sqlLockThread, a.Tenant, a.Thread, a.Nonce[:])
	if a.Run != nil && !a.Again {
		b.add(sqlNewRun, a.Tenant, a.Thread, a.Run.ID, a.Run.Request)
	}
	b.add(sqlExpect, a.Tenant, a.Thread, int32(a.Mode), a.Epoch, a.Seen[:])
	if !ok {
		b.add(sqlUnfit)
	}
	if a.Again {
		b.add(sqlOldRun, a.Tenant, a.Thread, a.Run.ID)
	}
	if len(w.Records) > 0 { // all are there or none
		r := &w.Records[0]
		b.add(sqlPlaced, a.Tenant, a.Thread, r.Branch, []byte(r.Namespace), r.Pos, r.Ord, r.By)
	}
	if len(w.Records) > 0 || w.Branch != nil || w.Activate != nil {
		b.fit(w)
	}
	b.add(sqlAcquire, a.Tenant, a.Thread, a.Nonce[:], a.TTL.Microseconds(), holder, a.Mode != checkpoint.Free)
	switch r := a.Run; {
	case r != nil:
		if !a.Again {
			b.add(sqlRun, a.Tenant, a.Thread, r.ID, r.Request, int16(r.First()), r.Graph, r.By, r.First().Ended())
		}
		b.add(sqlStart, a.Tenant, a.Thread, r.ID, int16(r.First()), r.Graph)
	case a.Resume:
		b.status(a.Key, checkpoint.Running, []byte{})
	}
	b.apply(w)
	b.head(a.Key, h)
}

// load queues what may be large: records and metadata, and with them the thread's row if it is not there. It decides
// nothing. What it inserts although the thread is not as expected the next statements undo.
func (b *batch) load(a *checkpoint.Acquire, w *checkpoint.Append, firsts []int, ok bool) {
	create := a.Mode == checkpoint.Free && a.Epoch == 0
	var names map[string]string
	if a.Run != nil && !a.Again {
		names = a.Run.Meta
	}
	if !ok || len(w.Records) == 0 && len(w.Closed) == 0 && len(names) == 0 {
		if create {
			b.add(sqlStub, a.Tenant, a.Thread, a.Owner)
		}
		return
	}
	l := lock(a.Key, ``)
	from := `t`
	if a.Mode == checkpoint.Free {
		from = `h`
		if create { // t does not see the row that this very statement makes
			l.part(`s as (`+sqlStubFor+` returning 1)`, a.Owner)
			l.part(`h as (select 1 from t where nonce is null and epoch = 0 union all select 1 from s)`)
		} else {
			l.part(`h as (select 1 from t where nonce is null and epoch = ?)`, a.Epoch)
		}
	}
	if len(w.Records) > 0 {
		l.records(from, w.Records, firsts)
	}
	l.closes(from, w.Closed)
	if len(names) > 0 {
		l.meta(from, a.Run.ID, names)
	}
	b.add(l.text(`select 1 from t`), l.args...)
}

// status sets the status of a thread and its latest run; an error that is nil stays.
func (b *batch) status(k checkpoint.Key, st checkpoint.Status, why []byte) {
	b.add(sqlStatus, k.Tenant, k.Thread, int16(st), why, st.Ended())
}

// whyNot gives the refusal of an acquisition its meaning. It returns errAgain if what refused it is gone.
func (s *Store) whyNot(ctx context.Context, a *checkpoint.Acquire, code string) (h checkpoint.Head, err error) {
	switch code {
	case codeMine:
		err = s.read(ctx, a.Tenant, func(b *batch) { b.head(a.Key, &h) })
		if err == nil && h.Nonce != a.Nonce {
			return checkpoint.Head{}, checkpoint.ErrHeld // it is over already
		}
		return h, err
	case codeDuplicate:
		var same []checkpoint.Run
		err = s.read(ctx, a.Tenant, func(b *batch) {
			same = nil
			b.rows(func(r row) error { return scanRun(r, &same) }, sqlSameRun, a.Tenant, a.Thread, a.Run.ID, a.Run.Request)
		})
		switch {
		case err != nil:
			return h, err
		case len(same) == 0:
			return h, errAgain // the thread was deleted meanwhile
		}
		return h, &checkpoint.DuplicateError{Run: same[0]}
	case codeRefused:
		return h, checkpoint.ErrHeld
	}
	return h, checkpoint.ErrStale
}

// Release implements checkpoint.Leaser. It can tell its own release: a repeat returns true.
func (s *Store) Release(ctx context.Context, l checkpoint.Lease, seen int64) (bool, error) {
	if err := l.Key.Valid(); err != nil {
		return false, err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	var held, mine bool
	err = s.write(ctx, l.Tenant, func(b *batch) {
		held, mine = false, false
		b.add(sqlRelease, l.Tenant, l.Thread, l.Nonce[:], seen)
		b.rows(func(r row) error { return r.Scan(&held, &mine) }, sqlHeld, l.Tenant, l.Thread, l.Nonce[:])
	})
	switch {
	case err != nil:
		return false, err
	case held:
		return false, nil
	}
	s.acked.forget(l)
	if mine && !l.Nonce.Zero() {
		return true, nil
	}
	return false, checkpoint.ErrStale
}
