// Package record defines the bodies of log records and how a chain of them folds into a thread's state. It needs no
// program: whoever can read a store can read a thread. docs/log-format.md describes the same in prose.
package record

import (
	"encoding/json"
	"time"

	"github.com/holdfast-go/holdfast/state"
)

// Version is the first byte of every body.
const Version = 1

// A Graph names the program that wrote a record.
type Graph struct {
	Name        string `json:"n"`
	Version     int    `json:"v,omitzero"`
	Fingerprint string `json:"f"`
}

// A Task is a scheduled execution of a node. Its id never changes, whatever happens to the thread.
type Task struct {
	ID       string          `json:"id"`
	Node     string          `json:"n"`
	Arg      json.RawMessage `json:"a,omitzero"`
	From     *Ref            `json:"s,omitzero"`  // instead of Arg: the argument stands in a task of the same record
	Deferred bool            `json:"d,omitzero"`  // waits until nothing else is scheduled
	Time     time.Duration   `json:"tm,omitzero"` // run time-out of this task
}

// A Ref names a send by the index of its task in the record and its index in the task.
type Ref [2]int

// A Send is a target with an argument.
type Send struct {
	Node string          `json:"n"`
	Arg  json.RawMessage `json:"a"`
	Time time.Duration   `json:"tm,omitzero"` // run time-out of this task
}

// A Used is an answer that a task was given.
type Used struct {
	Question string          `json:"q"`
	By       string          `json:"by,omitzero"`
	At       time.Time       `json:"at,omitzero"`
	Value    json.RawMessage `json:"v"`
	Lapsed   bool            `json:"x,omitzero"` // nobody had answered by the deadline (At): the value is the default, or null
}

// A Done is the result of one task: its writes and its routing are one thing.
type Done struct {
	ID      string   `json:"id"`
	Node    string   `json:"n"`
	Attempt int      `json:"at,omitzero"` // above 1: how many attempts it took
	Writes  Writes   `json:"w,omitzero"`
	To      []string `json:"to,omitzero"`
	Sends   []Send   `json:"s,omitzero"`
	Escape  []string `json:"up,omitzero"` // of a child graph: it ends with this superstep, and the parent goes there
	Answers []Used   `json:"q,omitzero"`
	Handled string   `json:"h,omitzero"` // the error that a handler dealt with
	Cached  bool     `json:"c,omitzero"` // it came from the cache: the node did not run
	Instead bool     `json:"i,omitzero"` // the handler chose the targets: joins do not count the task
	Ref     bool     `json:"r,omitzero"` // in an entry: everything else stands in the task's result record
}

// A Join is a join that some of its sources have reached.
type Join struct {
	To   string   `json:"to"`
	From []string `json:"from"` // all sources, so that two joins to one node differ
	Have []string `json:"have"`
}

// An Input starts a run.
type Input struct {
	Run     string            `json:"run"`
	By      string            `json:"by,omitzero"`
	Request string            `json:"req,omitzero"`
	Meta    map[string]string `json:"meta,omitzero"`
	Graph   Graph             `json:"g"`
	Mode    string            `json:"mode,omitzero"` // durability; empty is sync
	Writes  Writes            `json:"w,omitzero"`
	Folded  Writes            `json:"f,omitzero"`
	Sends   []Send            `json:"s,omitzero"`
	Next    []Task            `json:"next,omitzero"`
}

// An Entry is one committed superstep.
type Entry struct {
	Run    string `json:"run"`
	Graph  Graph  `json:"g"`
	Tasks  []Done `json:"t"`
	Folded Writes `json:"f,omitzero"` // what user-defined reducers made of the step: history never runs them again
	Next   []Task `json:"next,omitzero"`
	Joins  []Join `json:"j,omitzero"` // the joins that are half filled after this step
}

// A Snapshot is everything that a fold of the chain up to an entry gives. A seal is one too.
type Snapshot struct {
	Of    int64  `json:"of"` // position of the entry it closes
	Run   string `json:"run"`
	By    string `json:"by,omitzero"`    // who started the run
	Start int64  `json:"start,omitzero"` // step of the run's input
	Graph Graph  `json:"g"`
	Mode  string `json:"mode,omitzero"`
	State Writes `json:"w,omitzero"`
	Next  []Task `json:"next,omitzero"`
	Joins []Join `json:"j,omitzero"`

	Escape []string `json:"up,omitzero"`     // as in the entry
	Origin *Origin  `json:"origin,omitzero"` // of a seal: what it was made from
	Reuse  []Once   `json:"reuse,omitzero"`  // in order: effects of the origin that tasks of this branch take over
}

// An Origin is the entry that a branch or a copy begins with.
type Origin struct {
	Thread string `json:"thread,omitzero"` // of a copy
	Branch string `json:"branch"`
	Entry  int64  `json:"entry"`
	Reason string `json:"why"`
}

// The reasons of an origin.
const (
	OriginFork     = "fork"
	OriginEdit     = "edit"
	OriginCopy     = "copy"
	OriginRollback = "rollback"
)

// A Result is one finished or failed task of an open superstep.
type Result struct {
	Done
	Fail    string `json:"fail,omitzero"`    // it failed: Done holds no writes
	Handler bool   `json:"handler,omitzero"` // it failed and its error handler has the word: the node is not run again
}

// A Once is one step of an effect inside a task.
type Once struct {
	Task   string          `json:"id"`
	Name   string          `json:"name"`
	N      int             `json:"i,omitzero"`     // ordinal of the name in the task
	Begun  bool            `json:"begun,omitzero"` // it may have happened; without it and a result: it has returned an error
	Tries  int             `json:"tries,omitzero"` // how often it has begun, if that is recorded
	Result json.RawMessage `json:"v,omitzero"`
	In     []string        `json:"in,omitzero"` // of what a branch takes over: the namespace of the child graph
}

// A Pause says why a run stopped resumably.
type Pause struct {
	Run       string   `json:"run"`
	Reason    string   `json:"why"`
	Questions []Asked  `json:"q,omitzero"`
	Breaks    []string `json:"break,omitzero"`
	Held      []string `json:"held,omitzero"`  // tasks whose child graph was stopped by something else than a question
	Begun     bool     `json:"begun,omitzero"` // the open superstep had begun: its breakpoints have had their say
	Error     string   `json:"err,omitzero"`
}

// The reasons of a pause.
const (
	ReasonQuestion = "question"
	ReasonBreak    = "breakpoint"
	ReasonDrain    = "drain"
	ReasonLimit    = "limit"
	ReasonStopped  = "stopped" // the caller's context ended
	ReasonFailed   = "failed"
	ReasonDone     = "completed" // nothing was to be done at all
	ReasonEdit     = "edit"      // somebody has changed the thread by hand
)

// An Asked is one open question of a pause. The question itself is a row of its own.
type Asked struct {
	ID      string `json:"id"`
	Task    string `json:"t"`
	Name    string `json:"name"`
	N       int    `json:"i,omitzero"`
	Shown   []byte `json:"shown,omitzero"`
	Refused string `json:"refused,omitzero"` // why the answer before was not taken
}

// A Settle closes an open superstep without finishing it.
type Settle struct {
	Run       string      `json:"run"`
	Reason    string      `json:"why"`
	By        string      `json:"by,omitzero"`
	Graph     Graph       `json:"g"`
	Tasks     []Done      `json:"t,omitzero"`
	Folded    Writes      `json:"f,omitzero"`
	Abandoned []Abandoned `json:"gone,omitzero"`
	Questions []string    `json:"q,omitzero"` // closed unanswered
}

// An Abandoned is a task that will never finish.
type Abandoned struct {
	ID   string `json:"id"`
	Node string `json:"n"`
	Why  string `json:"why,omitzero"`
}

// An Edit changes state or routing by hand; open tasks are carried in Next with their ids.
type Edit struct {
	Run    string `json:"run"`
	By     string `json:"by,omitzero"`
	As     string `json:"as,omitzero"`
	Graph  Graph  `json:"g"`
	Writes Writes `json:"w,omitzero"`
	Folded Writes `json:"f,omitzero"`
	Sends  []Send `json:"s,omitzero"`
	Next   []Task `json:"next,omitzero"`
	Joins  []Join `json:"j,omitzero"`
}

// A Void lists tasks whose results no longer count.
type Void struct {
	Tasks []string `json:"t"`
	Why   string   `json:"why,omitzero"`
}

// Writes are stored as compact triples: field, kind, data.
type Writes []state.Write

// MarshalJSON encodes triples. Data is JSON already and is taken as it is.
func (ws Writes) MarshalJSON() ([]byte, error) { return appendWrites(nil, ws), nil }

// UnmarshalJSON decodes triples.
func (ws *Writes) UnmarshalJSON(b []byte) error {
	var rows [][]json.RawMessage
	if err := json.Unmarshal(b, &rows); err != nil {
		return err
	}
	*ws = make(Writes, len(rows))
	for i, row := range rows {
		w := &(*ws)[i]
		if len(row) != 3 {
			return errShape
		}
		if err := json.Unmarshal(row[0], &w.Field); err != nil {
			return err
		}
		if err := json.Unmarshal(row[1], &w.Kind); err != nil {
			return err
		}
		w.Data = row[2]
	}
	return nil
}
