package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A migrator leads from one version of a graph to a later one.
type migrator struct {
	from, to int
	fn       func(*Migration) error
}

// Migrate continues threads that version from of this graph has written, in version to, the graph's own or one that another
// migration leads on from. fn says what changes; nil means that such threads fit as they are. Register the migrations of all versions
// that may still have threads: they run in order, and once a graph has any, a thread of a version that none begins with is an
// *IncompatibleError.
//
// A thread is migrated by the first call that continues it, in one write with what that call writes first. Older entries stay as they
// are. State, and calls that come to nothing, migrate in memory alone, so fn may run more than once for one thread: it must not have effects.
func (g *Graph[S]) Migrate(from, to int, fn func(m *Migration) error) {
	if to <= from {
		g.mistake("migration %d -> %d: it must lead to a later version", from, to)
	}
	if slices.ContainsFunc(g.migrations, func(m migrator) bool { return m.from == from }) {
		g.mistake("two migrations begin with version %d", from)
	}
	g.migrations = append(g.migrations, migrator{from, to, fn})
}

// wireMigrations checks that every migration leads on to the graph's own version.
func (g *Graph[S]) wireMigrations(p *plan) (errs []error) {
	p.migrations = map[int]migrator{}
	for _, m := range g.migrations {
		p.migrations[m.from] = m
	}
	for _, m := range g.migrations {
		if _, on := p.migrations[m.to]; m.to != g.version && !on {
			errs = append(errs, fmt.Errorf("migration %d -> %d: nothing leads on to version %d, which the graph has", m.from, m.to, g.version))
		}
	}
	return errs
}

// A move is a migration that was worked out and not yet written: records that stand before all others that a call appends.
type move struct {
	from   record.Graph
	items  []item
	closed []string // questions of tasks that do not run any more
}

// at gives the records the step they are written in. There may be no migration.
func (m *move) at(step int64) ([]item, []string) {
	if m == nil {
		return nil, nil
	}
	for i := range m.items {
		m.items[i].step = step
	}
	return m.items, m.closed
}

// stage puts a migration before all that the run is going to append. It is written with the first of that.
func (r *run) stage(m *move) error {
	items, closed := m.at(r.step)
	if len(items) == 0 {
		return nil
	}
	if _, err := r.addWith(closed, nil, items...); err != nil {
		return err
	}
	r.step++
	return nil
}

// closable refuses a thread of a later version. What closes a thread need not fit it otherwise.
func (c *core) closable(th Thread, l *loaded) error {
	if l.log.Graph.Name == c.plan.id.Name && l.log.Graph.Version > c.plan.id.Version {
		return l.refuse(th)
	}
	return nil
}

// keeps reports whether a node is a graph whose memory belongs to the thread. That goes by the name of the node.
func (p *plan) keeps(name string) bool {
	n := p.index[name]
	return n != nil && n.mount != nil && n.mount.memory == PerThread
}

// outdated reports whether the thread has to be migrated before this graph appends anything to it, or cannot be.
func (p *plan) outdated(g record.Graph) bool {
	return g.Name == p.id.Name && (g.Version > p.id.Version || g.Version < p.id.Version && len(p.migrations) > 0)
}

// signature names the program in a record that closes a thread: this graph, or the one before it if the thread was not migrated or there is
// no program.
func (p *plan) signature(log *record.Thread) record.Graph {
	if p.id.Name == "" || p.outdated(log.Graph) {
		return log.Graph
	}
	return p.id
}

// path lists the migrations from a version to the graph's own.
func (p *plan) path(from int) (list []migrator, err error) {
	if from > p.id.Version {
		return nil, fmt.Errorf("version %d has written it, and this program is version %d: deploy the newer one", from, p.id.Version)
	}
	for v := from; v != p.id.Version; {
		m, ok := p.migrations[v]
		if !ok {
			return nil, fmt.Errorf("there is no migration from version %d to version %d; there are some from %v", v, p.id.Version, slices.Sorted(maps.Keys(p.migrations)))
		}
		list, v = append(list, m), m.to
	}
	return list, nil
}

// fit migrates a loaded chain in memory, if it needs that. If it cannot be migrated it stays as it is, and says why.
func (p *plan) fit(l *loaded, ns checkpoint.Namespace) {
	if l.log.Pos < 0 || !p.outdated(l.log.Graph) {
		return
	}
	move, err := p.migrate(l.log)
	if err != nil {
		l.misfit = err
		return
	}
	l.move = move
	gone := func(id string) bool { return slices.Contains(move.closed, id) }
	l.Questions = slices.DeleteFunc(slices.Clone(l.Questions), func(q checkpoint.Question) bool {
		segment := askedBy(&q, ns)
		lost := segment != "" && !slices.ContainsFunc(l.log.Next, func(t record.Task) bool {
			return segment == perCall(t.ID, "", 0) || segment == perThread(t.Node)
		})
		if lost {
			move.closed = append(move.closed, q.ID)
		}
		return lost
	})
	if l.log.Pause != nil {
		l.log.Pause.Questions = slices.DeleteFunc(slices.Clone(l.log.Pause.Questions), func(a record.Asked) bool { return gone(a.ID) })
	}
}

// askedBy is the task of a chain that a question waits in, also where a graph asks that the task calls: as the segment of a namespace, so that it
// may be a mounted graph that the thread remembers. Empty: it is not of this chain.
func askedBy(q *checkpoint.Question, ns checkpoint.Namespace) string {
	if q.Namespace == ns {
		return perCall(q.Task, "", 0)
	}
	rest, below := strings.CutPrefix(string(q.Namespace), string(ns))
	in, err := checkpoint.Namespace(rest).Segments()
	if !below || err != nil || len(in) == 0 {
		return ""
	}
	if in[0][0] == 'm' {
		return in[0]
	}
	segment, _, _ := strings.Cut(in[0], "/")
	return segment
}

// migrate runs what leads to the present version, and folds it. After an error the log is as before.
func (p *plan) migrate(log *record.Thread) (*move, error) {
	list, err := p.path(log.Graph.Version)
	if err != nil {
		return nil, err
	}
	m := p.migrationOf(log)
	for _, step := range list {
		if err := step.run(m); err != nil {
			return nil, err
		}
	}
	return m.fold(log, p.id)
}

// run is one migration of a thread. User code may panic.
func (s *migrator) run(m *Migration) error {
	if s.fn == nil {
		return nil
	}
	err := aside(func() error { return s.fn(m) })
	if err == nil {
		err = m.err()
	}
	if err != nil {
		return fmt.Errorf("migration from version %d to version %d: %w", s.from, s.to, err)
	}
	return nil
}

func (p *plan) migrationOf(log *record.Thread) *Migration {
	m := &Migration{
		keeps: p.keeps, fields: log.State.Rework(), next: slices.Clone(log.Next), joins: slices.Clone(log.Joins), done: maps.Clone(log.Results),
		spoilt: map[string]string{}, step: log.EntryStep,
	}
	for _, t := range log.Next {
		if step, i := splitTask(t.ID); step == m.step {
			m.fresh = max(m.fresh, i+1)
		}
	}
	return m
}

// fold makes the records of a migration: results taken back, results in their new form, and the edit; and folds them.
func (m *Migration) fold(log *record.Thread, id record.Graph) (*move, error) {
	d := &record.Edit{Run: log.Run, As: "migration", Graph: id, Next: m.next, Joins: m.joins}
	d.Writes, d.Folded = m.fields.Writes()
	was := log.Results
	mv := &move{from: log.Graph}
	v := &record.Void{Why: "migration"}
	for _, t := range m.next {
		switch r := m.done[t.ID]; {
		case r == nil && was[t.ID] != nil:
			v.Tasks = append(v.Tasks, t.ID)
		case r != was[t.ID]:
			mv.items = append(mv.items, item{kind: checkpoint.KindResult, step: log.EntryStep + 1, body: r})
		}
	}
	if len(v.Tasks) > 0 {
		mv.items = append(mv.items, item{kind: checkpoint.KindVoid, step: log.EntryStep + 1, body: v})
	}
	mv.items = append(mv.items, item{kind: checkpoint.KindEdit, step: log.EntryStep + 1, body: d})
	pause := log.Pause
	if err := log.ApplyEdit(d); err != nil {
		return nil, err
	}
	if pause != nil { // why the run stopped is still true
		p := *pause
		log.Pause = &p
	}
	log.Results = m.done
	return mv, nil
}

// migrateInput migrates what an input wrote when an earlier version queued it.
func (p *plan) migrateInput(version int, ws record.Writes) (record.Writes, error) {
	if !p.outdated(record.Graph{Name: p.id.Name, Version: version}) {
		return ws, nil
	}
	list, err := p.path(version)
	if err != nil {
		return nil, err
	}
	log := record.NewThread()
	log.Next = []record.Task{{ID: "0.0", Node: Start}}
	log.Results["0.0"] = &record.Result{Done: record.Done{ID: "0.0", Node: Start, Writes: ws}}
	m := p.migrationOf(log)
	for _, step := range list {
		if err := step.run(m); err != nil {
			return nil, err
		}
	}
	if r := m.done["0.0"]; r != nil {
		return r.Writes, nil
	}
	return nil, nil // the migration has dropped all that it wrote
}
