package postgres

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// pageRows is the length of a page for which no limit is given.
const pageRows = 100

// A list puts a statement together from constant parts; what a caller gave is only ever bound.
type list struct {
	text strings.Builder
	args []any
	none bool // a filter asks for what no row can hold
}

// is adds a condition that a column has a value.
func (l *list) is(column, v string) {
	l.none = l.none || possible(v) != v
	l.add(` and `+column+` = ?`, v)
}

// possible is a string up to the first byte that the server refuses. As a cursor it is as good as the whole where that is
// NUL; other bytes never were in a row that a list returned.
func possible(s string) string {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == 0 || r == utf8.RuneError && n == 1 {
			return s[:i]
		}
		i += n
	}
	return s
}

func possibleKey(k checkpoint.Key) checkpoint.Key {
	return checkpoint.Key{Tenant: possible(k.Tenant), Thread: possible(k.Thread)}
}

// add adds a part in which each ? stands for the next argument.
func (l *list) add(part string, args ...any) {
	for i, text := range strings.Split(part, "?") {
		if i > 0 {
			l.args = append(l.args, args[i-1])
			l.text.WriteString("$" + strconv.Itoa(len(l.args)))
		}
		l.text.WriteString(text)
	}
}

// metadata adds one condition for each name, in the order of names, so that a filter has one text.
func (l *list) metadata(condition string, want map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		l.none = l.none || possible(name) != name || possible(want[name]) != want[name]
		l.add(condition, name, want[name])
	}
}

// list runs a list of one tenant, or of all where that is allowed.
func (s *Store) list(ctx context.Context, tenant string, l *list, order string, limit int, each func(row) error, reset func()) error {
	if tenant == "" && s.o.RowSecurity {
		return ErrTenantRequired
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if l.none || possible(tenant) != tenant {
		return nil
	}
	if limit <= 0 {
		limit = pageRows
	}
	l.add(order+` limit ?`, limit)
	text := s.qualify(l.text.String()) // not remembered: there are many
	return s.read(ctx, tenant, func(b *batch) {
		reset()
		b.plain(each, text, l.args...)
	})
}

// inside moves a cursor into a tenant, so that the server can begin to read where the page does. It is false if the cursor
// is behind the tenant's last row.
func inside(tenant string, after checkpoint.Key) (checkpoint.Key, bool) {
	switch {
	case tenant == "" || after.Tenant == tenant:
		return after, true
	case after.Tenant < tenant:
		return checkpoint.Key{Tenant: tenant}, true
	}
	return after, false
}

// Threads implements checkpoint.Directory.
func (s *Store) Threads(ctx context.Context, f checkpoint.ThreadFilter) (out []checkpoint.Head, err error) {
	var l list
	l.add(`select ` + headColumns + ` from hf_thread t`)
	switch after, ok := inside(f.Tenant, possibleKey(f.After)); {
	case !ok:
		return nil, nil
	case f.Tenant != "":
		l.add(` where t.tenant = ? and t.thread > ?`, f.Tenant, after.Thread)
	default:
		l.add(` where (t.tenant, t.thread) > (?, ?)`, after.Tenant, after.Thread)
	}
	if f.Status != 0 {
		l.add(` and t.status = ?`, int16(f.Status))
	}
	if f.Owner != "" {
		l.is(`t.owner`, f.Owner)
	}
	if f.Graph != "" {
		l.is(`t.graph`, f.Graph)
	}
	if f.Held || f.Expired {
		l.add(` and t.nonce is not null`)
	}
	if f.Expired {
		l.add(` and t.lease_until <= clock_timestamp()`)
	}
	if f.HasInbox {
		l.add(` and exists (select 1 from hf_inbox i where i.tenant = t.tenant and i.thread = t.thread)`)
	}
	l.metadata(` and exists (select 1 from hf_meta m where m.tenant = t.tenant and m.thread = t.thread and m.run = t.run
		and m.name = ? and m.value = ?)`, f.Meta)
	err = s.list(ctx, f.Tenant, &l, ` order by t.tenant, t.thread`, f.Limit, func(r row) error {
		var h checkpoint.Head
		err := scanHead(r, &h)
		out = append(out, h)
		return err
	}, func() { out = nil })
	return out, err
}

// Runs implements checkpoint.Directory.
func (s *Store) Runs(ctx context.Context, f checkpoint.RunFilter) (out []checkpoint.Run, err error) {
	var l list
	l.add(`select ` + runColumns + ` from hf_run r`)
	cursor := possibleKey(f.After.Key)
	after, ok := inside(f.Tenant, cursor)
	run := possible(f.After.Run)
	if after != cursor {
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
		l.is(`r.thread`, f.Thread)
	}
	if f.Status != 0 {
		l.add(` and r.status = ?`, int16(f.Status))
	}
	l.metadata(` and exists (select 1 from hf_meta m where m.tenant = r.tenant and m.thread = r.thread and m.run = r.run
		and m.name = ? and m.value = ?)`, f.Meta)
	err = s.list(ctx, f.Tenant, &l, ` order by r.tenant, r.thread, r.run`, f.Limit,
		func(r row) error { return scanRun(r, &out) }, func() { out = nil })
	return out, err
}

// states are literals, because only a literal lets the server use the index of open questions in any plan.
var states = [...]string{checkpoint.Open: `0`, checkpoint.Answered: `1`, checkpoint.Closed: `2`}

// Questions implements checkpoint.Directory.
func (s *Store) Questions(ctx context.Context, f checkpoint.QuestionFilter) (out []checkpoint.Question, err error) {
	var l list
	l.add(`select ` + questionColumns + ` from hf_question q join hf_thread t on t.tenant = q.tenant and t.thread = q.thread
		where q.branch = t.active and q.state = ` + states[min(f.State, checkpoint.Closed)])
	after := f.After.Asked
	if after.IsZero() {
		after = time.Unix(0, 0)
	}
	l.add(` and (q.asked, q.tenant, q.thread, q.id) > (?, ?, ?, ?)`, after, possible(f.After.Tenant), possible(f.After.Thread), possible(f.After.ID))
	if f.Tenant != "" {
		l.is(`q.tenant`, f.Tenant)
	}
	if f.Thread != "" {
		l.is(`q.thread`, f.Thread)
	}
	if f.Expired {
		l.add(` and q.deadline <= clock_timestamp()`)
	}
	err = s.list(ctx, f.Tenant, &l, ` order by q.asked, q.tenant, q.thread, q.id`, f.Limit,
		func(r row) error { return scanQuestion(r, &out) }, func() { out = nil })
	return out, err
}
