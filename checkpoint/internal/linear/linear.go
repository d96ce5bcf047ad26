// Package linear checks that a store behaves as if its calls happened one after the other. It is apart from checkpointtest
// because it needs a module outside the standard library.
package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/holdfast-go/holdfast/checkpoint"
)

type kind int

const (
	acquire kind = iota
	steal
	renew
	release
	appendOne
	head
	post
)

// An input is a call on one thread.
type input struct {
	thread int
	kind   kind
	nonce  int   // of the caller's acquisition; numbers stand for nonces
	seen   int   // steal: the nonce that was seen
	epoch  int64 // acquire: the epoch that was seen
	pos    int64
	record int   // identifies what is appended
	inbox  int64 // release: the number that was seen
}

// An output is what it returned.
type output struct {
	refused  bool
	unknown  bool // the attempt was cut off: it may have happened
	released bool
	epoch    int64
	nonce    int
	tail     int64
	inbox    int64
}

// A state is a thread, as the contract describes it.
type state struct {
	epoch    int64
	nonce    int
	released int
	inbox    int64
	log      string // a rune for each record
}

var model = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byThread := map[int][]porcupine.Operation{}
		for _, op := range history {
			t := op.Input.(input).thread
			byThread[t] = append(byThread[t], op)
		}
		var out [][]porcupine.Operation
		for _, ops := range byThread {
			out = append(out, ops)
		}
		return out
	},
	Init: func() []any { return []any{state{}} },
	Step: func(s, in, out any) []any {
		next, want := step(s.(state), in.(input))
		switch got := out.(output); {
		case got.unknown:
			return []any{s, next}
		case got == want:
			return []any{next}
		}
		return nil
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
}).ToModel()

// step is the contract.
func step(s state, in input) (state, output) {
	mine := s.nonce == in.nonce && s.nonce != 0
	log := []rune(s.log)
	switch in.kind {
	case acquire, steal:
		if mine {
			return s, output{epoch: s.epoch}
		}
		if in.kind == acquire && (s.nonce != 0 || s.epoch != in.epoch) || in.kind == steal && (s.nonce == 0 || s.nonce != in.seen) {
			return s, output{refused: true}
		}
		s.nonce = in.nonce
		s.epoch++
		return s, output{epoch: s.epoch}
	case renew:
		if !mine {
			return s, output{refused: true}
		}
		return s, output{inbox: s.inbox}
	case release:
		switch {
		case mine && s.inbox == in.inbox:
			s.nonce, s.released = 0, in.nonce
			return s, output{released: true}
		case mine:
			return s, output{}
		case s.nonce == 0 && s.released == in.nonce:
			return s, output{released: true}
		}
		return s, output{refused: true}
	case appendOne:
		if in.pos < int64(len(log)) && log[in.pos] == rune(in.record) {
			return s, output{inbox: s.inbox}
		}
		if !mine || in.pos != int64(len(log)) {
			return s, output{refused: true}
		}
		s.log = string(append(log, rune(in.record)))
		return s, output{inbox: s.inbox}
	case head:
		return s, output{epoch: s.epoch, nonce: s.nonce, tail: int64(len(log)), inbox: s.inbox}
	case post:
		if s.epoch == 0 {
			return s, output{refused: true}
		}
		s.inbox++
		return s, output{inbox: s.inbox}
	}
	panic("unknown kind")
}

// A client is one goroutine that calls the store at random.
type client struct {
	id      int
	store   checkpoint.Store
	rng     *rand.Rand
	shared  *shared
	tenant  string
	history []porcupine.Operation
	views   map[int]output // what it saw of each thread
	holds   map[int]int    // the nonce of its acquisition of each thread
	count   int
}

// shared are the nonces of all clients: the numbers that the model uses.
type shared struct {
	mu      sync.Mutex
	start   time.Time
	nonces  []checkpoint.Nonce // by number; 0 is nobody
	numbers map[checkpoint.Nonce]int
}

const (
	threads = 6
	clients = 8
)

// Check has 8 clients make ops calls on a few threads of the store and checks the history. Calls whose outcome is unknown
// are repeated unchanged until it is known, as the contract asks.
func Check(t *testing.T, store checkpoint.Store, seed uint64, ops int) {
	t.Helper()
	sh := &shared{start: time.Now(), nonces: []checkpoint.Nonce{{}}, numbers: map[checkpoint.Nonce]int{{}: 0}}
	all := make([]*client, clients)
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for i := range all {
		c := &client{
			id: i, store: store, rng: rand.New(rand.NewPCG(seed, uint64(i))), shared: sh, tenant: fmt.Sprint("linear-", seed),
			views: map[int]output{}, holds: map[int]int{},
		}
		all[i] = c
		wg.Go(func() {
			for range ops / clients {
				if errs[i] = c.call(t.Context()); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	var history []porcupine.Operation
	done := map[kind]int{}
	for _, c := range all {
		history = append(history, c.history...)
		for _, op := range c.history {
			if out := op.Output.(output); !out.refused && !out.unknown {
				done[op.Input.(input).kind]++
			}
		}
	}
	for k := acquire; k <= post; k++ {
		if done[k] == 0 {
			t.Errorf("seed %d: no call of kind %d ever succeeded: the history proves nothing", seed, k)
		}
	}
	if result := porcupine.CheckOperationsTimeout(model, history, 2*time.Minute); result != porcupine.Ok {
		t.Fatalf("seed %d: the history of %d calls is not linearizable: %s", seed, len(history), result)
	}
}

// call makes one random call and records it.
func (c *client) call(ctx context.Context) error {
	in := input{thread: c.rng.IntN(threads)}
	view := c.views[in.thread]
	in.nonce, in.epoch, in.inbox, in.pos = c.holds[in.thread], view.epoch, view.inbox, view.tail
	switch n := c.rng.IntN(20); {
	case n < 4:
		in.kind = head
	case n == 4:
		in.kind = post
	case in.nonce == 0 || n == 5:
		in.kind, in.nonce = acquire, c.shared.fresh()
		if view.nonce != 0 {
			in.kind, in.seen = steal, view.nonce
		}
	case n < 8:
		in.kind = renew
	case n < 11:
		in.kind = release
	default:
		in.kind = appendOne
		c.count++
		in.record = 0x10000 + c.id<<12 + c.count
	}
	out, err := c.do(ctx, in)
	if err != nil {
		return err
	}
	c.learn(in, out)
	return nil
}

// note adds an attempt to the history.
func (c *client) note(in input, began int64, out output) {
	c.history = append(c.history, porcupine.Operation{ClientId: c.id, Input: in, Call: began, Output: out, Return: c.now()})
}

func (c *client) now() int64 { return time.Since(c.shared.start).Nanoseconds() }

// learn keeps what a call showed, so that most of the next ones have a chance.
func (c *client) learn(in input, out output) {
	v := c.views[in.thread]
	switch {
	case in.kind == head:
		v = out
	case in.kind == post && !out.refused:
		v.inbox = out.inbox
	case out.refused:
		delete(c.holds, in.thread)
	case in.kind == acquire || in.kind == steal:
		c.holds[in.thread] = in.nonce
		v.epoch, v.nonce = out.epoch, in.nonce
	case in.kind == appendOne:
		v.tail, v.inbox = in.pos+1, out.inbox
	case in.kind == release && out.released:
		delete(c.holds, in.thread)
		v.nonce = 0
	case in.kind == renew:
		v.inbox = out.inbox
	}
	c.views[in.thread] = v
}

// do repeats a call until its outcome is known; some first attempts are cut off at a random moment. The two are calls of their own: a first
// one that was cut off may have happened at any moment until the second has returned, and others' calls may come between them.
func (c *client) do(ctx context.Context, in input) (output, error) {
	first := c.now()
	cutOff := false
	if in.kind != post && c.rng.IntN(6) == 0 { // a command without a request id must not be repeated
		cut, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(cancel)
		out, err := c.once(cut, in)
		wg.Wait()
		if cutOff = errors.Is(err, checkpoint.ErrUnavailable); !cutOff {
			c.note(in, first, out)
			return out, err
		}
	}
	began := c.now()
	out, err := c.once(ctx, in)
	c.note(in, began, out)
	if cutOff {
		c.note(in, first, output{unknown: true})
	}
	return out, err
}

func (c *client) once(ctx context.Context, in input) (out output, err error) {
	key := checkpoint.Key{Tenant: c.tenant, Thread: fmt.Sprint("thread-", in.thread)}
	nonce := c.shared.nonce(in.nonce)
	switch in.kind {
	case acquire, steal:
		a := &checkpoint.Acquire{Key: key, Epoch: in.epoch, Seen: c.shared.nonce(in.seen), Nonce: nonce, TTL: time.Hour}
		if in.kind == steal {
			a.Mode = checkpoint.Steal
		}
		var h checkpoint.Head
		h, err = c.store.Acquire(ctx, a)
		out.epoch = h.Epoch
	case renew:
		var rs []checkpoint.Renewal
		if rs, err = c.store.Renew(ctx, []checkpoint.Lease{{Key: key, Nonce: nonce}}, time.Hour); err == nil {
			out.refused, out.inbox = rs[0].Lost, rs[0].Inbox
		}
	case release:
		out.released, err = c.store.Release(ctx, checkpoint.Lease{Key: key, Nonce: nonce}, in.inbox)
	case appendOne:
		var ack checkpoint.Ack
		ack, err = c.store.Append(ctx, &checkpoint.Append{Key: key, Nonce: nonce, Records: []checkpoint.Record{{
			Pos: in.pos, Ord: int64(in.record), By: nonce.Writer(), Kind: checkpoint.KindEntry, Body: fmt.Append(nil, in.record),
		}}})
		out.inbox = ack.Inbox
	case head:
		var l *checkpoint.Loaded
		if l, err = c.store.Load(ctx, key, 0, ""); err == nil {
			out = output{epoch: l.Head.Epoch, nonce: c.shared.number(l.Head.Nonce), tail: int64(len(l.Records)), inbox: l.Head.Inbox}
		}
	case post:
		out.inbox, err = c.store.Post(ctx, checkpoint.Command{Key: key, Kind: checkpoint.CommandDrain})
	}
	for _, refusal := range []error{checkpoint.ErrStale, checkpoint.ErrHeld, checkpoint.ErrNoThread} {
		if errors.Is(err, refusal) {
			return output{refused: true}, nil
		}
	}
	return out, err
}

func (s *shared) fresh() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := checkpoint.NewNonce()
	s.nonces = append(s.nonces, n)
	s.numbers[n] = len(s.nonces) - 1
	return len(s.nonces) - 1
}

func (s *shared) nonce(number int) checkpoint.Nonce {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nonces[number]
}

func (s *shared) number(n checkpoint.Nonce) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbers[n]
}
