package govern

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/search"
	"github.com/holdfast-go/holdfast/memory/session"
)

// Boxes are where a program keeps what it knows of its users. One that is nil is not looked at, and an Explanation says so.
type Boxes struct {
	Session  *session.Store
	Longterm *longterm.Store
	Threads  checkpoint.Store // of graphs that are made of package nodes
	Tenant   string           // of the threads; "": that of the scope
}

// ErrQuestion is returned by Why for a question that has no words to look for.
var ErrQuestion = errors.New("govern: a question needs words to look for, such as they were said")

// A Question asks why an agent did not remember something. Scope, Agent and Words are required.
type Question struct {
	Scope        memory.Scope
	Agent        memory.Agent // who asks: nothing is told that it may not see
	Reader       memory.Agent // who did not remember; default Agent
	Words        string       // much as they were said, in the same language
	Asked        string       // what the user asked then; default the message of the turn
	Conversation string       // where it was missed; default the one with the latest turn
	At           time.Time    // the turn is the latest that began by then; default now
}

// Why follows words from the message that said them to the prompt that should have had them, and says where they got lost.
//
// Messages are found by their words: those that have at least half of what was asked, rare words counting more. Where the turn did
// not take an item the search is made again, with what is known now. The turn is the latest one of the user that has begun by
// Question.At, in the thread itself; agents that a node calls as a child graph are not looked at.
//
// It reads all messages and jobs of the user, and the newest part of the threads; all items only where nothing says what became of the
// words. BenchmarkWhy tells the time.
func (b Boxes) Why(ctx context.Context, q Question) (Explanation, error) {
	if err := cmp.Or(q.Scope.Valid(), q.Agent.Valid()); err != nil {
		return Explanation{}, err
	}
	if q.Reader.Valid() != nil {
		q.Reader = q.Agent
	}
	w := &inquiry{boxes: b, q: q, now: time.Now(), e: Explanation{Words: q.Words}, terms: search.Terms(q.Words), byID: map[string]int{}}
	if strings.TrimSpace(q.Words) == "" || len(w.terms) == 0 {
		return Explanation{}, ErrQuestion
	}
	for _, read := range []func(context.Context) error{w.readMessages, w.readJobs, w.readTurn} {
		if err := read(ctx); err != nil {
			return Explanation{}, err
		}
	}
	w.weigh()
	said := w.sayings()
	if err := w.gather(ctx, said); err != nil {
		return Explanation{}, err
	}
	if err := w.follow(ctx, said); err != nil {
		return Explanation{}, err
	}
	return w.e, nil
}

// An inquiry is one question on its way.
type inquiry struct {
	boxes Boxes
	q     Question
	now   time.Time
	e     Explanation

	terms  []string // of the words
	weight map[string]float64
	total  float64

	messages []spoken
	jobs     []longterm.Job
	items    []longterm.Item
	byID     map[string]int // places in items
	turn     *turn          // nil: there is none
}
