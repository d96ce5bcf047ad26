package rows

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

const jobColumns = `id, state, queued, due, done, holder, held, body`

// open is 1 for a job that Claim may give out, which is not one that is done, or parked until somebody asks for it.
func open(s longterm.JobState) int64 {
	if s == longterm.Done || s == longterm.Parked {
		return 0
	}
	return 1
}

// PutJob implements longterm.Tx.
func (x *tx) PutJob(ctx context.Context, j longterm.JobRow) error {
	return x.run(ctx, sqldb.Exec(`insert into hfl_job(tenant, usr, `+jobColumns+`, open) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		on conflict (tenant, usr, id) do update set state = excluded.state, queued = excluded.queued, due = excluded.due, done = excluded.done,
			holder = excluded.holder, held = excluded.held, body = excluded.body, open = excluded.open`,
		x.mine(j.ID, string(j.State), sqldb.Micros(j.Queued), sqldb.Micros(j.Due), sqldb.Micros(j.Done), j.Holder, sqldb.Micros(j.Held), j.Body,
			open(j.State))...))
}

// Jobs implements longterm.Tx.
func (x *tx) Jobs(ctx context.Context, s longterm.SelectJobs) ([]longterm.JobRow, error) {
	c := &condition{args: x.mine()}
	c.write(`select ` + jobColumns + ` from hfl_job` + mineOnly)
	oneOf(c, `id {in ?}`, s.IDs)
	if s.Open {
		c.and(`state <> ?`, string(longterm.Done))
	}
	if s.After != "" {
		c.and(`id > ?`, s.After)
	}
	c.write(` order by id`)
	if s.Limit > 0 {
		c.write(` limit ?`, int64(s.Limit))
	}
	if x.writes { // Claim must not give away what is looked at before it is written
		c.write(` {lock}`)
	}
	var out []longterm.JobRow
	err := x.run(ctx, sqldb.Query(c.text.String(), func(scan func(...any) error) error {
		j := longterm.JobRow{Scope: x.scope}
		err := scanJob(scan, &j)
		out = append(out, j)
		return err
	}, c.args...))
	return out, err
}

// scanJob reads the columns of a job behind others.
func scanJob(scan func(...any) error, j *longterm.JobRow, before ...any) error {
	var state string
	var queued, due, done, held int64
	err := scan(append(before, &j.ID, &state, &queued, &due, &done, &j.Holder, &held, &j.Body)...)
	j.State = longterm.JobState(state)
	j.Queued, j.Due, j.Done, j.Held = sqldb.At(queued), sqldb.At(due), sqldb.At(done), sqldb.At(held)
	return err
}

// DeleteJobs implements longterm.Tx.
func (x *tx) DeleteJobs(ctx context.Context, before time.Time) error {
	return x.run(ctx, sqldb.Exec(`delete from hfl_job`+mineOnly+` and done > 0 and done < $3`, x.mine(sqldb.Micros(before))...))
}

// Claim implements longterm.Backend.
func (b *backend) Claim(ctx context.Context, holder string, lease time.Duration, limit int) (out []longterm.JobRow, err error) {
	err = b.db.Write(ctx, func(run sqldb.Run) error {
		out = nil
		return run(ctx, sqldb.Query(`with next as materialized (
				select tenant, usr, id from hfl_job where open = 1 and due <= {now} and held <= {now} order by due, id limit $1 {skip})
			update hfl_job set holder = $2, held = {now} + $3 where (tenant, usr, id) in (select tenant, usr, id from next)
			returning tenant, usr, `+jobColumns,
			func(scan func(...any) error) error {
				j, err := scanClaimed(scan)
				out = append(out, j)
				return err
			}, int64(limit), holder, lease.Microseconds()))
	})
	slices.SortFunc(out, func(a, b longterm.JobRow) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID)) })
	return out, err
}

func scanClaimed(scan func(...any) error) (j longterm.JobRow, err error) {
	var tenant, user string
	if err := scanJob(scan, &j, &tenant, &user); err != nil {
		return j, err
	}
	j.Scope, err = memory.NewScope(tenant, user)
	return j, err
}

// Next implements longterm.Backend.
func (b *backend) Next(ctx context.Context) (due, now time.Time, err error) {
	err = b.db.Read(ctx, func(run sqldb.Run) error {
		return run(ctx, sqldb.Query(`select coalesce(min(case when held > due then held else due end), 0), {now} from hfl_job where open = 1`,
			func(scan func(...any) error) error {
				var first, micros int64
				err := scan(&first, &micros)
				due, now = sqldb.At(first), sqldb.At(micros)
				return err
			}))
	})
	return due, now, err
}
