package modeltest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An env is where a node runs: in the engine or in the model. What the node does is a function of what it reads.
type env interface {
	key() string // of the task: step, node, argument
	attempt() int
	read() *plain // committed values and the task's own writes
	do(write)
	ask(name string, ordinal int, prompt string) (int, error)
	once(name string, ordinal int, fn func() (int, error)) (int, error)
	mended() bool   // a hard failure was mended
	yielding() bool // after a conflict: leave what takes one writer to others
}

// An argument is what is sent to a node.
type argument struct {
	From  string `json:"from"`
	Task  uint64 `json:"task"` // hash of the sender's key
	Route int    `json:"r"`
	I     int    `json:"i"`
	V     int    `json:"v"`
}

func (a *argument) text() string {
	if a == nil {
		return ""
	}
	b, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func taskKey(step int64, node, arg string) string { return fmt.Sprintf("%d/%s/%s", step, node, arg) }

// A scriptError is a failure that was planned.
type scriptError struct{ key string }

func (e *scriptError) Error() string { return "planned in " + e.key }

// fail fails the task if that is planned for this place.
func (f *failSpec) fail(e env, place int) error {
	if f.Mode == failNever || f.Place != place || hash(e.key()+"fail")%f.Mod != 0 {
		return nil
	}
	if f.Mode == failFlaky && e.attempt() > f.Times || f.Mode == failHard && e.mended() {
		return nil
	}
	err := &scriptError{e.key()}
	if f.Panic {
		panic(err)
	}
	return err
}

// perform writes. The values depend on x.
func perform(s *spec, e env, ops []op, x uint64) {
	for _, o := range ops {
		w := write{field: o.Field, verb: o.Verb, n: int((x + uint64(o.Val)) % 50), key: fmt.Sprint("k", (uint64(o.Key)+x)%4)}
		w.text = fmt.Sprintf("%s:%d", strings.SplitN(e.key(), "/", 3)[1], w.n)
		if o.Field == fLast || o.Field == fEph {
			w.text += strings.Repeat("·", s.Pad/2)
		}
		if w.exclusive() && e.yielding() {
			continue
		}
		e.do(w)
		x = x*31 + uint64(w.n)
	}
}

// run is the body of a node.
func (n *nodeSpec) run(s *spec, e env, arg *argument) error {
	x := e.read().digest() ^ hash(e.key())
	half := len(n.Ops) / 2
	perform(s, e, n.Ops[:half], x)
	if err := n.Fail.fail(e, atBegin); err != nil {
		return err
	}
	parts := []func(env, *uint64) error{n.effects, n.questions}
	if n.AskFirst {
		slices.Reverse(parts)
	}
	for _, p := range parts {
		if err := p(e, &x); err != nil {
			return err
		}
	}
	if arg != nil {
		x += uint64(arg.V)
	}
	perform(s, e, n.Ops[half:], x)
	e.do(write{field: fVisits})
	e.do(write{field: fFold, n: int(e.read().digest() % 1000)}) // what it reads now includes its own writes (E3)
	return n.Fail.fail(e, atEnd)
}

func (n *nodeSpec) effects(e env, x *uint64) error {
	for i := range n.Onces {
		v, err := e.once("effect", i, func() (int, error) {
			return int(hash(fmt.Sprint(e.key(), i)) % 100), n.Fail.fail(e, inOnce)
		})
		if err != nil {
			return err
		}
		*x = *x*31 + uint64(v)
	}
	return nil
}

func (n *nodeSpec) questions(e env, x *uint64) error {
	var errs []error
	base := *x
	for i := range n.Asks {
		label, ordinal := fmt.Sprint("q", i), 0
		if n.SameName {
			label, ordinal = "q", i
		}
		prompt := fmt.Sprintf("%s %s %d %d", e.key(), label, ordinal, base%1000)
		v, err := e.ask(label, ordinal, prompt)
		if err != nil && !n.Gather {
			return fmt.Errorf("asking: %w", err)
		}
		errs = append(errs, err)
		*x = *x*31 + uint64(v)
		if !n.Gather {
			base = *x
		}
	}
	return errors.Join(errs...)
}

// run is the body of an error handler.
func (h *handlerSpec) run(s *spec, e env, cause error) error {
	x := e.read().digest() ^ hash(e.key())
	perform(s, e, h.Ops, x)
	if h.Ask {
		v, err := e.ask("handler", 0, fmt.Sprintf("%s handler %d", e.key(), x%1000))
		if err != nil {
			return err
		}
		x += uint64(v)
	}
	e.do(write{field: fVisits})
	e.do(write{field: fList, text: cause.Error()})
	e.do(write{field: fSum, n: int(x % 100)})
	return nil
}

// A choice is where to go.
type choice struct {
	to    []int
	sends []sending
}

type sending struct {
	to  int
	arg argument
}

// choose computes targets from what it reads. From is the index of the node that leaves, -1 for Start.
func (r *routeSpec) choose(s *spec, p *plain, key string, from, salt int) (c choice) {
	x := hash(fmt.Sprint(p.digest(), key, salt))
	late := p.visits >= s.Visits
	sent := 0
	for range 1 + x%3 {
		x = x*6364136223846793005 + 1442695040888963407
		to := r.Targets[(x>>33)%uint64(len(r.Targets))]
		switch {
		case to == end:
			c.to = append(c.to, to)
		case s.Nodes[to].Each:
			for i := (x >> 40) % 5; i > 0 && sent < 3 && !late; i-- {
				c.sends = append(c.sends, sending{to, argument{senderName(from), hash(key), salt, sent, int(x>>50) % 100}})
				sent++
			}
		case !late || to > from:
			c.to = append(c.to, to) // the same one twice, now and then (E14)
		}
	}
	if len(c.to) == 0 && len(c.sends) == 0 {
		c.to = append(c.to, end)
	}
	return c
}

func senderName(from int) string {
	if from < 0 {
		return "start"
	}
	return name(from)
}

// answerTo is what people say to a prompt.
func answerTo(prompt string) int { return int(hash(prompt) % 1000) }
