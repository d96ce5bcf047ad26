package postgres

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A locker is the one statement of a write that locks and that carries what may be large: bodies, questions, metadata. The
// server runs a statement only when it has all of it, and what follows in the pipeline is small. So a client that is frozen
// or cut off in the middle of an upload holds no lock.
//
// Its parts see the thread as t, locked, as the latest commit left it.
type locker struct {
	parts []string
	args  []any
}

// lock begins with the thread's row. The condition's parameters begin with $3.
func lock(key checkpoint.Key, condition string, args ...any) *locker {
	l := &locker{args: append([]any{key.Tenant, key.Thread}, args...)}
	l.part(`t as materialized (select inbox, run, nonce, epoch, active from hf_thread where tenant = $1 and thread = $2` + condition + ` for update)`)
	return l
}

// lockBehind locks the thread for its holder, if what was acknowledged to him is there.
func lockBehind(a *checkpoint.Append, behind *place) *locker {
	if behind == nil {
		return lock(a.Key, ` and nonce = $3`, a.Nonce[:])
	}
	return lock(a.Key, ` and nonce = $3 and exists (select 1 from hf_record where tenant = $1 and thread = $2 and branch = $4 and ns = $5 and pos = $6)`,
		a.Nonce[:], behind.branch, []byte(behind.ns), behind.pos)
}

// part adds a part in which each ? stands for the next argument.
func (l *locker) part(text string, args ...any) {
	var b strings.Builder
	for i, piece := range strings.Split(text, "?") {
		if i > 0 {
			l.args = append(l.args, args[i-1])
			fmt.Fprintf(&b, "$%d", len(l.args))
		}
		b.WriteString(piece)
	}
	l.parts = append(l.parts, b.String())
}

func (l *locker) text(verdict string) string {
	return "with " + strings.Join(l.parts, ", ") + " " + verdict
}

// records inserts the records, all or none, where the table from has a row and each chain ends right before them. A taken
// position is also a violation of the key, for a tail may be newer than what the statement sees.
//
// Bodies are taken out of their array one by one: a function over it would copy them into a file.
func (l *locker) records(from string, rs []checkpoint.Record, firsts []int) {
	n := len(rs)
	branches, spaces, kinds, bodies := make([]int32, n), make([][]byte, n), make([]int16, n), make([][]byte, n)
	pos, ord, by, base, step := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range rs {
		r := &rs[i]
		branches[i], spaces[i], kinds[i], bodies[i] = r.Branch, []byte(r.Namespace), int16(r.Kind), bytesOf(r.Body)
		pos[i], ord[i], by[i], base[i], step[i] = r.Pos, r.Ord, r.By, r.Base, r.Step
	}
	m := len(firsts)
	fb, fs, fp := make([]int32, m), make([][]byte, m), make([]int64, m)
	for i, f := range firsts {
		fb[i], fs[i], fp[i] = branches[f], spaces[f], pos[f]
	}
	l.part(`r as (insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, at, body)
		select $1, $2, v.branch, v.ns, v.pos, v.ord, v.by, v.base, v.step, v.kind, clock_timestamp(), (?::bytea[])[v.i]
		from `+from+`, unnest(?::int[], ?::bytea[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::smallint[])
			with ordinality as v(branch, ns, pos, ord, by, base, step, kind, i)
		where not exists (select 1 from unnest(?::int[], ?::bytea[], ?::bigint[]) as f(branch, ns, pos)
			where f.pos <> coalesce((select x.pos from hf_record x where x.tenant = $1 and x.thread = $2
				and x.branch = f.branch and x.ns = f.ns order by x.pos desc limit 1), -1) + 1) returning 1)`,
		bodies, branches, spaces, pos, ord, by, base, step, kinds, fb, fs, fp)
}

// closes closes questions. The join makes the thread's row come first: everybody locks in this order.
func (l *locker) closes(from string, ids []string) {
	if len(ids) > 0 {
		l.part(`c as (update hf_question q set state = 2 from `+from+` where q.tenant = $1 and q.thread = $2 and q.id = any(?::text[]))`, ids)
	}
}

// asks inserts questions; one whose id exists is replaced.
func (l *locker) asks(qs []checkpoint.Question) {
	last := make(map[string]int, len(qs)) // the server refuses to write a row twice
	for i := range qs {
		last[qs[i].ID] = i
	}
	var ids, runs, tasks, notBy []string
	var branches []int32
	var spaces, shown, bodies [][]byte
	var deadlines []*time.Time
	for i := range qs {
		if q := &qs[i]; last[q.ID] == i {
			ids, runs, tasks, notBy = append(ids, q.ID), append(runs, q.Run), append(tasks, q.Task), append(notBy, q.NotBy)
			branches, spaces, deadlines = append(branches, q.Branch), append(spaces, []byte(q.Namespace)), append(deadlines, orNull(q.Deadline))
			shown, bodies = append(shown, bytesOf(q.Shown)), append(bodies, bytesOf(q.Body))
		}
	}
	if len(ids) == 0 {
		return
	}
	l.part(`q as (insert into hf_question(tenant, thread, id, branch, ns, run, task, state, asked, deadline, shown, not_by, body, answer, answered_by, answered)
		select $1, $2, v.id, v.branch, v.ns, v.run, v.task, 0, clock_timestamp(), v.deadline, (?::bytea[])[v.i], v.not_by, (?::bytea[])[v.i],
			''::bytea, '', null::timestamptz
		from t, unnest(?::text[], ?::int[], ?::bytea[], ?::text[], ?::text[], ?::timestamptz[], ?::text[])
			with ordinality as v(id, branch, ns, run, task, deadline, not_by, i)
		on conflict (tenant, thread, id) do update set branch = excluded.branch, ns = excluded.ns, run = excluded.run, task = excluded.task,
			state = 0, asked = excluded.asked, deadline = excluded.deadline, shown = excluded.shown, not_by = excluded.not_by,
			body = excluded.body, answer = '', answered_by = '', answered = null)`,
		shown, bodies, ids, branches, spaces, runs, tasks, deadlines, notBy)
}

// fails sets the error of the latest run.
func (l *locker) fails(why string) {
	if why != "" {
		l.part(`e as (update hf_run r set error = ?::bytea from t where r.tenant = $1 and r.thread = $2 and r.run = t.run)`, []byte(why))
	}
}

// meta inserts the metadata of a new run. What is there already belongs to a run that was started before, which is found later.
func (l *locker) meta(from, run string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	var names, values []string
	for name, v := range m {
		names, values = append(names, name), append(values, v)
	}
	l.part(`m as (insert into hf_meta(tenant, thread, run, name, value) select $1, $2, ?::text, v.name, v.value
		from `+from+`, unnest(?::text[], ?::text[]) as v(name, value) on conflict do nothing)`, run, names, values)
}

// chains are the indexes of the first record of each chain. It is not ok if the records of a chain leave a gap.
func chains(rs []checkpoint.Record) (firsts []int, ok bool) {
	next := make(map[checkpoint.Chain]int64, 1)
	for i := range rs {
		chain := checkpoint.Chain{Branch: rs[i].Branch, Namespace: rs[i].Namespace}
		switch want, known := next[chain]; {
		case !known:
			firsts = append(firsts, i)
		case want != rs[i].Pos:
			return nil, false
		}
		next[chain] = rs[i].Pos + 1
	}
	return firsts, true
}
