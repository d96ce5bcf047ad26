package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	runColumns = `r.tenant, r.thread, r.run, r.request, r.status, r.graph, r.started_by, r.error, r.started, r.ended,
		(select json_group_object(m.name, ` + metaValue + `) from hf_meta m where m.tenant = r.tenant and m.thread = r.thread and m.run = r.run)`
	sqlSameRun = `select ` + runColumns + ` from hf_run r where r.tenant = ?1 and r.thread = ?2
		and (r.run = ?3 or r.request = ?4 and r.request <> '') order by r.run = ?3 desc limit 1`
	sqlNewThread = `insert into hf_thread(tenant, thread, epoch, nonce, released, lease_until, holder, takeovers, inbox, active,
		branches, run, status, graph, owner, created, updated) values (?1, ?2, 0, x'', x'', 0, x'', 0, 0, 0, 1, '', 0, '', ?3, ?4, ?4)`
	sqlTake = `update hf_thread set nonce = ?3, lease_until = ?4, holder = ?5, epoch = epoch + 1,
		takeovers = case when ?6 then takeovers + 1 else 0 end where tenant = ?1 and thread = ?2`
	sqlFree  = `update hf_thread set released = nonce, nonce = x'', lease_until = 0, holder = x'' where tenant = ? and thread = ?`
	sqlRenew = `update hf_thread set lease_until = ? where tenant = ? and thread = ? and nonce = ? returning inbox`
)

// scanRun reads runColumns.
func scanRun(r *row) checkpoint.Run {
	return checkpoint.Run{
		Key: checkpoint.Key{Tenant: r.text(), Thread: r.text()}, ID: r.text(), Request: r.text(), Status: checkpoint.Status(r.byte()),
		Graph: r.text(), By: r.text(), Error: string(r.blob()), Started: r.time(), Ended: r.time(), Meta: meta(r),
	}
}

// Acquire implements checkpoint.Leaser.
func (s *Store) Acquire(ctx context.Context, a *checkpoint.Acquire) (checkpoint.Head, error) {
	if err := a.Valid(); err != nil {
		return checkpoint.Head{}, err
	}
	w := &checkpoint.Append{Key: a.Key, Records: a.Records, Closed: a.Closed, Branch: a.Branch, Activate: a.Activate}
	size, err := weigh(w)
	if err != nil {
		return checkpoint.Head{}, err
	}
	return write(ctx, s, size, func(c *conn) (checkpoint.Head, error) { return acquire(c, a, w, s.now()) })
}

func acquire(c *conn, a *checkpoint.Acquire, w *checkpoint.Append, now time.Time) (checkpoint.Head, error) {
	t, err := head(bg, c, a.Key, now)
	if err != nil || t.Epoch > 0 && t.Nonce == a.Nonce {
		return t.Head, err
	}
	err = sameRun(c, a)
	_, same := errors.AsType[*checkpoint.DuplicateError](err)
	if err != nil && !(a.Again && same) {
		return checkpoint.Head{}, err
	}
	if !expected(a, &t) {
		return checkpoint.Head{}, checkpoint.ErrHeld
	}
	switch ok, err := fits(c, w, max(t.Branches, 1)); {
	case err != nil:
		return checkpoint.Head{}, err
	case !ok || a.Again && !same:
		return checkpoint.Head{}, checkpoint.ErrStale
	}
	if err := take(c, a, &t, now); err != nil {
		return checkpoint.Head{}, err
	}
	if err := apply(c, w, now); err != nil {
		return checkpoint.Head{}, err
	}
	t, err = head(bg, c, a.Key, now)
	return t.Head, err
}

// expected reports whether the thread is as the request expects it.
func expected(a *checkpoint.Acquire, t *thread) bool {
	switch a.Mode {
	case checkpoint.Free:
		return !t.Held() && t.Epoch == a.Epoch
	case checkpoint.Expired:
		return t.Expired
	default:
		return t.Held() && t.Nonce == a.Seen
	}
}

// sameRun returns a DuplicateError if the run was started before.
func sameRun(c *conn, a *checkpoint.Acquire) error {
	if a.Run == nil {
		return nil
	}
	var dup *checkpoint.DuplicateError
	err := c.query(bg, sqlSameRun, func(r *row) { dup = &checkpoint.DuplicateError{Run: scanRun(r)} },
		a.Tenant, a.Thread, a.Run.ID, a.Run.Request)
	if err == nil && dup != nil {
		return dup
	}
	return err
}

// take writes the acquisition, and the run that it starts or resumes.
func take(c *conn, a *checkpoint.Acquire, t *thread, now time.Time) error {
	holder, err := json.Marshal(a.Holder)
	if err != nil {
		return err
	}
	var steps []step
	if t.Epoch == 0 {
		steps = append(steps, step{sqlNewThread, []value{a.Tenant, a.Thread, a.Owner, now}})
	}
	takeover := 0
	if a.Mode != checkpoint.Free {
		takeover = 1
	}
	steps = append(steps, step{sqlTake, []value{a.Tenant, a.Thread, a.Nonce[:], now.Add(a.TTL), holder, takeover}})
	switch r := a.Run; {
	case r != nil:
		steps = append(steps, step{`update hf_thread set run = ?, status = ?, graph = ?, updated = ? where tenant = ? and thread = ?`,
			[]value{r.ID, int(r.First()), r.Graph, now, a.Tenant, a.Thread}})
		if !a.Again {
			steps = append(steps, newRun(a.Key, r, now)...)
		}
	case a.Resume:
		steps = append(steps, status(a.Key, t.Run, checkpoint.Running, "", now)...)
	}
	return c.all(steps)
}

// newRun makes the row of a run.
func newRun(k checkpoint.Key, r *checkpoint.Run, now time.Time) []step {
	var ended time.Time
	if r.First().Ended() {
		ended = now
	}
	steps := []step{{`insert into hf_run(tenant, thread, run, request, status, graph, started_by, error, started, ended)
		values (?, ?, ?, ?, ?, ?, ?, x'', ?, ?)`, []value{k.Tenant, k.Thread, r.ID, r.Request, int(r.First()), r.Graph, r.By, now, ended}}}
	for name, v := range r.Meta {
		steps = append(steps, step{`insert into hf_meta(tenant, thread, run, name, value) values (?, ?, ?, ?, ?)`, []value{k.Tenant, k.Thread, r.ID, name, v}})
	}
	return steps
}

// status sets the status of a thread and its latest run.
func status(k checkpoint.Key, run string, st checkpoint.Status, why string, now time.Time) []step {
	var ended time.Time
	if st.Ended() {
		ended = now
	}
	return []step{
		{`update hf_thread set status = ?, updated = ? where tenant = ? and thread = ?`, []value{int(st), now, k.Tenant, k.Thread}},
		{`update hf_run set status = ?, error = ?, ended = ? where tenant = ? and thread = ? and run = ?`,
			[]value{int(st), []byte(why), ended, k.Tenant, k.Thread, run}},
	}
}

// free releases a thread.
func free(c *conn, k checkpoint.Key) error {
	_, err := c.exec(bg, sqlFree, k.Tenant, k.Thread)
	return err
}

// Renew implements checkpoint.Leaser: all leases in one transaction, before whatever else is queued.
func (s *Store) Renew(ctx context.Context, leases []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	return enqueue(ctx, s, &request{first: true}, nil, func(c *conn) ([]checkpoint.Renewal, error) {
		out := make([]checkpoint.Renewal, len(leases))
		until := s.now().Add(ttl)
		for i, l := range leases {
			out[i].Lost = true
			if l.Nonce.Zero() {
				continue
			}
			err := c.query(bg, sqlRenew, func(r *row) { out[i] = checkpoint.Renewal{Inbox: r.int()} }, until, l.Tenant, l.Thread, l.Nonce[:])
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

// Release implements checkpoint.Leaser. It can tell its own release: a repeat returns true.
func (s *Store) Release(ctx context.Context, l checkpoint.Lease, seen int64) (bool, error) {
	if err := l.Key.Valid(); err != nil {
		return false, err
	}
	return write(ctx, s, 0, func(c *conn) (bool, error) {
		t, err := head(bg, c, l.Key, s.now())
		switch {
		case err != nil:
			return false, err
		case l.Nonce.Zero():
			return false, checkpoint.ErrStale
		case t.Nonce == l.Nonce && t.Inbox == seen:
			return true, free(c, l.Key)
		case t.Nonce == l.Nonce:
			return false, nil
		case !t.Held() && t.released == l.Nonce:
			return true, nil
		}
		return false, checkpoint.ErrStale
	})
}
