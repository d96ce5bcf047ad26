package nodes_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

func nothing[A, R any](context.Context, A) (r R, err error) { return r, nil }

// New names every mistake of a tool.
func TestToolMistakes(t *testing.T) {
	t.Parallel()
	type none = struct{}
	raw := func(schema string) nodes.Tool {
		return nodes.NewRawTool(working.Tool{Name: "t", Schema: schema}, func(context.Context, json.RawMessage) ([]message.Part, error) {
			return nil, nil
		}, nodes.ToolOptions[json.RawMessage, []message.Part]{})
	}
	sound := nodes.NewTool("t", "", nothing[none, string], nodes.ToolOptions[none, string]{})
	for want, tool := range map[string]nodes.Tool{
		"name is not":            nodes.NewTool("t t", "", nothing[none, string], nodes.ToolOptions[none, string]{}),
		"1 to 64":                nodes.NewTool(strings.Repeat("t", 65), "", nothing[none, string], nodes.ToolOptions[none, string]{}),
		"no function":            nodes.NewTool[none, string]("t", "", nil, nodes.ToolOptions[none, string]{}),
		"its arguments: ":        nodes.NewTool("t", "", nothing[struct{ F func() }, string], nodes.ToolOptions[struct{ F func() }, string]{}),
		"providers take":         nodes.NewTool("t", "", nothing[int, string], nodes.ToolOptions[int, string]{}),
		"take a struct":          nodes.NewTool("t", "", nothing[*item, string], nodes.ToolOptions[*item, string]{}),
		"its result: ":           nodes.NewTool("t", "", nothing[none, chan int], nodes.ToolOptions[none, chan int]{}),
		"Policy \"maybe\"":       nodes.NewTool("t", "", nothing[none, string], nodes.ToolOptions[none, string]{Policy: "maybe"}),
		"Timeout is below":       nodes.NewTool("t", "", nothing[none, string], nodes.ToolOptions[none, string]{Timeout: -1}),
		"Within is shorter":      nodes.NewTool("t", "", nothing[none, string], nodes.ToolOptions[none, string]{Within: time.Microsecond}),
		"wrapped by nothing":     nodes.WrapTool(sound, nil),
		"it has no graph":        nodes.SubAgent[desk]("t", "", nil, nodes.SubAgentOptions{}),
		`of "type": "object"`:    raw(`{"type":"string"}`),
		`no JSON Schema of "typ`: raw(`{`),
	} {
		_, err := nodes.New(nodes.Config{Session: newSessions(t), Roles: []nodes.Role{{
			Name: "main", Models: []nodes.Model{silent}, Tools: []nodes.Tool{tool},
		}}})
		if !errors.Is(err, nodes.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	kitOf(t, newSessions(t), sound)
}

// The schema is that of the struct, also of one that contains itself, and that of a raw tool stays as it is.
func TestToolSpec(t *testing.T) {
	t.Parallel()
	spec := doing("do", new(ledger), options{}).Spec()
	const want = `{"type":"object","properties":{"name":{"description":"of the thing","type":"string"}`
	if spec.Name != "do" || spec.Description != "Does it." || !strings.HasPrefix(spec.Schema, want) {
		t.Errorf("%+v", spec)
	}
	type tree struct {
		Kids []tree `json:"kids,omitzero"`
	}
	count := func(_ context.Context, a tree) (int, error) { return len(a.Kids[0].Kids), nil }
	deep := nodes.NewTool("deep", "", count, nodes.ToolOptions[tree, int]{})
	foreign := `{"type":"object","properties":{"n":{"type":"integer","multipleOf":2}},"required":["n"]}`
	rest := func(_ context.Context, args json.RawMessage) ([]message.Part, error) {
		return []message.Part{message.Text(string(args))}, nil
	}
	raw := nodes.NewRawTool(working.Tool{Name: "raw", Schema: foreign}, rest, nodes.ToolOptions[json.RawMessage, []message.Part]{})
	known := `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	plain := nodes.NewRawTool(working.Tool{Name: "plain", Schema: known}, rest,
		nodes.ToolOptions[json.RawMessage, []message.Part]{})
	if raw.Spec().Schema != foreign || raw.Name() != "raw" {
		t.Errorf("%+v", raw.Spec())
	}
	k := kitOf(t, newSessions(t), deep, raw, plain)
	for _, c := range []struct{ tool, args, want string }{
		{"deep", `{"kids":[{"kids":[{},{}]}]}`, "2"},
		{"raw", `{"n":3}`, `{"n":3}`}, // its function has to check what is not understood
		{"raw", `[3]`, "want a JSON object"},
		{"plain", `{"n":"3"}`, `at "/n"`},
		{"plain", `{"n":3,"more":1}`, `{"n":3,"more":1}`},
	} {
		if _, r, err := alone(t, k, call(c.tool+c.args, c.tool, c.args)); err != nil || !strings.Contains(r.Text(), c.want) {
			t.Errorf("%s %s: %v, %+v", c.tool, c.args, err, r)
		}
	}
}

// A wrapper neither hides a pause nor retries it, and its retries are one effect under one key. // report 55
func TestWrapperCannotHideAPause(t *testing.T) {
	t.Parallel()
	l, th := new(ledger), graph.ID("t")
	tool := nodes.NewTool("do", "", func(ctx context.Context, a item) (string, error) {
		in, _ := nodes.Current(ctx)
		l.note("came", in.Key)
		ok, err := graph.Ask[bool](ctx, "sure", "Sure?")
		if err != nil {
			return "", err
		}
		if l.note("asked", in.Key); len(l.keys["asked"]) < 3 {
			return "", errors.New("busy")
		}
		return map[bool]string{true: "yes", false: "no"}[ok], nil
	}, options{})
	for range 2 {
		tool = nodes.WrapTool(tool, func(ctx context.Context, c message.Call, next nextCall) (message.Result, error) {
			for range 3 {
				if r, err := next(ctx, c); err == nil {
					return r, nil
				}
			}
			return c.Done("handled"), nil
		})
	}
	app := appOf(t, kitOf(t, newSessions(t), tool), wants(do("a", "x")),
		inMemory())
	_, err := app.Run(t.Context(), th, hello(t))
	q := waits(t, err, 1)[0]
	if n := len(l.keys["came"]); n != 1 {
		t.Fatalf("the tool was run %d times before the answer", n)
	}
	_, err = app.Resume(t.Context(), th, graph.Answer(q, true))
	q = waits(t, err, 1)[0] // the function was busy, and the next try of it asks too
	out, err := app.Resume(t.Context(), th, graph.Answer(q, true))
	if err != nil || resultsOf(t, &out.Turn)["a"].Text() != "yes" {
		t.Fatalf("%v: %+v", err, out)
	}
	if keys := slices.Compact(slices.Concat(l.keys["came"], l.keys["asked"])); len(keys) != 1 || keys[0] == "" {
		t.Fatalf("keys %v", keys)
	}
}

// A wrapper that returns before next has does not lose the question that the function asks, and calls nothing afterwards.
// report 55
func TestWrapperThatDoesNotWait(t *testing.T) {
	t.Parallel()
	th, began, late := graph.ID("t"), make(chan struct{}, 2), nextCall(nil)
	tool := nodes.NewTool("do", "", func(ctx context.Context, _ item) (string, error) {
		began <- struct{}{}
		<-ctx.Done() // it is told to stop when the wrapper has returned
		_, err := graph.Ask[bool](ctx, "sure", "Sure?")
		return "", err
	}, options{})
	tool = nodes.WrapTool(tool, func(ctx context.Context, c message.Call, next nextCall) (message.Result, error) {
		late = next
		go next(ctx, c)
		<-began
		return c.Done("I did not wait"), nil
	})
	app := appOf(t, kitOf(t, newSessions(t), tool), wants(do("a", "x")), inMemory())
	_, err := app.Run(t.Context(), th, hello(t))
	q := waits(t, err, 1)[0]
	if _, err := late(t.Context(), do("a", "x")); err == nil || len(began) != 0 {
		t.Fatalf("called after the call was over: %v", err)
	}
	out, err := app.Resume(t.Context(), th, graph.Answer(q, true))
	if err != nil || resultsOf(t, &out.Turn)["a"].Text() != "I did not wait" {
		t.Fatalf("%v: %+v", err, out)
	}
}

// Wrappers come in order, see only what may run, and what they make of arguments passes the gate again.
func TestWrapTool(t *testing.T) {
	t.Parallel()
	var order []string
	named := func(name string) func(context.Context, message.Call, nextCall) (message.Result, error) {
		return func(ctx context.Context, c message.Call, next nextCall) (message.Result, error) {
			order = append(order, name)
			r, err := next(ctx, c)
			order = append(order, name)
			return r, err
		}
	}
	changing := func(t nodes.Tool, args string) nodes.Tool {
		return nodes.WrapTool(t, func(ctx context.Context, c message.Call, next nextCall) (message.Result, error) {
			c.Args, c.ID, c.Name = args, "other", "other"
			return next(ctx, c)
		})
	}
	l := new(ledger)
	dear := options{AskIf: func(_ context.Context, a item) (string, bool) { return "dear", a.N > 9 }}
	cached := nodes.WrapTool(doing("cached", l, options{
		Then: func(context.Context, *nodes.Turn, item, string) (string, error) { return "nowhere", nil },
	}), func(_ context.Context, c message.Call, _ nextCall) (message.Result, error) {
		return c.Done("from the cache"), nil
	})
	k := kitOf(t, newSessions(t),
		nodes.WrapTool(nodes.WrapTool(doing("do", l, options{}), named("inner")), named("outer")),
		nodes.WrapTool(doing("never", l, options{Policy: nodes.Deny}), named("never")),
		changing(doing("more", l, dear), `{"name":"m","n":10}`), changing(doing("less", l, dear), `{"name":"less","n":9}`),
		changing(doing("bad", l, dear), `{"n":9}`), cached,
	)
	for tool, want := range map[string]message.Result{
		"do":     call("", "", "").Done("did x"),
		"never":  call("", "", "").Ended(message.StatusDenied, "may not be called"),
		"more":   call("", "", "").Ended(message.StatusDenied, "nobody has decided"),
		"less":   call("", "", "").Done("did less"),
		"bad":    call("", "", "").Ended(message.StatusError, "do not fit"),
		"cached": call("", "", "").Done("from the cache"),
	} {
		turn, r, err := alone(t, k, call(tool, tool, `{"name":"x"}`))
		if err != nil || r.Status != want.Status || !strings.Contains(r.Text(), want.Text()) || turn.Jumps.Len() != 0 {
			t.Errorf("%s: %v, %+v", tool, err, r)
		}
	}
	if got := l.all(); !slices.Equal(got, []string{"less", "x"}) {
		t.Errorf("did %v", got)
	}
	if !slices.Equal(order, []string{"outer", "inner", "inner", "outer"}) {
		t.Errorf("order %v", order)
	}
}
