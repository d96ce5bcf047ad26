package redis_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/alloctest"
	"github.com/holdfast-go/holdfast/internal/testserver"
	goredis "github.com/redis/go-redis/v9"
)

// A tape answers each script with the next of its replies. Where it ends the server is away. With a client it records
// what that answers.
type tape struct {
	goredis.UniversalClient
	replies []any
}

var errTapeEnds = errors.New("the tape ends")

func (p *tape) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *goredis.Cmd {
	if p.UniversalClient != nil {
		cmd := p.UniversalClient.EvalSha(ctx, sha, keys, args...)
		p.record(cmd)
		return cmd
	}
	cmd := goredis.NewCmd(ctx)
	p.play(cmd)
	return cmd
}

// Eval follows where the server did not know a script.
func (p *tape) Eval(ctx context.Context, script string, keys []string, args ...any) *goredis.Cmd {
	cmd := p.UniversalClient.Eval(ctx, script, keys, args...)
	p.record(cmd)
	return cmd
}

func (p *tape) Pipelined(ctx context.Context, fn func(goredis.Pipeliner) error) ([]goredis.Cmder, error) {
	if p.UniversalClient != nil {
		cmds, err := p.UniversalClient.Pipelined(ctx, fn)
		for _, cmd := range cmds {
			p.record(cmd.(*goredis.Cmd))
		}
		return cmds, err
	}
	var l pipe
	if err := fn(&l); err != nil {
		return nil, err
	}
	for _, cmd := range l.cmds {
		p.play(cmd.(*goredis.Cmd))
	}
	return l.cmds, nil
}

func (p *tape) record(cmd *goredis.Cmd) {
	if v, err := cmd.Result(); err == nil || errors.Is(err, goredis.Nil) { // not that it does not know a script
		p.replies = append(p.replies, v)
	}
}

func (p *tape) play(cmd *goredis.Cmd) {
	switch {
	case len(p.replies) == 0:
		cmd.SetErr(errTapeEnds)
		return
	case p.replies[0] == nil:
		cmd.SetErr(goredis.Nil)
	default:
		cmd.SetVal(p.replies[0])
	}
	p.replies = p.replies[1:]
}

// A pipe collects the commands of a pipeline.
type pipe struct {
	goredis.Pipeliner
	cmds []goredis.Cmder
}

func (l *pipe) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *goredis.Cmd {
	cmd := goredis.NewCmd(ctx)
	l.cmds = append(l.cmds, cmd)
	return cmd
}

// print writes replies as JSON whose characters are bytes, and parse reads them.
func print(t testing.TB, replies []any) []byte {
	t.Helper()
	b, err := json.Marshal(mapped(replies, func(s string) string {
		r := make([]rune, len(s))
		for i := range len(s) {
			r[i] = rune(s[i])
		}
		return string(r)
	}))
	must(t, err)
	return b
}

func parse(doc []byte) (replies []any, ok bool) {
	if json.Unmarshal(doc, &replies) != nil {
		return nil, false
	}
	return mapped(replies, func(s string) string {
		b := make([]byte, 0, len(s))
		for _, r := range s {
			b = append(b, byte(r))
		}
		return string(b)
	}).([]any), true
}

// mapped is a reply with its strings changed. Numbers of JSON become whole ones, and what a server cannot send becomes nothing.
func mapped(v any, f func(string) string) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mapped(v[i], f)
		}
		return out
	case string:
		return f(v)
	case float64:
		return int64(v)
	case int64:
		return v
	}
	return nil
}

// calls are all calls that read the reply of a script, for a thread that is held.
func calls(key checkpoint.Key, nonce checkpoint.Nonce) []func(context.Context, checkpoint.Store) error {
	record := func(pos int64) []checkpoint.Record {
		return []checkpoint.Record{{Pos: pos, Ord: 1<<32 | pos, By: nonce.Writer(), Kind: checkpoint.KindEntry, Body: []byte("body")}}
	}
	drop := func(_ any, err error) error { return err }
	return []func(context.Context, checkpoint.Store) error{
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Load(ctx, key, checkpoint.Active, ""))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Read(ctx, checkpoint.Query{Chain: checkpoint.Chain{Key: key}, To: -1}))
		},
		func(ctx context.Context, s checkpoint.Store) error { return drop(s.Chains(ctx, key, 0)) },
		func(ctx context.Context, s checkpoint.Store) error { return drop(s.Inbox(ctx, key)) },
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Threads(ctx, checkpoint.ThreadFilter{Tenant: key.Tenant}))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Runs(ctx, checkpoint.RunFilter{Tenant: key.Tenant}))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Questions(ctx, checkpoint.QuestionFilter{}))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Questions(ctx, checkpoint.QuestionFilter{Tenant: key.Tenant, Thread: key.Thread, State: checkpoint.Closed}))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Renew(ctx, []checkpoint.Lease{{Key: key, Nonce: nonce}}, time.Hour))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Answer(ctx, key, []checkpoint.Reply{{Question: "q", Value: []byte("yes")}}))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Post(ctx, checkpoint.Command{Key: key, Kind: checkpoint.CommandInput}))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Append(ctx, &checkpoint.Append{Key: key, Nonce: nonce, Records: record(2)}))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Append(ctx, &checkpoint.Append{Key: key, Nonce: nonce, Records: record(3), Park: &checkpoint.Park{
				Status: checkpoint.Interrupted, Questions: []checkpoint.Question{{ID: "next"}}}}))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Release(ctx, checkpoint.Lease{Key: key, Nonce: nonce}, 0))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Acquire(ctx, &checkpoint.Acquire{Key: key, Mode: checkpoint.Steal, Seen: nonce, Nonce: checkpoint.NewNonce(), TTL: time.Hour}))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Acquire(ctx, &checkpoint.Acquire{Key: key, Nonce: checkpoint.NewNonce(), TTL: time.Hour, Run: &checkpoint.Run{ID: "other", Request: "request"}}))
		},
		func(ctx context.Context, s checkpoint.Store) error {
			return drop(s.Trim(ctx, checkpoint.Chain{Key: key}, 1))
		},
	}
}

// outcomes are the errors that a call may end with, whatever the server says.
var outcomes = []error{
	nil, checkpoint.ErrCorrupt, checkpoint.ErrNewerFormat, checkpoint.ErrUnavailable, checkpoint.ErrStale, checkpoint.ErrHeld, checkpoint.ErrNoThread,
	checkpoint.ErrNotPending, checkpoint.ErrExpired, checkpoint.ErrNotAllowed, redis.ErrConfig,
}

func expected(err error) bool {
	for _, want := range outcomes {
		if errors.Is(err, want) {
			return true
		}
	}
	_, duplicate := errors.AsType[*checkpoint.DuplicateError](err)
	return duplicate
}

// FuzzReplies gives every call replies that no script of ours has sent. It ends with a typed error, or with what is there, and takes
// memory for no more than was sent. // report 120
func FuzzReplies(f *testing.F) {
	key, nonce := checkpoint.Key{Tenant: "tenant", Thread: "thread"}, checkpoint.NewNonce()
	all := calls(key, nonce)
	for i, replies := range recorded(f, key, nonce) {
		f.Add(i, print(f, replies))
		for j := range replies { // with one that is not as it should be
			for _, other := range []any{nil, int64(-1), int64(1 << 40), "", "x", []any{}, []any{"", "", ""}, replies[0]} {
				changed := append([]any{}, replies...)
				changed[j] = other
				f.Add(i, print(f, changed))
			}
		}
	}
	f.Fuzz(func(t *testing.T, call int, doc []byte) {
		replies, ok := parse(doc)
		if !ok {
			return
		}
		s, err := redis.New(t.Context(), &tape{replies: replies}, redis.Options{NoEviction: true})
		must(t, err)
		defer s.Close()
		alloctest.Bound(t, 2048, func() { err = all[uint(call)%uint(len(all))](context.Background(), s) }, doc)
		if !expected(err) {
			t.Errorf("call %d: %v", uint(call)%uint(len(all)), err)
		}
	})
}

// C14: a status or a branch that does not fit is not taken for another one.
func TestReplyOutOfRange(t *testing.T) {
	t.Parallel()
	key, nonce := checkpoint.Key{Tenant: "tenant", Thread: "thread"}, checkpoint.NewNonce()
	load, all := calls(key, nonce)[0], recorded(t, key, nonce)
	head := all[0][0].([]any)[1].([]any)
	for at, other := range map[int]string{6: "4294967296", 7: "-4294967295", 9: "258"} { // active branch, branches, status
		right := head[at]
		head[at] = other
		s, err := redis.New(t.Context(), &tape{replies: all[0]}, redis.Options{NoEviction: true})
		must(t, err)
		if err := load(t.Context(), s); !errors.Is(err, checkpoint.ErrCorrupt) {
			t.Errorf("field %d of the head is %s instead of %v: %v", at, other, right, err)
		}
		must(t, s.Close())
		head[at] = right
	}
	s, err := redis.New(t.Context(), &tape{replies: all[0]}, redis.Options{NoEviction: true})
	must(t, err)
	must(t, load(t.Context(), s)) // as it was sent
	must(t, s.Close())
}

// recorded makes every call once on a real server, and returns its replies by call.
func recorded(f testing.TB, key checkpoint.Key, nonce checkpoint.Nonce) [][]any {
	f.Helper()
	tape := &tape{UniversalClient: raw(f, testserver.SharedRedis(f))}
	s, err := redis.New(f.Context(), tape, redis.Options{Prefix: prefix(), NoEviction: true})
	must(f, err)
	defer s.Close()
	record := func(pos int64, k checkpoint.Kind) []checkpoint.Record {
		return []checkpoint.Record{{Pos: pos, Ord: 1<<32 | pos, By: nonce.Writer(), Kind: k, Body: []byte("body")}}
	}
	_, err = s.Acquire(f.Context(), &checkpoint.Acquire{Key: key, Nonce: nonce, TTL: time.Hour, Holder: checkpoint.Holder{Host: "host", PID: 7},
		Records: record(0, checkpoint.KindInput), Branch: &checkpoint.Branch{N: 1, Name: "fork", Reason: "fork"},
		Run: &checkpoint.Run{ID: "run", Request: "request", Graph: "graph", Meta: map[string]string{"name": "value"}}})
	must(f, err)
	_, err = s.Post(f.Context(), checkpoint.Command{Key: key, Kind: checkpoint.CommandCancel, Request: "cancel", Body: []byte("{}")})
	must(f, err)
	_, err = s.Append(f.Context(), &checkpoint.Append{Key: key, Nonce: nonce, Records: record(1, checkpoint.KindPause), Park: &checkpoint.Park{
		Status: checkpoint.Interrupted, Questions: []checkpoint.Question{{ID: "q", Run: "run", Body: []byte("?"), Deadline: time.Now().Add(time.Hour)}}}})
	must(f, err)
	var out [][]any
	for i, call := range calls(key, nonce) {
		tape.replies = nil
		if err := call(f.Context(), s); !expected(err) || errors.Is(err, checkpoint.ErrCorrupt) {
			f.Fatalf("call %d: %v", i, err)
		}
		if len(tape.replies) == 0 {
			f.Fatalf("call %d has no reply", i)
		}
		out = append(out, tape.replies)
	}
	return out
}
