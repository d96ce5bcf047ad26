package nodes_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

func modelError(kind nodes.ErrorKind, after time.Duration) error {
	return &nodes.ModelError{Kind: kind, Provider: "test", Model: "m", RetryAfter: after}
}

// Errors that may pass are tried again, those that will not are left for the next model, and none is a dead end for the thread.
func TestRetriesAndFallbacks(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for _, c := range []struct {
		name           string
		first, second  []error // that the models return before they answer
		answer         string
		calls1, calls2 int
		kind           nodes.ErrorKind
	}{
		{name: "passes", first: []error{modelError(nodes.KindRateLimited, ms), modelError(nodes.KindCut, ms)}, answer: "one", calls1: 3},
		{name: "any error", first: []error{errors.New("broken pipe")}, answer: "one", calls1: 2},
		{name: "falls back", first: slices.Repeat([]error{modelError(nodes.KindUnavailable, ms)}, 9), answer: "two", calls1: 3, calls2: 1},
		{name: "denied at once", first: []error{modelError(nodes.KindDenied, 0)}, answer: "two", calls1: 1, calls2: 1},
		{name: "filtered", first: []error{modelError(nodes.KindFiltered, 0)}, answer: "two", calls1: 1, calls2: 1},
		{name: "asks for too long a wait", first: []error{modelError(nodes.KindRateLimited, time.Hour)}, answer: "two", calls1: 1, calls2: 1},
		{name: "all fail", first: []error{modelError(nodes.KindDenied, 0)}, second: []error{modelError(nodes.KindInvalid, 0)}, calls1: 1, calls2: 1, kind: nodes.KindDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := func(answer string, n *int, errs []error) nodes.Model {
				return nodes.ModelFunc(func(context.Context, nodes.Request, func(nodes.Delta)) (nodes.Answer, error) {
					if *n++; *n <= len(errs) {
						return nodes.Answer{}, errs[*n-1]
					}
					return nodes.Answer{Message: message.Assistant(answer), Stop: nodes.StopEnd}, nil
				})
			}
			var n1, n2 int
			b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{model("one", &n1, c.first), model("two", &n2, c.second)}}}})
			s, err := b.say("hi")
			if n1 != c.calls1 || n2 != c.calls2 {
				t.Errorf("the models were asked %d and %d times, not %d and %d", n1, n2, c.calls1, c.calls2)
			}
			if c.answer == "" {
				if nodes.KindOf(err) != c.kind {
					t.Fatalf("the error is %v", err)
				}
				if got := b.hears("again"); got != "one" {
					t.Errorf("after a failed turn it says %q", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := nodes.Reply(&s.Turn).Text(); got != c.answer {
				t.Errorf("it says %q", got)
			}
			stored, err := b.app.State(t.Context(), b.thread) // R25
			if err != nil {
				t.Fatal(err)
			}
			if n := stored.State.Retries.Get(); n != max(c.calls1-1, 0) || stored.State.Status.Get() != nodes.Answered {
				t.Errorf("the thread has %d retries and the status %q", n, stored.State.Status.Get())
			}
		})
	}
}

// The tries of call_model are its own: what a program grants to all nodes does not multiply them.
func TestRetriesAreNotMultiplied(t *testing.T) {
	t.Parallel()
	n := 0
	away := nodes.ModelFunc(func(context.Context, nodes.Request, func(nodes.Delta)) (nodes.Answer, error) {
		n++
		return nodes.Answer{}, modelError(nodes.KindUnavailable, time.Millisecond)
	})
	b := newBench(t, nodes.Config{Attempts: 2, Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{away}}}})
	all := graph.Options{Store: b.store, Policy: graph.Policy{Attempts: 5, Backoff: time.Millisecond}}
	app, err := nodes.Agent[shop]("shop", b.kit).Compile(all)
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	if _, err := app.Run(t.Context(), b.thread, nodes.Input[shop](b.scope, message.User("hi"))); nodes.KindOf(err) != nodes.KindUnavailable || n != 2 {
		t.Errorf("the model was asked %d times: %v", n, err)
	}
}

// R55, R56: a provider that takes less than the profile says leads to compaction and a shorter prompt, not to a dead end.
func TestContextLength(t *testing.T) {
	t.Parallel()
	const limit = 1500
	var sizes []int
	model := nodes.ModelFunc(func(_ context.Context, r nodes.Request, _ func(nodes.Delta)) (nodes.Answer, error) {
		n := working.CountRequest(working.Estimate, r.Messages, r.Tools)
		sizes = append(sizes, n)
		if n > limit {
			return nodes.Answer{}, &nodes.ModelError{Kind: nodes.KindContextLength, Limit: limit}
		}
		return nodes.Answer{Message: message.Assistant("fine"), Stop: nodes.StopEnd}, nil
	})
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{model}}}, Compact: compact.Options{Budget: 100_000}})
	for i := range 12 {
		if got := b.hears("Tell me about order " + strings.Repeat("word ", 200) + string(rune('a'+i))); got != "fine" {
			t.Fatalf("turn %d: it says %q", i, got)
		}
	}
	refused := 0
	for _, n := range sizes {
		if n > limit {
			refused++
		}
	}
	if refused == 0 || refused > 3 {
		t.Errorf("of %d requests %d were too long: %v", len(sizes), refused, sizes)
	}
}

// A question that is above the whole limit alone is cut, and answered.
func TestContextLengthOfOneMessage(t *testing.T) {
	t.Parallel()
	const limit = 2000
	model := nodes.ModelFunc(func(_ context.Context, r nodes.Request, _ func(nodes.Delta)) (nodes.Answer, error) {
		if working.CountRequest(working.Estimate, r.Messages, r.Tools) > limit {
			return nodes.Answer{}, &nodes.ModelError{Kind: nodes.KindContextLength}
		}
		return nodes.Answer{Message: message.Assistant("fine"), Stop: nodes.StopEnd}, nil
	})
	p := working.Default()
	p.MaxInput = 4200
	p.Reserve, p.Caps = 400, working.Caps{System: 400, State: 200, Recent: 2000, Summary: 200, Observations: 1000, Notes: 100}
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{model}}}, Profile: p})
	if got := b.hears("Read this: " + strings.Repeat("一行日志 error 42\n", 20_000)); got != "fine" {
		t.Errorf("it says %q", got)
	}
}

// A provider that refuses every length ends the turn with its own error, after three requests, and the thread takes the next.
func TestContextLengthForEver(t *testing.T) {
	t.Parallel()
	n, refuse := 0, true
	model := nodes.ModelFunc(func(context.Context, nodes.Request, func(nodes.Delta)) (nodes.Answer, error) {
		if n++; refuse {
			return nodes.Answer{}, &nodes.ModelError{Kind: nodes.KindContextLength}
		}
		return nodes.Answer{Message: message.Assistant("fine"), Stop: nodes.StopEnd}, nil
	})
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{model}}}})
	if _, err := b.say("hi"); nodes.KindOf(err) != nodes.KindContextLength || n != 3 {
		t.Fatalf("after %d requests: %v", n, err)
	}
	refuse = false
	if got := b.hears("hi"); got != "fine" {
		t.Errorf("it says %q", got)
	}
}

// One odd refusal does not keep prompts short for ever.
func TestOddRefusalIsForgotten(t *testing.T) {
	t.Parallel()
	odd, size := false, 0
	model := nodes.ModelFunc(func(_ context.Context, r nodes.Request, _ func(nodes.Delta)) (nodes.Answer, error) {
		if odd {
			return nodes.Answer{}, &nodes.ModelError{Kind: nodes.KindContextLength, Limit: 100}
		}
		size = working.CountRequest(working.Estimate, r.Messages, r.Tools)
		return nodes.Answer{Message: message.Assistant("fine"), Stop: nodes.StopEnd}, nil
	})
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{model}}}, Compact: compact.Options{Budget: 20_000}})
	odd = true
	if _, err := b.say("hi"); nodes.KindOf(err) != nodes.KindContextLength {
		t.Fatal(err)
	}
	odd = false
	for range 40 {
		b.hears("Tell me about order " + strings.Repeat("word ", 100))
	}
	if size < 3000 {
		t.Errorf("the prompt has %d tokens", size)
	}
}

// A model that is away does not hide that the request is too long for the other.
func TestContextLengthOfTheFallback(t *testing.T) {
	t.Parallel()
	away := nodes.ModelFunc(func(context.Context, nodes.Request, func(nodes.Delta)) (nodes.Answer, error) {
		return nodes.Answer{}, modelError(nodes.KindDenied, 0)
	})
	small := nodes.ModelFunc(func(_ context.Context, r nodes.Request, _ func(nodes.Delta)) (nodes.Answer, error) {
		if working.CountRequest(working.Estimate, r.Messages, r.Tools) > 1500 {
			return nodes.Answer{}, modelError(nodes.KindContextLength, 0)
		}
		return nodes.Answer{Message: message.Assistant("fine"), Stop: nodes.StopEnd}, nil
	})
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{away, small}}}, Compact: compact.Options{Budget: 20_000, ChunkCap: 800}})
	for range 12 {
		if got := b.hears("Tell me about order " + strings.Repeat("word ", 200)); got != "fine" {
			t.Fatalf("it says %q", got)
		}
	}
}

// report 37: what the user has seen of an answer that was stopped is kept, marked; and Resume asks again, in its place.
func TestStoppedWhileWriting(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"context", "cancel"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			halfway := make(chan struct{}, 1)
			n := 0
			model := nodes.ModelFunc(func(ctx context.Context, r nodes.Request, stream func(nodes.Delta)) (nodes.Answer, error) {
				if n++; n > 1 {
					if err := message.Valid(r.Messages); err != nil {
						t.Error(err)
					}
					return nodes.Answer{Message: message.Assistant("whole"), Stop: nodes.StopEnd}, nil
				}
				for range 25 {
					stream(nodes.Delta{Text: "chunk "})
				}
				halfway <- struct{}{}
				<-ctx.Done()
				m := message.Assistant(strings.Repeat("chunk ", 25), message.Call{ID: "c1", Name: "half", Args: `{"a`})
				m.Partial = true
				return nodes.Answer{Message: m}, ctx.Err()
			})
			b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{model}}}})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := b.app.Run(ctx, b.thread, nodes.Input[shop](b.scope, message.User("tell")))
				ended <- err
			}()
			select {
			case <-halfway:
			case err := <-ended:
				t.Fatal(err)
			}
			if how == "cancel" {
				if err := b.app.Cancel(t.Context(), b.thread); err != nil {
					t.Fatal(err)
				}
			} else {
				cancel()
			}
			if err := <-ended; err == nil {
				t.Fatal("a stopped run is a success")
			}
			s, err := b.app.State(t.Context(), b.thread)
			if err != nil {
				t.Fatal(err)
			}
			last, _ := s.State.Messages.Last()
			if !last.Partial || strings.Count(last.Text(), "chunk") != 25 || len(last.Calls()) > 0 {
				t.Fatalf("the last message is %+v", last)
			}
			want := 4 // user, partial, user, whole
			if how == "cancel" {
				if got := b.hears("again"); got != "whole" {
					t.Errorf("it says %q", got)
				}
				page, err := b.session.Messages(t.Context(), b.scope, "chat-1", session.Page{})
				if err != nil || len(page) != 4 || !page[1].Partial {
					t.Errorf("%v: the conversation has %+v", err, page)
				}
			} else {
				out, err := b.app.Resume(t.Context(), b.thread)
				if err != nil {
					t.Fatal(err)
				}
				if got := nodes.Reply(&out.Turn); got.Text() != "whole" || got.ID != last.ID {
					t.Errorf("it says %+v in the place of %s", got, last.ID)
				}
				want = 2
			}
			s, err = b.app.State(t.Context(), b.thread)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.State.Messages.Len(); got != want {
				t.Errorf("there are %d messages, not %d", got, want)
			}
		})
	}
}

// A model that reports success although its context has ended is not believed.
func TestSuccessAfterTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	model := nodes.ModelFunc(func(context.Context, nodes.Request, func(nodes.Delta)) (nodes.Answer, error) {
		cancel()
		return nodes.Answer{Message: message.Assistant("half a sen"), Stop: nodes.StopEnd}, nil
	})
	b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{model}}}})
	if _, err := b.app.Run(ctx, b.thread, nodes.Input[shop](b.scope, message.User("hi"))); !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	s, err := b.app.State(t.Context(), b.thread)
	if err != nil {
		t.Fatal(err)
	}
	if last, _ := s.State.Messages.Last(); !last.Partial {
		t.Errorf("the last message is %+v", last)
	}
}

type verdict struct {
	Refund bool   `json:"refund"`
	Why    string `json:"why"`
}

func TestStructuredOutput(t *testing.T) {
	t.Parallel()
	role := nodes.Role{Name: "judge", Output: nodes.OutputOf[verdict]("verdict")}
	b := newBench(t, nodes.Config{Roles: []nodes.Role{role}}, tells("Sure, a refund!"), func(r nodes.Request) (nodes.Answer, error) {
		if last := r.Messages[len(r.Messages)-1].Text(); !strings.Contains(last, "required form") {
			t.Errorf("it is told %q", last)
		}
		return tells(`{"refund":true,"why":"it broke"}`)(r)
	}, tells(`{"refund":1}`), tells(`{}`), tells(`nonsense`))
	s, err := b.say("may I?")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := nodes.ReadOutput[verdict](&s.Turn); err != nil || !v.Refund || v.Why != "it broke" {
		t.Errorf("%+v, %v", v, err)
	}
	if n := s.Messages.Len(); n != 2 {
		t.Errorf("there are %d messages: the answer without form is among them", n)
	}
	if _, err := b.say("and now?"); !errors.Is(err, nodes.ErrOutput) {
		t.Errorf("three answers without form: %v", err)
	}
}

// Before the step limit the model is told to answer; a model that calls tools all the same is told once more, and then it is an error.
func TestAnswersBeforeTheLimit(t *testing.T) {
	t.Parallel()
	call := func(i int) func(nodes.Request) (nodes.Answer, error) {
		return calls(message.Call{ID: "same", Name: "look", Args: "{}"})
	}
	for name, c := range map[string]struct {
		config nodes.Config
		limit  int
	}{"MaxSteps": {nodes.Config{MaxSteps: 3}, 1000}, "StepsLeft": {nodes.Config{}, 20}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.config)
			n := 0
			b.script.steps = slices.Repeat([]func(nodes.Request) (nodes.Answer, error){func(r nodes.Request) (nodes.Answer, error) {
				if n++; r.NoCalls {
					return tells("what I know")(r)
				}
				return call(n)(r)
			}}, 30)
			out, err := b.app.With(graph.RunOptions{StepLimit: c.limit}).Run(t.Context(), b.thread, nodes.Input[shop](b.scope, message.User("dig")))
			if err != nil {
				t.Fatal(err)
			}
			if got := nodes.Reply(&out.Turn).Text(); got != "what I know" || n < 3 || n > 4 {
				t.Errorf("after %d calls it says %q", n, got)
			}
			if err := message.Valid(out.Messages.Slice()); err != nil { // ids that a model repeats are made different
				t.Error(err)
			}
		})
	}
	b := newBench(t, nodes.Config{MaxSteps: 1}, call(1), call(2), call(3))
	if _, err := b.say("dig"); !errors.Is(err, nodes.ErrNoAnswer) {
		t.Errorf("%v", err)
	}
}

func TestInputIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, nodes.Config{}, tells("Hello."), tells("Still here."))
	b.hears("hi")
	other, _ := memory.NewScope("acme", "bob")
	if _, err := b.app.Run(t.Context(), b.thread, nodes.Input[shop](other, message.User("my secret"))); !errors.Is(err, nodes.ErrForeign) {
		t.Errorf("a foreign message: %v", err)
	}
	if _, err := b.app.Run(t.Context(), b.thread, nodes.Input[shop](memory.Scope{}, message.User("nobody"))); !errors.Is(err, nodes.ErrNoInput) {
		t.Errorf("a message of nobody: %v", err)
	}
	if _, err := b.app.Run(t.Context(), b.thread, func(*shop) {}); !errors.Is(err, nodes.ErrNoInput) {
		t.Errorf("no message: %v", err)
	}
	if _, err := b.app.Run(t.Context(), graph.Thread{Tenant: "globex", ID: "x"}, nodes.Input[shop](b.scope, message.User("hi"))); !errors.Is(err, nodes.ErrForeign) {
		t.Errorf("a thread of another tenant: %v", err)
	}
	if got := b.hears("hi"); got != "Still here." {
		t.Errorf("it says %q", got)
	}
	for _, r := range b.script.requests {
		for _, m := range r.Messages {
			if strings.Contains(m.Text(), "secret") || strings.Contains(m.Text(), "nobody") {
				t.Errorf("the model was told %q", m.Text())
			}
		}
	}
}
