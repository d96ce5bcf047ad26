package graphcli

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// answered is what answer prints.
type answered struct {
	Thread   graph.Thread    `json:"thread"`
	Question string          `json:"question"`
	By       string          `json:"by"`
	Answer   json.RawMessage `json:"answer"`
}

func answer(c *call) func() error {
	c.threadFlags(true)
	by := c.flags.String("by", "", "`name` of the person who answers; it is recorded")
	value := c.flags.String("value", "", "the answer, as `JSON`; without it, it is asked for")
	hash := c.flags.String("hash", "", "the `hash` of the question that was seen, as questions and show print it; needed with -value")
	return func() error {
		if *by == "" {
			return c.wrong("say who answers: -by NAME")
		}
		if (*value == "") != (*hash == "") || *hash != "" && len(*hash) < shortHash {
			return c.wrong("-value and -hash go together, and a hash has at least %d characters: what is answered must be what was seen", shortHash)
		}
		if c.json && *value == "" {
			return c.wrong("with -json say -value and -hash: a dialogue is for people")
		}
		q, err := c.pick()
		if err != nil {
			return err
		}
		text := *value
		switch {
		case *hash == "":
			text, err = c.ask(q)
		case !strings.HasPrefix(hex.EncodeToString(q.Shown), *hash):
			err = fmt.Errorf("question %s is not what was seen any more: its hash is %s: %w", q.ID, short(hex.EncodeToString(q.Shown)), checkpoint.ErrChanged)
		}
		if err != nil {
			return err
		}
		doc := asJSON(text, q.Schema)
		if err := c.view.With(graph.RunOptions{By: *by}).Answer(c.ctx, c.thread(), graph.AnswerShown(*q, doc)); err != nil {
			return err
		}
		return c.say(answered{c.thread(), q.ID, *by, doc}, "recorded; the run goes on when the program next resumes, recovers or serves the thread")
	}
}

// pick finds the question: by its id or the beginning of it, or the only one that is open.
func (c *call) pick() (*graph.Question, error) {
	st, err := c.view.State(c.ctx, c.thread())
	if err != nil {
		return nil, err
	}
	prefix := ""
	if len(c.args) > 1 {
		prefix = c.args[1]
	}
	var found []graph.Question
	for _, q := range st.Questions {
		if strings.HasPrefix(q.ID, prefix) {
			found = append(found, q)
		}
	}
	switch {
	case len(found) == 1:
		return &found[0], nil
	case len(found) > 1:
		return nil, &graph.AmbiguousError{Questions: found}
	case prefix == "":
		return nil, fmt.Errorf("thread %s has no open question: %w", c.thread(), graph.ErrNotPending)
	}
	// Who was faster is part of the refusal.
	return nil, c.view.Answer(c.ctx, c.thread(), graph.AnswerJSON(prefix, json.RawMessage("null")))
}

// ask shows a question and reads the answer.
func (c *call) ask(q *graph.Question) (string, error) {
	var f facts
	f.add("question", "%s (%s, node %s)", q.ID, q.Name, q.Node)
	if q.Refused != "" {
		f.say("refused", q.Refused)
	}
	if !q.Expires.IsZero() {
		f.say("until", when(q.Expires))
	}
	f.say("answer", string(q.Schema))
	if err := c.print("%s\n%s\n\nanswer: ", f.String(), lines(q.Text())); err != nil {
		return "", err
	}
	return c.readLine()
}

// readLine reads a line of input.
func (c *call) readLine() (string, error) {
	text, err := bufio.NewReader(c.in).ReadString('\n')
	if text = strings.TrimSpace(text); text == "" && err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("nothing was answered")
		}
		return "", err
	}
	return text, nil
}

// asJSON is an answer as JSON: a text need not be quoted where one is asked for.
func asJSON(text string, schema json.RawMessage) json.RawMessage {
	var s struct{ Type string }
	if json.Unmarshal(schema, &s) == nil && s.Type == "string" && !strings.HasPrefix(text, `"`) {
		if b, err := json.Marshal(text); err == nil {
			return b
		}
	}
	return json.RawMessage(text)
}
