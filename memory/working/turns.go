package working

import (
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/message"
)

// ErrNoQuestion is returned for a history without a user message: a model call answers one.
var ErrNoQuestion = errors.New("working: the history has no user message to answer")

// A round is a user message and all that came of it, up to the next one. Rounds are dropped whole: then the messages still
// begin with the user, no call loses its result, and nobody speaks twice in a row who did not before.
type round []message.Message

// turns are the pieces of a history.
type turns struct {
	system   []message.Message // rules that were said in the conversation
	rounds   []round           // before the question, oldest first
	covered  []round           // those that the summary stands for
	question message.Message
	earlier  []message.Group // of this turn, before the step
	step     []message.Message
}

// split finds the pieces of a history that is valid. A round is covered if each of its messages is.
func split(history []message.Message, covers map[string]bool) (turns, error) {
	if err := message.Valid(history); err != nil {
		return turns{}, fmt.Errorf("working: repair the history before: %w", err)
	}
	var t turns
	var now []message.Group // since the latest user message
	var open round
	for _, g := range message.Groups(history) {
		switch g.Messages[0].Role {
		case message.RoleSystem:
			t.system = append(t.system, g.Messages...)
			continue
		case message.RoleUser:
			t.close(open, covers)
			open, now = nil, nil
			t.question = g.Messages[0]
		default:
			now = append(now, g)
		}
		open = append(open, g.Messages...)
	}
	if open == nil {
		return turns{}, ErrNoQuestion
	}
	t.earlier, t.step = latestStep(now)
	return t, nil
}

// close puts a round that has ended where it belongs.
func (t *turns) close(r round, covers map[string]bool) {
	for _, m := range r {
		if !covers[m.ID] {
			t.rounds = append(t.rounds, r)
			return
		}
	}
	if r != nil {
		t.covered = append(t.covered, r)
	}
}

// latestStep cuts the groups of this turn before the latest calls: the model acts on what came of them, and would call again
// without. What follows the calls stays with them.
func latestStep(groups []message.Group) (earlier []message.Group, step []message.Message) {
	at := max(len(groups)-1, 0)
	for i, g := range groups {
		if len(g.Messages[0].Calls()) > 0 {
			at = i
		}
	}
	for _, g := range groups[at:] {
		step = append(step, g.Messages...)
	}
	return groups[:at], step
}
