package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	// The fence and the tail in one look: with them the insert needs no condition of its own.
	sqlFence = `select inbox, takeovers, branches, (select max(pos) from hf_record
			where tenant = ?1 and thread = ?2 and branch = ?4 and ns = ?5)
		from hf_thread where tenant = ?1 and thread = ?2 and nonce = ?3`
	// The same as one statement, which is a transaction of its own: the price of a bare insert.
	sqlWhole = `insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, at, body)
		select ?1, ?2, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 from hf_thread
		where tenant = ?1 and thread = ?2 and nonce = ?3 and branches > ?4 and takeovers = 0 and ?6 - 1 = ifnull(
			(select max(pos) from hf_record where tenant = ?1 and thread = ?2 and branch = ?4 and ns = ?5), -1)
		returning (select inbox from hf_thread where tenant = ?1 and thread = ?2)`
	sqlTail   = `select pos from hf_record` + inChain + ` order by pos desc limit 1`
	sqlFirst  = `select pos from hf_record` + inChain + ` order by pos limit 1`
	sqlPlace  = `select ord, by from hf_record` + inChain + ` and pos = ?5`
	sqlInsert = `insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, at, body)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlNoTakeovers = `update hf_thread set takeovers = 0 where tenant = ? and thread = ?`
	sqlTrim        = `delete from hf_record` + inChain + ` and pos < ?5`
)

// maxBody is a little less than the largest row of SQLite.
const maxBody = 1_000_000_000 - 1<<20

var bg = context.Background() // of statements of the writer: a transaction is never cut by the context of one request

// Append implements checkpoint.Log.
func (s *Store) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	if err := a.Valid(); err != nil {
		return checkpoint.Ack{}, err
	}
	size, err := weigh(a)
	if err != nil {
		return checkpoint.Ack{}, err
	}
	if len(a.Records) != 1 || a.Closed != nil || a.Branch != nil || a.Activate != nil || a.Park != nil || a.Taken != 0 {
		return write(ctx, s, size, func(c *conn) (checkpoint.Ack, error) { return appendAny(c, a, s.now()) })
	}
	whole := func(c *conn) (checkpoint.Ack, bool, error) { return appendWhole(c, a, s.now()) }
	return enqueue(ctx, s, &request{size: size}, whole, func(c *conn) (checkpoint.Ack, error) { return appendOne(c, a, s.now()) })
}

// weigh is about what an append adds to the file.
func weigh(a *checkpoint.Append) (size int, err error) {
	for i := range a.Records {
		if len(a.Records[i].Body) > maxBody {
			return 0, fmt.Errorf("%w: a body of %d bytes, SQLite takes %d", checkpoint.ErrTooLarge, len(a.Records[i].Body), maxBody)
		}
		size += len(a.Records[i].Body) + checkpoint.Overhead
	}
	if a.Park == nil {
		return size, nil
	}
	for i := range a.Park.Questions {
		if len(a.Park.Questions[i].Body) > maxBody {
			return 0, fmt.Errorf("%w: question %s", checkpoint.ErrTooLarge, a.Park.Questions[i].ID)
		}
		size += len(a.Park.Questions[i].Body)
	}
	return size, nil
}

// appendWhole is the ordinary superstep of a thread that is alone. It stores nothing if anything is not as expected.
func appendWhole(c *conn, a *checkpoint.Append, now time.Time) (ack checkpoint.Ack, done bool, err error) {
	r := &a.Records[0]
	err = c.query(bg, sqlWhole, func(row *row) { ack.Inbox, done = row.int(), true },
		a.Tenant, a.Thread, a.Nonce[:], r.Branch, []byte(r.Namespace), r.Pos, r.Ord, r.By, r.Base, r.Step, int(r.Kind), now, r.Body)
	return ack, done, err
}

// appendOne is the ordinary superstep among others: one look at the thread's row, one insert.
func appendOne(c *conn, a *checkpoint.Append, now time.Time) (checkpoint.Ack, error) {
	r := &a.Records[0]
	var ack checkpoint.Ack
	var takeovers, branches, tail int64
	mine := false
	err := c.query(bg, sqlFence, func(row *row) {
		mine = true
		ack.Inbox, takeovers, branches = row.int(), row.int(), row.int()
		tail = row.intOr(-1)
	}, a.Tenant, a.Thread, a.Nonce[:], r.Branch, []byte(r.Namespace))
	if err != nil {
		return checkpoint.Ack{}, err
	}
	if !mine || tail != r.Pos-1 || int64(r.Branch) >= branches {
		return readBack(c, a, now)
	}
	if err := insert(c, a.Key, r, now); err != nil {
		return checkpoint.Ack{}, err
	}
	if takeovers > 0 && r.Kind == checkpoint.KindEntry {
		_, err = c.exec(bg, sqlNoTakeovers, a.Tenant, a.Thread)
	}
	return ack, err
}

// readBack decides about a write that does not fit: it was stored before, or it is stale.
func readBack(c *conn, a *checkpoint.Append, now time.Time) (checkpoint.Ack, error) {
	t, err := head(bg, c, a.Key, now)
	if err != nil {
		return checkpoint.Ack{}, err
	}
	ok, err := written(c, a)
	switch {
	case err != nil:
		return checkpoint.Ack{}, err
	case !ok:
		return checkpoint.Ack{}, checkpoint.ErrStale
	}
	return checkpoint.Ack{Inbox: t.Inbox, Released: a.Park != nil && t.Nonce != a.Nonce}, nil
}

// written reports whether all records are there, by the writer and order of each. Those before the last of its chain may have
// been trimmed since: then the last one speaks for them.
func written(c *conn, a *checkpoint.Append) (bool, error) {
	last := make(map[checkpoint.Chain]int64, 1)
	for i := range a.Records {
		last[checkpoint.Chain{Branch: a.Records[i].Branch, Namespace: a.Records[i].Namespace}] = a.Records[i].Pos
	}
	for i := range a.Records {
		r := &a.Records[i]
		same, trimmed := false, false
		err := c.query(bg, sqlPlace, func(row *row) { same = row.int() == r.Ord && row.int() == r.By },
			a.Tenant, a.Thread, r.Branch, []byte(r.Namespace), r.Pos)
		if err == nil && !same && r.Pos < last[checkpoint.Chain{Branch: r.Branch, Namespace: r.Namespace}] {
			err = c.query(bg, sqlFirst, func(row *row) { trimmed = r.Pos < row.int() }, a.Tenant, a.Thread, r.Branch, []byte(r.Namespace))
		}
		if err != nil || !same && !trimmed {
			return false, err
		}
	}
	return len(a.Records) > 0, nil
}

// appendAny is every other append.
func appendAny(c *conn, a *checkpoint.Append, now time.Time) (checkpoint.Ack, error) {
	t, err := head(bg, c, a.Key, now)
	if err != nil {
		return checkpoint.Ack{}, err
	}
	ok, err := fits(c, a, t.Branches)
	switch {
	case err != nil:
		return checkpoint.Ack{}, err
	case !ok || t.Nonce != a.Nonce:
		return readBack(c, a, now)
	}
	if err := apply(c, a, now); err != nil {
		return checkpoint.Ack{}, err
	}
	if a.Taken > 0 {
		if _, err := c.exec(bg, `delete from hf_inbox where tenant = ? and thread = ? and n <= ?`, a.Tenant, a.Thread, a.Taken); err != nil {
			return checkpoint.Ack{}, err
		}
	}
	ack := checkpoint.Ack{Inbox: t.Inbox}
	if a.Park == nil {
		return ack, nil
	}
	if err := park(c, a, t.Run, now); err != nil {
		return checkpoint.Ack{}, err
	}
	if t.Inbox == a.Seen {
		ack.Released, err = true, free(c, a.Key)
	}
	return ack, err
}

// fits reports whether each record comes right after the tail of its chain, and the branches are as expected.
func fits(c *conn, a *checkpoint.Append, branches int32) (bool, error) {
	if a.Branch != nil {
		taken := a.Branch.N != branches
		err := c.query(bg, `select 1 from hf_branch where tenant = ? and thread = ? and name = ?`,
			func(*row) { taken = true }, a.Tenant, a.Thread, a.Branch.Name)
		if err != nil || taken {
			return false, err
		}
		branches++
	}
	next := make(map[checkpoint.Chain]int64, 1)
	for i := range a.Records {
		r := &a.Records[i]
		chain := checkpoint.Chain{Branch: r.Branch, Namespace: r.Namespace}
		want, ok := next[chain]
		if !ok {
			err := c.query(bg, sqlTail, func(row *row) { want = row.int() + 1 }, a.Tenant, a.Thread, r.Branch, []byte(r.Namespace))
			if err != nil {
				return false, err
			}
		}
		if r.Pos != want || r.Branch >= branches {
			return false, nil
		}
		next[chain] = want + 1
	}
	return a.Activate == nil || *a.Activate >= 0 && *a.Activate < branches, nil
}

// apply stores what fits: records, used questions, a branch, the active branch.
func apply(c *conn, a *checkpoint.Append, now time.Time) error {
	entry := false
	for i := range a.Records {
		if err := insert(c, a.Key, &a.Records[i], now); err != nil {
			return err
		}
		entry = entry || a.Records[i].Kind == checkpoint.KindEntry
	}
	var steps []step
	if entry {
		steps = append(steps, step{sqlNoTakeovers, []value{a.Tenant, a.Thread}})
	}
	for _, id := range a.Closed {
		steps = append(steps, step{`update hf_question set state = 2 where tenant = ? and thread = ? and id = ?`, []value{a.Tenant, a.Thread, id}})
	}
	if b := a.Branch; b != nil {
		steps = append(steps,
			step{`insert into hf_branch(tenant, thread, n, name, origin, ord, reason) values (?, ?, ?, ?, ?, ?, ?)`,
				[]value{a.Tenant, a.Thread, b.N, b.Name, b.Origin, b.Ord, b.Reason}},
			step{`update hf_thread set branches = branches + 1 where tenant = ? and thread = ?`, []value{a.Tenant, a.Thread}})
	}
	if a.Activate != nil {
		steps = append(steps, step{`update hf_thread set active = ? where tenant = ? and thread = ?`, []value{*a.Activate, a.Tenant, a.Thread}})
	}
	return c.all(steps)
}

// A step is one statement of a transaction.
type step struct {
	text string
	args []value
}

func (c *conn) all(steps []step) error {
	for _, s := range steps {
		if _, err := c.exec(bg, s.text, s.args...); err != nil {
			return err
		}
	}
	return nil
}

func insert(c *conn, k checkpoint.Key, r *checkpoint.Record, now time.Time) error {
	_, err := c.exec(bg, sqlInsert, k.Tenant, k.Thread, r.Branch, []byte(r.Namespace), r.Pos, r.Ord, r.By, r.Base, r.Step,
		int(r.Kind), now, r.Body)
	return err
}

// Trim implements checkpoint.Log.
func (s *Store) Trim(ctx context.Context, ch checkpoint.Chain, below int64) (int64, error) {
	if err := ch.Key.Valid(); err != nil {
		return 0, err
	}
	return write(ctx, s, pageBytes, func(c *conn) (int64, error) {
		branch, err := branchOf(bg, c, ch.Key, ch.Branch)
		if err != nil {
			return 0, err
		}
		return c.exec(bg, sqlTrim, ch.Tenant, ch.Thread, branch, []byte(ch.Namespace), below)
	})
}

// Delete implements checkpoint.Log.
func (s *Store) Delete(ctx context.Context, key checkpoint.Key) error {
	if err := key.Valid(); err != nil {
		return err
	}
	_, err := write(ctx, s, pageBytes, func(c *conn) (struct{}, error) {
		var steps []step
		for _, text := range [...]string{
			`delete from hf_thread where tenant = ? and thread = ?`, `delete from hf_record where tenant = ? and thread = ?`,
			`delete from hf_branch where tenant = ? and thread = ?`, `delete from hf_run where tenant = ? and thread = ?`,
			`delete from hf_meta where tenant = ? and thread = ?`, `delete from hf_question where tenant = ? and thread = ?`,
			`delete from hf_inbox where tenant = ? and thread = ?`,
		} {
			steps = append(steps, step{text, []value{key.Tenant, key.Thread}})
		}
		return struct{}{}, c.all(steps)
	})
	return err
}
