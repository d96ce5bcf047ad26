package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/state"
)

// A Thread is the fold of one chain: the state after its last entry, what is scheduled, and the open superstep, which is
// everything recorded since.
type Thread struct {
	State *state.Raw
	Run   string
	By    string // who started the run
	Start int64  // step of the run's input; the run's own steps count from there
	Graph Graph
	Mode  string
	Next  []Task // scheduled, with their arguments
	Joins []Join

	Escape []string // of a child graph that has ended: where its parent goes on

	Pos       int64 // of the last record; -1: the chain is empty
	Step      int64
	EntryPos  int64 // of the last entry
	EntryStep int64 // of the last entry: the next one has the next step
	Sealed    bool  // the last entry is a seal: what was written with it is part of it
	EntryOrd  int64 // Ord of the last record that was not a result or a once: progress, as takeovers are counted
	Base      int64 // where the next record's readers begin
	Read      int64 // bytes that a load reads now

	// The open superstep.
	Results map[string]*Result // by task id
	Onces   map[OnceID]*Once
	Pause   *Pause // why the run stopped, if it did

	Reuse []Once // of a branch, in order: effects of its origin that its tasks take over
	reuse int64  // their size

	edited bool // the open superstep began before an edit: a snapshot now would lose its records
}

// An OnceID names a once in a chain.
type OnceID struct {
	Task, Name string
	N          int
	In         checkpoint.Namespace // of what a branch takes over from a child graph of its origin
}

// NewThread returns the fold of an empty chain.
func NewThread() *Thread {
	return &Thread{State: state.NewRaw(), Pos: -1, EntryPos: -1, Results: map[string]*Result{}, Onces: map[OnceID]*Once{}}
}

// Take returns the thread for a new owner. t keeps what it says of records and has no state any more.
func (t *Thread) Take() *Thread {
	own := *t
	own.Results, own.Onces = maps.Clone(t.Results), maps.Clone(t.Onces)
	t.State = state.NewRaw()
	return &own
}

// Fold folds records that begin at a base. The first one of a chain stands on its own: an input at position 0, a snapshot or a seal.
func Fold(recs []checkpoint.Record) (*Thread, error) {
	t := NewThread()
	for _, r := range recs {
		if t.Pos >= 0 && r.Pos != t.Pos+1 {
			return nil, corrupt(r, fmt.Errorf("it follows position %d", t.Pos))
		}
		if t.Pos < 0 && r.Kind != KindOf(r.Kind, r.Pos) {
			return nil, corrupt(r, fmt.Errorf("a range cannot begin with it"))
		}
		if err := t.Apply(r); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// KindOf returns k if a range may begin with a record of kind k at position pos, and 0 otherwise.
func KindOf(k checkpoint.Kind, pos int64) checkpoint.Kind {
	switch k {
	case checkpoint.KindSnapshot, checkpoint.KindSeal:
		return k
	case checkpoint.KindInput, checkpoint.KindEntry:
		if pos == 0 {
			return k
		}
	}
	return 0
}

// Apply folds one more record. After an error the thread is not usable.
func (t *Thread) Apply(r checkpoint.Record) error {
	if err := t.apply(r); err != nil {
		return err
	}
	t.Note(r)
	return nil
}

// Note counts a record whose content was folded already.
func (t *Thread) Note(r checkpoint.Record) {
	t.Pos, t.Step = r.Pos, r.Step
	if r.Kind == checkpoint.KindInput {
		t.Start = r.Step
	}
	t.Read += int64(len(r.Body)) + checkpoint.Overhead
	switch r.Kind {
	case checkpoint.KindInput, checkpoint.KindEntry, checkpoint.KindEdit, checkpoint.KindSettle, checkpoint.KindSeal:
		t.EntryPos, t.EntryStep, t.EntryOrd, t.Sealed = r.Pos, r.Step, r.Ord, r.Kind == checkpoint.KindSeal
	case checkpoint.KindPause:
		t.EntryOrd = r.Ord
	case checkpoint.KindSnapshot:
		t.Base, t.EntryStep, t.Read = r.Pos, r.Step, int64(len(r.Body))+checkpoint.Overhead
		t.EntryOrd = r.Ord
	}
	if r.Kind == checkpoint.KindSeal {
		t.Base = r.Pos
	}
}

func (t *Thread) apply(r checkpoint.Record) error {
	switch r.Kind {
	case checkpoint.KindInput:
		return decodeInto(r, t.ApplyInput)
	case checkpoint.KindEntry:
		return decodeInto(r, t.ApplyEntry)
	case checkpoint.KindSnapshot, checkpoint.KindSeal:
		return decodeInto(r, t.applySnapshot)
	case checkpoint.KindResult:
		return decodeInto(r, t.ApplyResult)
	case checkpoint.KindOnce:
		return decodeInto(r, t.ApplyOnce)
	case checkpoint.KindPause:
		return decodeInto(r, t.ApplyPause)
	case checkpoint.KindSettle:
		return decodeInto(r, t.ApplySettle)
	case checkpoint.KindEdit:
		return decodeInto(r, t.ApplyEdit)
	case checkpoint.KindVoid:
		return decodeInto(r, t.ApplyVoid)
	}
	return corrupt(r, fmt.Errorf("unknown kind %q", rune(r.Kind)))
}

func decodeInto[T any](r checkpoint.Record, apply func(*T) error) error {
	var body T
	if err := Decode(r, &body); err != nil {
		return err
	}
	if err := apply(&body); err != nil {
		return corrupt(r, err)
	}
	return nil
}

// ApplyInput folds the start of a run.
func (t *Thread) ApplyInput(in *Input) error {
	if err := t.State.Apply([][]state.Write{in.Writes}, in.Folded); err != nil {
		return err
	}
	next, err := resolve(in.Next, nil, in.Sends)
	if err != nil {
		return err
	}
	t.Run, t.By, t.Graph, t.Mode, t.Escape = in.Run, in.By, in.Graph, in.Mode, nil
	t.open(next, nil)
	t.keep(nil)
	return nil
}

// ApplyEntry folds a superstep. Results that were recorded on their own are looked up.
func (t *Thread) ApplyEntry(e *Entry) error {
	done, err := t.merge(e.Tasks)
	if err != nil {
		return err
	}
	next, err := resolve(e.Next, done, nil)
	if err != nil {
		return err
	}
	if err := t.State.Apply(writesOf(done), e.Folded); err != nil {
		return err
	}
	t.Run, t.Graph, t.Escape = e.Run, e.Graph, escapes(done)
	t.open(next, e.Joins)
	t.used(e.Tasks)
	return nil
}

// Merge returns the tasks of an entry with the content of their result records.
func (t *Thread) merge(tasks []Done) ([]Done, error) {
	out := slices.Clone(tasks)
	for i, d := range out {
		if !d.Ref {
			continue
		}
		r := t.Results[d.ID]
		if r == nil || r.Fail != "" {
			return nil, fmt.Errorf("task %s has no result record", d.ID)
		}
		out[i] = r.Done
	}
	return out, nil
}

// Merged returns an entry with its results in it: the form that does not depend on which of them were recorded early.
func (t *Thread) Merged(e *Entry) (*Entry, error) {
	done, err := t.merge(e.Tasks)
	if err != nil {
		return nil, err
	}
	m := *e
	m.Tasks = done
	return &m, nil
}

func (t *Thread) applySnapshot(s *Snapshot) error {
	raw := state.NewRaw()
	if err := raw.Restore(s.State); err != nil {
		return err
	}
	t.State, t.Run, t.By, t.Start, t.Graph, t.Mode = raw, s.Run, s.By, s.Start, s.Graph, s.Mode
	t.EntryPos, t.Escape = s.Of, s.Escape
	t.open(s.Next, s.Joins)
	t.keep(s.Reuse)
	return nil
}

// ApplyResult folds a finished or failed task of the open superstep.
func (t *Thread) ApplyResult(r *Result) error {
	t.Results[r.ID] = r
	return nil
}

// ApplyOnce folds one step of an effect.
func (t *Thread) ApplyOnce(o *Once) error {
	t.Onces[o.ID()] = o
	return nil
}

// ApplyPause folds a pause.
func (t *Thread) ApplyPause(p *Pause) error {
	t.Pause = p
	return nil
}

// ApplySettle folds the end of an open superstep.
func (t *Thread) ApplySettle(x *Settle) error {
	done, err := t.merge(x.Tasks)
	if err != nil {
		return err
	}
	if err := t.State.Apply(writesOf(done), x.Folded); err != nil {
		return err
	}
	t.Graph, t.Escape = x.Graph, nil
	t.open(nil, nil)
	return nil
}

// ApplyEdit folds a change by hand. Tasks that it keeps keep their records.
func (t *Thread) ApplyEdit(d *Edit) error {
	next, err := resolve(d.Next, nil, d.Sends)
	if err != nil {
		return err
	}
	if err := t.State.Apply([][]state.Write{d.Writes}, d.Folded); err != nil {
		return err
	}
	t.Graph, t.Next, t.Joins, t.Pause, t.edited = d.Graph, next, d.Joins, nil, true
	return nil
}

// Reused returns the effect that a task takes over from the origin of the branch, or nil.
func (t *Thread) Reused(id OnceID) *Once {
	i, ok := slices.BinarySearchFunc(t.Reuse, id, func(o Once, id OnceID) int { return compareOnces(o.ID(), id) })
	if !ok {
		return nil
	}
	return &t.Reuse[i]
}

// used forgets what no task can take over any more.
func (t *Thread) used(done []Done) {
	if len(t.Reuse) > 0 {
		t.keep(slices.DeleteFunc(slices.Clone(t.Reuse), func(o Once) bool {
			return slices.ContainsFunc(done, func(d Done) bool { return d.ID == o.caller() })
		}))
	}
}

func (t *Thread) keep(reuse []Once) {
	t.Reuse, t.reuse = reuse, 0
	for i := range reuse {
		t.reuse += int64(len(reuse[i].Task) + len(reuse[i].Name) + len(reuse[i].Result))
	}
}

// ID is what the once is known by in its chain.
func (o *Once) ID() OnceID { return OnceID{o.Task, o.Name, o.N, checkpoint.NamespaceOf(o.In...)} }

// caller is the task of the root whose end is the end of the once too. What a mounted graph keeps for the thread has none.
func (o *Once) caller() string {
	if len(o.In) == 0 {
		return o.Task
	}
	task, _, _ := strings.Cut(strings.TrimPrefix(o.In[0], "t"), "/")
	return task
}

// SortOnces puts onces into the order in which records list them.
func SortOnces(list []Once) {
	slices.SortFunc(list, func(a, b Once) int { return compareOnces(a.ID(), b.ID()) })
}

func compareOnces(a, b OnceID) int {
	return cmp.Or(cmp.Compare(a.In, b.In), strings.Compare(a.Task, b.Task), strings.Compare(a.Name, b.Name), cmp.Compare(a.N, b.N))
}

// ApplyVoid takes results back.
func (t *Thread) ApplyVoid(v *Void) error {
	for _, id := range v.Tasks {
		delete(t.Results, id)
	}
	return nil
}

// open begins a new superstep.
func (t *Thread) open(next []Task, joins []Join) {
	t.Next, t.Joins, t.Pause, t.edited = next, joins, nil, false
	clear(t.Results)
	clear(t.Onces)
}

// SnapshotDue reports whether reading the chain has become too dear: more than twice the live state and 16 KiB.
// What the records cost beside their bodies counts on both sides, so that many tiny steps do not force snapshots.
// The body of the entry that is about to be written is given, since it has not been noted yet.
func (t *Thread) SnapshotDue(body int) bool {
	return !t.edited && t.Read+int64(body)+checkpoint.Overhead > 2*(t.State.Size()+t.reuse)+Slack
}

// Slack is how much a load may read beside twice the state, in bytes.
const Slack = 16 << 10

// Snapshot returns the body of a snapshot that closes the entry at the present position.
func (t *Thread) Snapshot() *Snapshot {
	return &Snapshot{Of: t.EntryPos, Run: t.Run, By: t.By, Start: t.Start, Graph: t.Graph, Mode: t.Mode, State: t.State.Snapshot(), Next: t.Next, Joins: t.Joins, Escape: t.Escape, Reuse: t.Reuse}
}

// escapes lists where the parent goes on, each place once.
func escapes(done []Done) (out []string) {
	for i := range done {
		for _, to := range done[i].Escape {
			if !slices.Contains(out, to) {
				out = append(out, to)
			}
		}
	}
	return out
}

func writesOf(done []Done) [][]state.Write {
	out := make([][]state.Write, len(done))
	for i := range done {
		out[i] = done[i].Writes
	}
	return out
}

// resolve puts the arguments of sends into the tasks that were scheduled by them.
func resolve(next []Task, done []Done, sends []Send) ([]Task, error) {
	out := slices.Clone(next)
	for i := range out {
		ref := out[i].From
		if ref == nil {
			continue
		}
		list := sends
		if ref[0] >= 0 {
			if ref[0] >= len(done) {
				return nil, fmt.Errorf("task %s refers to a task that is not there", out[i].ID)
			}
			list = done[ref[0]].Sends
		}
		if ref[1] < 0 || ref[1] >= len(list) {
			return nil, fmt.Errorf("task %s refers to a send that is not there", out[i].ID)
		}
		out[i].Arg, out[i].From = list[ref[1]].Arg, nil
	}
	return out, nil
}
