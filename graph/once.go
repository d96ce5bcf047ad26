package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/graph/internal/host"
)

// OnceOptions of one effect.
type OnceOptions struct {
	OnUnknown OnUnknown // what to do when the process died between the effect and its record; default Again
}

// OnUnknown says what a Once does about an effect that began and was not recorded.
type OnUnknown uint8

// The choices.
const (
	Again     OnUnknown = iota // run it again under the same idempotency key
	AskPerson                  // record the intent first (one more write); then ask a person for the Outcome
)

// An Outcome is what a person says about an effect of unknown outcome.
type Outcome[T any] struct {
	Happened bool `json:"happened"` // false: run it again
	Result   T    `json:"result"`   // what it returned, if it happened
}

// Once runs fn at most once for this task if its result was recorded, and returns the recorded result whenever the task
// is run again. It is known by its name, and by how often the task has come by that name. fn gets an idempotency key
// that is the same on every attempt, in every process: pass it to whatever it calls. An error of fn is returned and not
// recorded, and the next call of that name is the same effect again. So a loop over items gives each item's Once a name of
// its own. Recording is one synchronous write.
func Once[T any](ctx context.Context, name string, fn func(ctx context.Context, key string) (T, error), opts ...OnceOptions) (result T, err error) {
	h := host.From(ctx)
	if h == nil {
		return result, ErrNoRun
	}
	c, err := codecOf[T]()
	if err != nil {
		return result, fmt.Errorf("once %s: result: %w", name, err)
	}
	intent := len(opts) > 0 && opts[0].OnUnknown == AskPerson
	o, err := h.OnceBegin(name, intent)
	if err != nil {
		return result, fmt.Errorf("once %s: %w", name, err)
	}
	if o.Recorded != nil {
		result, err = c.decode(o.Recorded)
		if err != nil {
			err = fmt.Errorf("once %s: recorded result: %w", name, err)
		}
		return result, err
	}
	settled := false
	defer func() { // a panic in fn gives the claim up
		if !settled {
			h.OnceEnd(o, nil, host.ErrUnknown)
		}
	}()
	if o.Unknown && intent {
		out, err := Ask[Outcome[T]](ctx, unknownName(o), fmt.Sprintf("%q began and its outcome is unknown (key %s). Did it happen?", name, o.Key))
		if err != nil {
			return result, err
		}
		if out.Happened {
			settled = true
			return keepOnce(h, o, c, out.Result)
		}
		if err := h.OnceAgain(o); err != nil { // an answer is for one try: if this one dies too, it is asked again
			return result, fmt.Errorf("once %s: %w", name, err)
		}
	}
	result, err = fn(ctx, o.Key)
	settled = true
	if err != nil {
		return result, errors.Join(err, h.OnceEnd(o, nil, err))
	}
	return keepOnce(h, o, c, result)
}

// unknownName names the question about an effect of unknown outcome: another one for each try.
func unknownName(o *host.Once) string {
	if o.Tries < 2 {
		return "once:" + o.Name
	}
	return fmt.Sprintf("once:%s#%d", o.Name, o.Tries)
}

func keepOnce[T any](h host.Host, o *host.Once, c *codec[T], result T) (T, error) {
	raw, err := c.encode(result)
	if err != nil {
		err = fmt.Errorf("once %s: result: %w", o.Name, err)
		h.OnceEnd(o, nil, err)
		return result, err
	}
	if err := h.OnceEnd(o, raw, nil); err != nil {
		return result, fmt.Errorf("once %s: %w", o.Name, err)
	}
	// What a later execution will see is what this one sees: the value as it was recorded.
	return c.decode(json.RawMessage(raw))
}
