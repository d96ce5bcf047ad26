package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-go/holdfast/nodes"
)

const maxProgress = 512 // bytes of a text

// running are the calls that wait for a result, by their tokens. The handler of notifications belongs to a client and knows no
// calls: tokens are random, so that one table serves all sessions.
var running = struct {
	sync.Mutex
	calls map[string]context.Context
}{calls: map[string]context.Context{}}

// watch makes a token for the progress of a call, which counts until done.
func watch(ctx context.Context) (token string, done func()) {
	token = rand.Text()
	running.Lock()
	defer running.Unlock()
	running.calls[token] = ctx
	return token, func() {
		running.Lock()
		defer running.Unlock()
		delete(running.calls, token)
	}
}

// Progress hands the progress of calls on to nodes.Progress. It is for ClientOptions.ProgressNotificationHandler, and does
// nothing about what is no call of a tool of this package.
func Progress(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	running.Lock()
	ctx, ok := running.calls[token]
	running.Unlock()
	if ok && ctx.Err() == nil {
		_ = nodes.Progress(ctx, progressText(r.Params)) // nobody may be watching
	}
}

func progressText(p *sdk.ProgressNotificationParams) string {
	text := fmt.Sprintf("%v", p.Progress)
	if p.Total > 0 {
		text = fmt.Sprintf("%v of %v", p.Progress, p.Total)
	}
	return strings.TrimSpace(text + " " + clean(p.Message, maxProgress))
}
