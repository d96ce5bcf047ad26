package graph

import (
	"context"
	"encoding/json"
)

// Fork makes a branch that begins with an entry of the thread (-1 is the head of the branch that the thread names), and makes it the
// active one. Nothing runs: Resume does everything after the entry again, and asks again. The branch it was made from stays as it is,
// and Activate goes back to it. The tasks of a fork are new tasks, so an effect of Once would happen again: if the rest of the
// run holds such effects, ForkOptions.Effects says what becomes of them, and unsaid is an *EffectsError that lists them.
//
// A thread that somebody works on is ErrBusy. It is one write.
func (a *App[S]) Fork(ctx context.Context, thread Thread, entry int64, o ForkOptions) (Thread, error) {
	return a.c.fork(ctx, thread, entry, o, "fork", a.ro)
}

// Edit writes to the state by hand, as a node would, and goes where that node's edges, joins and routes lead. as is a node, Start, End, or
// the id of an open task; empty means the node that ran last, and is an *AmbiguousTaskError if several did. As an open task it
// is the result of that task, and its questions are closed; the other open tasks keep their ids, results, effects and questions.
// Otherwise the edit is an entry of its own beside what is open.
//
// At an entry that is not the head it forks first. It returns the thread it has changed. Nothing runs: Resume goes on. A
// thread that somebody works on is ErrBusy. write may be called more than once.
func (a *App[S]) Edit(ctx context.Context, thread Thread, entry int64, as string, write func(*S), opts ...EditOptions) (Thread, error) {
	return a.c.edit(ctx, thread, entry, as, writer(write), opts, a.ro)
}

// Activate makes a branch the active one: the one that runs, is answered, and is what a Thread without a branch means. It has the run and
// the status that it was left with. The questions of the other branches are dormant until then. The first branch is called Main.
func (a *App[S]) Activate(ctx context.Context, thread Thread) error {
	return a.c.activate(ctx, thread, a.ro)
}

// Retain removes old entries of a thread: of all its branches, or of the one that is named. It needs no lease and disturbs no run.
// What was removed is ErrPruned when it is asked for.
func (a *App[S]) Retain(ctx context.Context, thread Thread, keep Retention) (Removed, error) {
	return a.c.retain(ctx, thread, keep)
}

// RetainAll is Retain for every thread of this graph, of all tenants.
func (a *App[S]) RetainAll(ctx context.Context, keep Retention) (Removed, error) {
	return a.c.retainAll(ctx, keep)
}

// Copy makes a thread that begins where another one stands, with its state and its unfinished work. Its history begins with the copy.
// Open questions are asked anew when it is resumed, results that were recorded are kept, and effects that come are effects of
// their own. The target must not exist, or it is ErrInUse. It is one write.
func (a *App[S]) Copy(ctx context.Context, thread, to Thread) error {
	return a.c.copyThread(ctx, thread, to, a.ro)
}

// Delete removes a thread and every row of it. A run that works on it is stopped by its next write. An unknown thread is no
// error.
func (a *App[S]) Delete(ctx context.Context, thread Thread) error { return a.c.delete(ctx, thread) }

// DeleteRuns removes runs of a branch, named by their ids, from either end of it. A run in the middle is ErrInUse.
//
// Of the oldest runs everything goes that no later entry is read from. When the newest go, the thread goes on in a new branch with
// the entry before them, and the old branch is emptied as a whole. The rows of the runs stay in lists.
func (a *App[S]) DeleteRuns(ctx context.Context, thread Thread, runs ...string) error {
	return a.c.deleteRuns(ctx, thread, runs, a.ro)
}

// Fork is App.Fork.
func (v *View) Fork(ctx context.Context, thread Thread, entry int64, o ForkOptions) (Thread, error) {
	return v.c.fork(ctx, thread, entry, o, "fork", v.ro)
}

// Edit is App.Edit. The document is an object with some of the state's fields.
func (v *View) Edit(ctx context.Context, thread Thread, entry int64, as string, doc json.RawMessage, opts ...EditOptions) (Thread, error) {
	return v.c.edit(ctx, thread, entry, as, v.merge(doc), opts, v.ro)
}

// Activate is App.Activate.
func (v *View) Activate(ctx context.Context, thread Thread) error {
	return v.c.activate(ctx, thread, v.ro)
}

// Retain is App.Retain.
func (v *View) Retain(ctx context.Context, thread Thread, keep Retention) (Removed, error) {
	return v.c.retain(ctx, thread, keep)
}

// Copy is App.Copy.
func (v *View) Copy(ctx context.Context, thread, to Thread) error {
	return v.c.copyThread(ctx, thread, to, v.ro)
}

// Delete is App.Delete.
func (v *View) Delete(ctx context.Context, thread Thread) error { return v.c.delete(ctx, thread) }
