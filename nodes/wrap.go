package nodes

import (
	"context"
	"errors"
	"slices"

	"github.com/holdfast-go/holdfast/message"
)

// around is what WrapTool puts around a tool.
type around func(ctx context.Context, c message.Call, next func(context.Context, message.Call) (message.Result, error)) (message.Result, error)

// WrapTool returns a tool that calls around in the place of its function, for logs, limits, caches, retries, or changes of
// arguments and results. The last wrapper is the outermost. What next returns is the result of the function or its error,
// which becomes a result behind the last wrapper. All that happens in one call is one effect: it is recorded when the
// outermost wrapper has returned, and next has the same idempotency key each time.
//
// A wrapper is called only for a call that may run. Arguments that it changes must fit, and pass the gate and the policy
// without anybody being asked: nobody has decided about them. Of a question that waits, and of a run that has ended, it
// sees the error of next, and can make nothing else of it: the call waits or ends whatever the wrapper returns, and another
// next does not run the tool. A result that is not from next has no value: Facts and Then are left out. A panic is an error.
//
// A wrapper may call next on another goroutine; one call of it runs at a time. What still runs when the outermost wrapper
// returns is told to stop and waited for, and a question that it asks holds.
func WrapTool(
	t Tool,
	around func(ctx context.Context, c message.Call, next func(context.Context, message.Call) (message.Result, error)) (message.Result, error),
) Tool {
	if around == nil {
		t.err = errors.Join(t.err, errors.New("it is wrapped by nothing"))
	}
	t.wraps = append(slices.Clip(t.wraps), around)
	return t
}
