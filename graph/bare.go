package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/procid"
	"github.com/holdfast-go/holdfast/internal/record"
)

// Bare is a View of a store without the program that wrote it, for command lines and tools: threads of any graph fold from the
// log alone. It reads, answers, forks, activates, copies, retains, deletes and cancels as the program's View does. What runs
// nodes is ErrNoProgram. Close it when it is not needed any more.
//
// Three things differ. An edit names the next nodes (EditOptions.Goto), since edges, joins and routes are code; state.Raw.Merge
// says what its document may hold. A hidden field is shown, since it is the program that hides it. And where finished work
// waits to be folded by a reducer of the program's own, Cancel leaves the cancelling to whoever resumes or recovers the thread.
func Bare(store checkpoint.Store) *View {
	return &View{c: newCore(&plan{ops: bareOps{}, start: &node{name: Start}, index: map[string]*node{}}, Options{Store: store})}
}

// Bare reports whether the View has no program.
func (v *View) Bare() bool { return v.c.bare() }

func (c *core) bare() bool {
	_, yes := c.plan.ops.(bareOps)
	return yes
}

// editBare writes an edit at the head of the active branch without the program. try only finds out whether it fits.
func (c *core) editBare(ctx context.Context, th Thread, ro RunOptions, l *loaded, as string, write func(any) error, to Next, try bool) error {
	r := c.newRun(ctx, th, ro)
	if err := c.enroll(r); err != nil {
		r.cancel(nil)
		return err
	}
	defer c.discard(r)
	it, closed, err := r.bareItem(l, as, write, to)
	if err != nil || try {
		return err
	}
	r.open(l, checkpoint.NewNonce(), l.Head.Epoch+1)
	a := &checkpoint.Acquire{Key: r.key, Mode: checkpoint.Free, Epoch: l.Head.Epoch, Nonce: r.journal.nonce, TTL: c.opts.Lease, Holder: procid.Self()}
	if err := c.acquire(r, a); err != nil {
		return err
	}
	begun := it.kind == checkpoint.KindResult || began(l.log) && len(l.log.Next) > 0
	return r.parkEdit(l, closed, begun, it)
}

// bareItem works an edit out: the result of an open task, or an entry of its own, and the questions that it closes.
func (r *run) bareItem(l *loaded, as string, write func(any) error, to Next) (it item, closed []string, err error) {
	view := &bareView{raw: l.log.State}
	if err := write(view); err != nil {
		return it, nil, fmt.Errorf("edit: %w", err)
	}
	targets, err := bareTargets(to)
	if err != nil {
		return it, nil, err
	}
	r.takeRows(l.Questions)
	r.rebuild(l)
	e := &edit{as: as}
	if err := r.openTask(e); err != nil {
		return it, nil, err
	}
	if e.open == nil {
		it, err = r.bareEntry(as, view, targets)
		return it, nil, err
	}
	if len(targets) == 0 {
		targets = []string{End}
	}
	e.open.out, e.open.phase = new(call), phaseEnd
	e.open.out.begin(e.open, 1, nil)
	// The targets are all there is: joins are for the program, and do not count the task.
	d := record.Done{ID: e.open.id(), Node: e.open.node.name, Writes: view.writes, To: targets, Instead: true}
	return item{kind: checkpoint.KindResult, step: r.step, body: &record.Result{Done: d}}, r.usedQuestions([]*task{e.open}), nil
}

// bareTargets are the nodes that an edit goes to, in the order of tasks, but for End.
func bareTargets(to Next) (names []string, err error) {
	switch {
	case to.err != nil:
		return nil, to.err
	case len(to.sends) > 0:
		return nil, fmt.Errorf("%w: an edit without it sends no arguments", ErrNoProgram)
	case to.empty():
		return nil, fmt.Errorf("%w: an edit without it names the next nodes in EditOptions.Goto, or End for none", ErrNoProgram)
	}
	err = to.targets(func(name string) error {
		if name == Start || !validName(name) || name == "" {
			return fmt.Errorf("graph: an edit cannot go to %q", name)
		}
		if name != End {
			names = append(names, name)
		}
		return nil
	})
	return slices.Compact(sorted(names)), err
}

// bareEntry is an entry that adds nodes to what is open. It is folded.
func (r *run) bareEntry(as string, view *bareView, targets []string) (item, error) {
	for i, name := range targets {
		open := func(t *task) bool { return t.node.name == name && t.arg == nil && t.phase != phaseEnd }
		if !slices.ContainsFunc(r.scheduled(), open) { // else it is going to run anyway
			r.current = append(r.current, &task{r: r, node: &node{name: name}, step: r.step, index: i})
		}
	}
	d := &record.Edit{Run: r.id, By: r.by, As: as, Graph: r.log.Graph, Writes: view.writes, Folded: view.folded, Joins: r.log.Joins}
	for _, t := range r.scheduled() {
		d.Next = append(d.Next, t.scheduled())
	}
	return item{kind: checkpoint.KindEdit, step: r.step, body: d}, r.log.ApplyEdit(d)
}

// leaveCancel leaves a cancel to whoever goes on with the thread, because only the program can fold what has finished.
func (c *core) leaveCancel(ctx context.Context, l *loaded, order cancelBody) error {
	cmd, err := commandOf(order)
	if err != nil {
		return err
	}
	cmd.Key = l.Head.Key
	return c.post(ctx, &l.Head, cmd)
}

// errReduces is why a cancel without the program is left to it.
var errReduces = errors.New("graph: what has finished waits for a reducer of the program")
