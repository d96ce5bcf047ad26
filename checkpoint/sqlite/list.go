package sqlite

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// pageRows is the length of a page for which no limit is given.
const pageRows = 100

// A list puts a statement together from constant parts; what a caller gave is only ever bound.
type list struct {
	text strings.Builder
	args []value
}

func (l *list) add(part string, args ...value) {
	l.text.WriteString(part)
	l.args = append(l.args, args...)
}

// metadata adds one condition for each name, in the order of names, so that a filter has one text.
func (l *list) metadata(condition string, want map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		l.add(condition, name, want[name])
	}
}

func (l *list) run(ctx context.Context, c *conn, each func(*row), order string, limit int) error {
	if limit <= 0 {
		limit = pageRows
	}
	l.add(order+` limit ?`, limit)
	return c.query(ctx, l.text.String(), each, l.args...)
}

// within moves a cursor into a tenant, so that SQLite can begin to read where the page does. It is false if the cursor is
// behind the tenant's last row.
func within(tenant string, after checkpoint.Key) (checkpoint.Key, bool) {
	switch {
	case tenant == "" || after.Tenant == tenant:
		return after, true
	case after.Tenant < tenant:
		return checkpoint.Key{Tenant: tenant}, true
	}
	return after, false
}

// Threads implements checkpoint.Directory.
func (s *Store) Threads(ctx context.Context, f checkpoint.ThreadFilter) ([]checkpoint.Head, error) {
	return read(ctx, s, func(ctx context.Context, c *conn) (out []checkpoint.Head, err error) {
		now := s.now()
		var l list
		from := ` from hf_thread t`
		if f.HasInbox { // few threads have one: the inbox leads
			from = ` from (select distinct tenant, thread from hf_inbox) i cross join hf_thread t using (tenant, thread)`
		}
		l.add(`select ` + headColumns + from)
		if after, ok := within(f.Tenant, f.After); !ok {
			return nil, nil
		} else if f.Tenant != "" {
			l.add(` where t.tenant = ? and t.thread > ?`, f.Tenant, after.Thread)
		} else {
			l.add(` where (t.tenant, t.thread) > (?, ?)`, after.Tenant, after.Thread)
		}
		if f.Status != 0 {
			l.add(` and t.status = ?`, int(f.Status))
		}
		if f.Owner != "" {
			l.add(` and t.owner = ?`, f.Owner)
		}
		if f.Graph != "" {
			l.add(` and t.graph = ?`, f.Graph)
		}
		if f.Held {
			l.add(` and t.nonce <> x''`)
		}
		if f.Expired {
			l.add(` and t.nonce <> x'' and t.lease_until <= ?`, now)
		}
		l.metadata(` and exists (select 1 from hf_meta m where m.tenant = t.tenant and m.thread = t.thread and m.run = t.run
			and m.name = ? and m.value = ?)`, f.Meta)
		err = l.run(ctx, c, func(r *row) { out = append(out, scanHead(r, now).Head) }, ` order by t.tenant, t.thread`, f.Limit)
		return out, err
	})
}

// Runs implements checkpoint.Directory.
func (s *Store) Runs(ctx context.Context, f checkpoint.RunFilter) ([]checkpoint.Run, error) {
	return read(ctx, s, func(ctx context.Context, c *conn) (out []checkpoint.Run, err error) {
		var l list
		l.add(`select ` + runColumns + ` from hf_run r`)
		after, ok := within(f.Tenant, f.After.Key)
		run := f.After.Run
		if after != f.After.Key {
			run = ""
		}
		switch {
		case !ok:
			return nil, nil
		case f.Tenant != "":
			l.add(` where r.tenant = ? and (r.thread, r.run) > (?, ?)`, f.Tenant, after.Thread, run)
		default:
			l.add(` where (r.tenant, r.thread, r.run) > (?, ?, ?)`, after.Tenant, after.Thread, run)
		}
		if f.Thread != "" {
			l.add(` and r.thread = ?`, f.Thread)
		}
		if f.Status != 0 {
			l.add(` and r.status = ?`, int(f.Status))
		}
		l.metadata(` and exists (select 1 from hf_meta m where m.tenant = r.tenant and m.thread = r.thread and m.run = r.run
			and m.name = ? and m.value = ?)`, f.Meta)
		err = l.run(ctx, c, func(r *row) { out = append(out, scanRun(r)) }, ` order by r.tenant, r.thread, r.run`, f.Limit)
		return out, err
	})
}

// states are literals, because only a literal lets SQLite use the index of open questions.
var states = [...]string{checkpoint.Open: `0`, checkpoint.Answered: `1`, checkpoint.Closed: `2`}

// Questions implements checkpoint.Directory.
func (s *Store) Questions(ctx context.Context, f checkpoint.QuestionFilter) ([]checkpoint.Question, error) {
	state := states[min(f.State, checkpoint.Closed)]
	return read(ctx, s, func(ctx context.Context, c *conn) (out []checkpoint.Question, err error) {
		now := s.now()
		var l list
		l.add(`select `+questionColumns+` from hf_question q join hf_thread t using (tenant, thread)
			where q.branch = t.active and q.state = `+state+` and (q.asked, q.tenant, q.thread, q.id) > (?, ?, ?, ?)`,
			cmp.Or(millis(f.After.Asked), -1), f.After.Tenant, f.After.Thread, f.After.ID)
		if f.Tenant != "" {
			l.add(` and q.tenant = ?`, f.Tenant)
		}
		if f.Thread != "" {
			l.add(` and q.thread = ?`, f.Thread)
		}
		if f.Expired {
			l.add(` and q.deadline > 0 and q.deadline <= ?`, now)
		}
		err = l.run(ctx, c, func(r *row) { out = append(out, scanQuestion(r, now)) }, ` order by q.asked, q.tenant, q.thread, q.id`, f.Limit)
		return out, err
	})
}
