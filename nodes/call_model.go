package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/message"
)

// stepsAfterCall is how many supersteps a turn still needs after a call of a model that calls tools: approve, call_tools, compact,
// assemble, call_model, write_back, compact.
const stepsAfterCall = 7

// overflows is how often in a turn a prompt is made shorter because a provider refused it.
const overflows = 2

// A Token is a part of an answer, emitted as graph.ModelToken when it arrives.
//
//	t, err := graph.Custom[nodes.Token](event)
type Token struct {
	Message string `json:"message"` // id of the message that it becomes part of
	Role    string `json:"role"`    // who answers
	Try     int    `json:"try"`     // from 1; what an earlier try has said is void
	Delta
}

// CallModel is the body of call_model. It appends the model's message to the history.
//
// A failure that may pass is tried again, after the wait that the provider asks for; then the next model of the role is asked. A
// request that the provider refuses as too long leads to compact and a shorter prompt, twice. When the step limit or
// Config.MaxSteps is near, the model has to answer with what it has. If the run is stopped while the model writes, what it has
// written is kept, marked Partial, and Resume asks again.
//
// The engine does not try again what has failed here. Its error is the *ModelError of the last try, joined with those of the other models; ErrOutput; ErrNoAnswer; or one of
// Assemble.
func (k *Kit) CallModel(ctx context.Context, t *Turn) error {
	p := t.Prompt.Get()
	if p == nil || p.last != lastID(t) {
		var err error
		if p, err = k.assemble(ctx, t); err != nil {
			return err
		}
	}
	t.Prompt.Set(nil)
	c := &asking{k: k, t: t, p: p, id: uuid.NewString()}
	if m, ok := t.Messages.Last(); ok && m.Partial {
		c.id = m.ID
	}
	c.lastStep = t.Steps.Get()+1 >= k.c.MaxSteps || graph.StepsLeft(ctx) < stepsAfterCall
	answer, err := c.ask(ctx)
	switch {
	case err == nil:
		c.keep(answer)
		return nil
	case ctx.Err() != nil:
		return c.interrupted(answer, err)
	case c.long != nil && t.Overflow.Get().Times < overflows:
		t.Overflow.Set(c.overflow())
		return nil
	}
	return &triedError{err}
}

// A triedError has been tried as often as is worth it: the engine's retries, which a program may have set for all nodes, must not
// multiply that.
type triedError struct{ error }

func (e *triedError) Unwrap() error   { return e.error }
func (e *triedError) Retryable() bool { return false }

// An asking is one call of call_model.
type asking struct {
	k        *Kit
	t        *Turn
	p        *Prompt
	id       string // of the message to come
	lastStep bool   // no tools any more
	tries    int
	long     *ModelError // of a model for which the prompt is too long, whatever the others say
}

// ask asks the models of the role in turn.
func (c *asking) ask(ctx context.Context) (answer Answer, err error) {
	var errs []error
	for _, m := range c.p.Role.Models {
		if answer, err = c.askOne(ctx, m); err == nil || ctx.Err() != nil {
			return answer, err
		}
		if e, ok := errors.AsType[*ModelError](err); ok && e.Kind == KindContextLength {
			c.long = e
		}
		errs = append(errs, err)
	}
	if len(errs) == 1 {
		return Answer{}, err
	}
	return Answer{}, errors.Join(errs...)
}

// askOne asks one model until it answers, or will not.
func (c *asking) askOne(ctx context.Context, m Model) (answer Answer, err error) {
	r := Request{Messages: c.p.Messages, Tools: c.p.Tools, NoCalls: c.lastStep, Output: c.p.Role.Output}
	for n := 1; ; n++ {
		c.tries++
		if answer, err = c.once(ctx, m, r); err == nil || ctx.Err() != nil {
			return answer, err
		}
		if n >= c.k.c.Attempts || !graph.Retryable(err) {
			return Answer{}, err
		}
		wait := backoff(n)
		if e, ok := errors.AsType[*ModelError](err); ok && e.RetryAfter > 0 {
			wait = e.RetryAfter
		}
		if wait > c.k.c.MaxWait {
			return Answer{}, err
		}
		c.k.c.Logger.Info("nodes: the model is asked again", "try", c.tries, "wait", wait, "kind", KindOf(err))
		c.t.Retries.Add(1)
		if f, ok := errors.AsType[*formError](err); ok {
			r.Messages = append(c.p.Messages[:len(c.p.Messages):len(c.p.Messages)], f.correction...)
			continue
		}
		if err := sleep(ctx, wait); err != nil {
			return Answer{}, err
		}
	}
}

// once is one request. What arrives is emitted at once.
func (c *asking) once(ctx context.Context, m Model, r Request) (Answer, error) {
	within, cancel := context.WithTimeout(ctx, c.k.c.AnswerTime)
	defer cancel()
	try := c.tries
	answer, err := m.Generate(within, r, func(d Delta) {
		if d.Call != nil { // the call gets another id
			d.Call = &CallDelta{Index: d.Call.Index, Name: d.Call.Name, Args: d.Call.Args}
		}
		_ = graph.Emit(ctx, graph.ModelToken, Token{Message: c.id, Role: c.p.Role.Name, Try: try, Delta: d})
	})
	answer.Message = tidy(answer.Message, c.id)
	switch {
	case ctx.Err() != nil: // also where a model calls a stream that was cut short a success
		return answer, errors.Join(context.Cause(ctx), err)
	case err != nil && within.Err() != nil:
		return answer, &ModelError{Kind: KindCut, Provider: "model", Model: c.p.Role.Name, Text: fmt.Sprintf("no whole answer within %v", c.k.c.AnswerTime), Err: err}
	case err != nil:
		return answer, err
	}
	return answer, c.check(r, &answer)
}

// check refuses answers that are none. A refusal says what the model is told when it is asked again.
func (c *asking) check(r Request, a *Answer) error {
	m := &a.Message
	if r.NoCalls && len(m.Calls()) > 0 {
		m.Parts = withoutCalls(m.Parts)
		if strings.TrimSpace(m.Text()) == "" {
			return &formError{ErrNoAnswer, []message.Message{message.User(c.k.text(
				"Answer now, with what you know. No more tools can be called.", "请用已知的信息立即回答，不能再调用工具。"))}}
		}
	}
	switch {
	case m.Partial:
		return &ModelError{Kind: KindCut, Provider: "model", Model: a.Model, Text: "the answer is marked as partial"}
	case len(m.Calls()) > 0:
		return nil
	case strings.TrimSpace(m.Text()) == "":
		return &ModelError{Kind: KindEmpty, Provider: "model", Model: a.Model, Text: "an answer without text and calls"}
	case r.Output != nil && r.Output.check != nil:
		if err := r.Output.check([]byte(m.Text())); err != nil {
			return &formError{fmt.Errorf("%w: %w", ErrOutput, err), []message.Message{message.Assistant(m.Text()), message.User(c.k.text(
				"That does not have the required form: ", "格式不符合要求：") + err.Error())}}
		}
	}
	return nil
}

// A formError is an answer that has to be put right by the model.
type formError struct {
	err        error
	correction []message.Message
}

func (e *formError) Error() string { return e.err.Error() }
func (e *formError) Unwrap() error { return e.err }

// keep appends the answer to the history.
func (c *asking) keep(a Answer) {
	m := a.Message
	c.t.Messages.Put(m)
	c.t.Steps.Set(c.t.Steps.Get() + 1)
	s := &c.t.Spent
	s.Calls.Add(1)
	s.Input.Add(a.Usage.Input)
	s.Cached.Add(a.Usage.Cached)
	s.Output.Add(a.Usage.Output)
	s.Reasoning.Add(a.Usage.Reasoning)
	switch {
	case len(m.Calls()) > 0:
	case a.Stop == StopLength:
		c.t.Status.Set(Truncated)
	default:
		c.t.Status.Set(Answered)
	}
}

// tidy is what a model has said as a history may have it, whatever it has said: a message of the assistant in valid UTF-8, without
// what has no place in one. It may have no parts then. Calls get ids of our own: what is recorded of a call goes by its id, and
// models repeat theirs, also after the message that had it was compacted away.
func tidy(m message.Message, id string) message.Message {
	m = m.Clone()
	m.ID, m.Role = id, message.RoleAssistant
	for _, p := range m.Parts {
		if p.Call != nil {
			p.Call.ID, p.Call.Name = callID(), callName(p.Call.Name)
		}
	}
	open := func(message.Call) bool { return true }
	history, _ := message.Repair([]message.Message{message.User("-"), m}, message.RepairOptions{Pending: open})
	if len(history) < 2 {
		m.Parts = nil
		return m
	}
	return history[1]
}

// callName is a name of a tool that every provider takes in a history: one that no tool can have would lock the conversation.
func callName(name string) string {
	if toolName.MatchString(name) {
		return name
	}
	name = noName.ReplaceAllString(name, "_")
	return cmp.Or(name[:min(len(name), 64)], "_")
}

// noName is what the name of a tool cannot have.
var noName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// callID is nine random letters and digits, which every provider takes.
func callID() string {
	const signs = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	id := make([]byte, 9)
	for i := range id {
		id[i] = signs[rand.IntN(len(signs))]
	}
	return string(id)
}

// interrupted keeps what a stopped call had written.
func (c *asking) interrupted(a Answer, err error) error {
	m := a.Message
	m.Parts = withoutCalls(m.Parts)
	if strings.TrimSpace(m.Text()) == "" {
		return err
	}
	m.Partial = true
	c.t.Messages.Put(m)
	return nil
}

// overflow says how long the next prompt may be: shorter than what was refused.
func (c *asking) overflow() Overflow {
	limit := c.p.Manifest.After*7/10 + c.p.Manifest.Reserve
	if c.long.Limit > 0 {
		limit = min(limit, c.long.Limit*85/100)
	}
	return Overflow{Times: c.t.Overflow.Get().Times + 1, Limit: max(limit, 1), Again: true}
}

func withoutCalls(parts []message.Part) []message.Part {
	var out []message.Part
	for _, p := range parts {
		if p.Kind != message.KindCall {
			out = append(out, p)
		}
	}
	return out
}

// backoff is the wait before try n+1: 0.2 s, doubled each time, with jitter of a quarter.
func backoff(n int) time.Duration {
	d := 200 * time.Millisecond << min(n-1, 10)
	return d*3/4 + rand.N(d/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
