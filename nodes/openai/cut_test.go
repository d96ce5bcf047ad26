package openai_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

// A fate is what happens to one answer.
type fate struct {
	reply  openaitest.Reply
	cancel int  // the piece at which the caller cancels it; -1: never
	ends   bool // it must fail: the cut or error comes before [DONE]
}

// TestCutStreams ends answers at a random byte, with an error event, or by a cancellation at a random piece. None of them is
// taken for an answer unless all of it has arrived, byte for byte, and none leaves a goroutine.
func TestCutStreams(t *testing.T) {
	t.Parallel()
	n := 2000
	if testing.Short() {
		n = 300
	}
	if os.Getenv("HOLDFAST_LONG") != "" {
		n = 10000
	}
	rnd := seeded(t)
	fates := sync.Map{} // by the text of the request
	c := openaitest.Config{Answer: func(q openaitest.Request) openaitest.Reply {
		f, _ := fates.Load(q.Messages[0].Text())
		return f.(fate).reply
	}}
	m, p := provide(t, c, openai.Options{})
	work := make(chan fate)
	var mu sync.Mutex
	var whole, failed, cancelled int
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for f := range work {
				ok := f.run(t, m, &fates)
				mu.Lock()
				if ok {
					whole++
				} else {
					failed++
				}
				if !ok && f.cancel >= 0 {
					cancelled++
				}
				mu.Unlock()
			}
		})
	}
	for range n {
		work <- newFate(rnd)
	}
	close(work)
	workers.Wait()
	t.Logf("%d whole, %d failed, %d of these cancelled", whole, failed, cancelled)
	if whole == 0 || cancelled < n/20 || failed < n/2 || len(p.Requests()) != n {
		t.Errorf("the test has missed something: %d requests", len(p.Requests()))
	}
}

func newFate(rnd *rand.Rand) fate {
	f := fate{reply: full, cancel: -1}
	f.reply.Text = strings.Repeat(full.Text, rnd.IntN(4))
	f.reply.Calls = full.Calls[:rnd.IntN(len(full.Calls)+1)]
	if f.reply.Text == "" && len(f.reply.Calls) == 0 {
		f.reply.Text = "Yes."
	}
	f.reply.Style = openaitest.Style{Piece: 1 + rnd.IntN(20), Interleave: rnd.IntN(2) == 0, Escape: rnd.IntN(4) == 0, CRLF: rnd.IntN(4) == 0}
	events := f.reply.Events(openaitest.Request{Model: "test", IncludeUsage: true})
	size := len(strings.Join(events, ""))
	switch rnd.IntN(4) {
	case 0: // anywhere
		f.cut(rnd.IntN(size+1), rnd.IntN(2) == 0, size)
	case 1: // near the end
		f.cut(size-rnd.IntN(len(events[len(events)-1])+20), rnd.IntN(2) == 0, size)
	case 2:
		f.reply.Error, f.reply.Style.Break = openaitest.Unavailable(500), 1+rnd.IntN(len(events)-1)
		f.ends = true
	case 3:
		f.cancel = rnd.IntN(len(events))
	}
	return f
}

// cut ends the stream after n bytes of its size. [DONE] needs no line end where the body ends cleanly.
func (f *fate) cut(n int, clean bool, size int) {
	f.reply.Cut = &openaitest.Cut{After: n, Clean: clean}
	f.ends = n < size-len("\r\n\r\n")
}

// run reports whether the answer was whole.
func (f fate) run(t *testing.T, m nodes.Model, fates *sync.Map) bool {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := hello()
	r.Messages[0].Parts[0].Text = r.Messages[0].ID // tells the requests apart
	fates.Store(r.Messages[0].ID, f)
	pieces := 0
	var d told
	a, err := m.Generate(ctx, r, func(p nodes.Delta) {
		d.add(p)
		if pieces == f.cancel {
			cancel()
		}
		pieces++
	})
	if d.broken != "" {
		t.Error(d.broken)
	}
	if err == nil && f.ends {
		t.Errorf("%+v was taken for an answer", f.reply.Cut)
	}
	return kept(t, f.reply, a, err, d)
}
