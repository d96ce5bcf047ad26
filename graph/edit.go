package graph

import (
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// edit applies writes and gotos of a Resume: one record, before anything runs.
func (r *run) edit(cmds []Command) error {
	p := r.plan
	if !slices.ContainsFunc(cmds, func(c Command) bool { return c.write != nil || c.goTo != nil }) {
		return nil
	}
	t, err := r.edited(cmds)
	if err != nil {
		return err
	}
	head, folded, err := p.ops.commit(r.head, []part{{"Resume", t.out.view}})
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	r.head = head
	it, err := r.editItem(t, folded, "resume")
	if err != nil {
		return err
	}
	b, err := r.add(it)
	if err == nil {
		_, err = r.journal.flush(b)
	}
	r.step++
	return err
}

// edited is what the commands write and where they go, as the result of a task. Nothing is changed by it, so that it also
// serves to try a call before it is taken.
func (r *run) edited(cmds []Command) (*task, error) {
	p := r.plan
	t := &task{r: r, node: &node{name: Start}, step: r.step, ctx: r.ctx, head: r.head}
	c := &t.first
	c.begin(t, 1, r.ctx)
	err := aside(func() error {
		view := p.ops.view(r.head)
		for _, cmd := range cmds {
			if cmd.write != nil {
				if err := cmd.write(view); err != nil {
					return err
				}
			}
			if cmd.goTo != nil {
				if err := c.follow(*cmd.goTo, p.names(), "Resume"); err != nil {
					return err
				}
			}
		}
		return c.close(view)
	})
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	t.out = c
	return t, nil
}

// editItem adds what an edit schedules to what is open, and makes its record. It is folded.
func (r *run) editItem(t *task, folded record.Writes, as string) (item, error) {
	kept, waiting := r.current, r.deferred
	r.deferred = nil
	r.schedule([]*task{t})
	fresh := slices.DeleteFunc(append(r.current, r.deferred...), func(n *task) bool {
		return n.arg == nil && slices.ContainsFunc(append(slices.Clone(kept), waiting...), func(k *task) bool {
			return k.node == n.node && k.phase != phaseEnd // it is going to run anyway
		})
	})
	d := &record.Edit{Run: r.id, By: r.by, As: as, Graph: r.plan.id, Writes: t.out.writes, Folded: folded, Sends: t.result().Sends, Joins: r.halfJoined()}
	r.current, r.deferred = kept, waiting
	for _, n := range fresh {
		if n.deferred {
			r.deferred = append(r.deferred, n)
		} else {
			r.current = append(r.current, n)
		}
	}
	for _, n := range r.scheduled() {
		d.Next = append(d.Next, n.scheduled())
	}
	r.logMu.Lock()
	defer r.logMu.Unlock()
	return item{kind: checkpoint.KindEdit, step: r.step, body: d}, r.log.ApplyEdit(d)
}

func (p *plan) names() (names []string) {
	for _, n := range p.nodes {
		names = append(names, n.name)
	}
	return append(names, End)
}
