package nodes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphtest"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// Of three parallel calls one has a recorded result when the process dies: another process runs the other two, once, under
// the keys that they had. // R24 // report 30 // report 36
func TestResumeRunsWhatIsLeft(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, h *hand) {
		for _, readOnly := range []bool{false, true} {
			th, sess := graph.ID(fmt.Sprint(readOnly)), newSessions(t)
			p := wants(do("a", "x"), do("b", "y"), do("c", "z"))
			build := func(l *ledger, store checkpoint.Store, dying bool) *graph.App[desk] {
				tool := nodes.NewTool("do", "Does it.", func(ctx context.Context, a item) (string, error) {
					in, _ := nodes.Current(ctx)
					l.note(a.Name, in.Key)
					if dying && a.Name != "x" {
						<-ctx.Done()
						return "", ctx.Err()
					}
					return "did " + a.Name, nil
				}, options{ReadOnly: readOnly})
				o := graph.Options{Store: store}
				if dying {
					o.StorePatience = time.Second
				}
				return appOf(t, kitOf(t, sess, tool), p, o)
			}
			before, after, mortal := new(ledger), new(ledger), faultstore.New(s)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			app := build(before, mortal, true)
			go func() { _, err := app.Run(ctx, th, hello(t)); ended <- err }()
			for done := 0; done == 0 || len(before.all()) < 3; runtime.Gosched() {
				if len(ended) > 0 {
					t.Fatal(<-ended)
				}
				if snap, err := app.State(t.Context(), th); err == nil {
					done = len(slices.DeleteFunc(snap.Next, func(i graph.TaskInfo) bool { return !i.Done }))
				}
			}
			mortal.Crash()
			stop()
			if err := <-ended; err == nil {
				t.Fatal("the process did not die")
			}
			h.move(time.Hour)
			out, err := build(after, s, false).Resume(t.Context(), th)
			if err != nil || !slices.Equal(after.all(), []string{"y", "z"}) || p.asked.Load() != 2 {
				t.Fatalf("%v: %v was done, the model was asked %d times", err, after.all(), p.asked.Load())
			}
			for _, name := range after.all() {
				if before.keys[name][0] == "" || !slices.Equal(before.keys[name], after.keys[name]) {
					t.Fatalf("%s had the keys %v and %v", name, before.keys, after.keys)
				}
			}
			if rs := resultsOf(t, &out.Turn); len(rs) != 3 || rs["a"].Text() != "did x" {
				t.Fatalf("%+v", rs)
			}
			if err := message.Valid(out.Messages.Slice()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A recorded effect does not happen again when the task fails behind it: here the session store is away. // report 28
func TestEffectIsNotRepeatedWhenTheStoreWasAway(t *testing.T) {
	t.Parallel()
	l, th := new(ledger), graph.ID("t")
	away := newSessions(t)
	away.Close()
	store := new(checkpoint.Memory)
	p := wants(do("a", "x"))
	_, err := appOf(t, kitOf(t, away, doing("do", l, options{})), p, graph.Options{Store: store}).Run(t.Context(), th, hello(t))
	if !errors.Is(err, session.ErrClosed) {
		t.Fatal(err)
	}
	out, err := appOf(t, kitOf(t, newSessions(t), doing("do", l, options{})), p, graph.Options{Store: store}).Resume(t.Context(), th)
	if err != nil || len(l.all()) != 1 || resultsOf(t, &out.Turn)["a"].Text() != "did x" {
		t.Fatalf("%v, did %v", err, l.all())
	}
}

// What would be decided by now takes back nothing that was done: of a recorded effect nobody is asked, and it is not refused.
func TestDoneIsNotDecidedAbout(t *testing.T) {
	t.Parallel()
	for name, changed := range map[string]options{
		"asks":    {AskIf: func(context.Context, item) (string, bool) { return "the limit of the day", true }},
		"denied":  {Policy: nodes.Deny},
		"allowed": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, th, store, p := new(ledger), graph.ID("t"), new(checkpoint.Memory), wants(do("a", "x"))
			away := newSessions(t)
			away.Close()
			_, err := appOf(t, kitOf(t, away, doing("do", l, options{})), p, graph.Options{Store: store}).Run(t.Context(), th, hello(t))
			if !errors.Is(err, session.ErrClosed) {
				t.Fatal(err)
			}
			out, err := appOf(t, kitOf(t, newSessions(t), doing("do", l, changed)), p, graph.Options{Store: store}).Resume(t.Context(), th)
			if err != nil || len(l.all()) != 1 || resultsOf(t, &out.Turn)["a"].Text() != "did x" {
				t.Fatalf("%v, did %v", err, l.all())
			}
		})
	}
}

// alone runs one call as a node would, outside of a graph.
func alone(t testing.TB, k *nodes.Kit, c message.Call, more ...message.Call) (*nodes.Turn, message.Result, error) {
	t.Helper()
	turn := turnWith(t, append([]message.Call{c}, more...)...)
	err := k.CallTools(graphtest.Context(t, graphtest.Options{}), turn, c)
	return turn, resultsOf(t, turn)[c.ID], err
}

func turnWith(t testing.TB, calls ...message.Call) *nodes.Turn {
	t.Helper()
	turn := new(nodes.Turn)
	turn.Scope.Set(scopeOf(t, "ann"))
	turn.Conversation.Set("c")
	turn.Messages.Append(message.User("What does error E42 in the log mean?"), message.Assistant("", calls...))
	return turn
}

// Whatever a call comes to is a result that the model can read, and a history that every provider takes.
func TestEveryCallHasAResult(t *testing.T) {
	t.Parallel()
	l := new(ledger)
	fails := func(name string, fn func(context.Context, item) (string, error)) nodes.Tool {
		return nodes.NewTool(name, "", fn, options{Timeout: time.Minute})
	}
	raw := func(name string, parts []message.Part) nodes.Tool {
		return nodes.NewRawTool(working.Tool{Name: name}, func(context.Context, json.RawMessage) ([]message.Part, error) {
			return parts, nil
		}, nodes.ToolOptions[json.RawMessage, []message.Part]{})
	}
	found := func(context.Context, struct{}) (item, error) { return item{Name: "<a>", N: 3}, nil }
	tools := []nodes.Tool{
		doing("do", l, options{}),
		fails("err", func(context.Context, item) (string, error) { return "", errors.New("no such order") }),
		fails("panics", func(context.Context, item) (string, error) { panic("oh") }),
		fails("exits", func(context.Context, item) (string, error) { runtime.Goexit(); return "", nil }),
		fails("mute", func(context.Context, item) (string, error) { return "", nil }),
		fails("wordless", func(context.Context, item) (string, error) { return "", errors.New("") }),
		fails("garbled", func(context.Context, item) (string, error) { return "a\xffb", nil }),
		raw("raw", []message.Part{message.Text("one"), message.ImageURL("https://a.test/x.png"), message.Text(""), message.Reasoning("r", "")}),
		raw("none", nil),
		nodes.NewTool("json", "", found, nodes.ToolOptions[struct{}, item]{}),
		nodes.NewTool("said", "", found, nodes.ToolOptions[struct{}, item]{
			Text: func(i item) string { return "It is " + i.Name + "." },
		}),
	}
	for _, c := range []struct {
		tool, args string
		status     message.Status
		want       string
	}{
		{"do", `{"name":"x"}`, message.StatusOK, "did x"},
		{"doo", `{"name":"x"}`, message.StatusError, `There is no tool "doo". There are: do, err,`},
		{"do", `{"nam":"x"}`, message.StatusError, "nam"},
		{"do", `{"name":7}`, message.StatusError, `at "/name": want`},
		{"do", `{"name":`, message.StatusError, "nothing was done"},
		{"do", `[]`, message.StatusError, "object"},
		{"do", ``, message.StatusError, "name"},
		{"err", `{"name":"x"}`, message.StatusError, "no such order"},
		{"panics", `{"name":"x"}`, message.StatusError, "oh"},
		{"exits", `{"name":"x"}`, message.StatusError, "goroutine"},
		{"mute", `{"name":"x"}`, message.StatusOK, "nothing to show"},
		{"wordless", `{"name":"x"}`, message.StatusError, "did not say why"},
		{"garbled", `{"name":"x"}`, message.StatusOK, "a\uFFFDb"},
		{"raw", ``, message.StatusOK, "one"},
		{"none", `{}`, message.StatusOK, "nothing to show"},
		{"json", ` `, message.StatusOK, `{"name":"<a>","n":3}`},
		{"said", `{}`, message.StatusOK, "It is <a>."},
	} {
		t.Run(c.tool+c.args, func(t *testing.T) {
			t.Parallel()
			turn, r, err := alone(t, kitOf(t, newSessions(t), tools...), call("k", c.tool, c.args))
			if err != nil || r.Status != c.status || !strings.Contains(r.Text(), c.want) || r.Name != c.tool {
				t.Fatalf("%v: %+v", err, r)
			}
			history, _ := message.Repair(turn.Messages.Slice(), message.RepairOptions{}) // of the arguments
			if last := history[len(history)-1]; message.Valid(history) != nil || last.Results()[0].Text() != r.Text() {
				t.Fatalf("%v: %+v", message.Valid(history), history)
			}
		})
	}
	if did := l.all(); len(did) > 1 {
		t.Errorf("%v was done with arguments that do not fit", did)
	}
}

// What cannot be recorded would be done again: whatever a function or a wrapper has said of an effect, it happens once and has
// a result that providers take.
func TestWhatIsSaidOfAnEffectIsRecorded(t *testing.T) {
	t.Parallel()
	saying := func(l *ledger, say func() (unwritable, error)) nodes.Tool {
		return nodes.NewTool("do", "", func(_ context.Context, a item) (unwritable, error) {
			l.note(a.Name, "")
			return say()
		}, nodes.ToolOptions[item, unwritable]{Text: func(unwritable) string { panic("\xff") }})
	}
	showing := func(i message.Image) func(l *ledger) nodes.Tool {
		return func(l *ledger) nodes.Tool {
			return nodes.NewTool("do", "", func(_ context.Context, a item) ([]message.Part, error) {
				l.note(a.Name, "")
				return []message.Part{{Kind: message.KindImage, Image: &i}}, nil
			}, nodes.ToolOptions[item, []message.Part]{})
		}
	}
	wrapped := func(r message.Result, say string) func(l *ledger) nodes.Tool {
		return func(l *ledger) nodes.Tool {
			return nodes.WrapTool(doing("do", l, options{}), func(ctx context.Context, c message.Call, next nextCall) (message.Result, error) {
				if _, err := next(ctx, c); err != nil || say != "" {
					panic(say)
				}
				return r, nil
			})
		}
	}
	png := []byte("\x89PNG\r\n\x1a\n")
	for name, c := range map[string]struct {
		tool func(l *ledger) nodes.Tool
		want string
	}{
		"an error": {func(l *ledger) nodes.Tool {
			return saying(l, func() (unwritable, error) { return "", errors.New("a\xff") })
		}, "a\uFFFD"},
		"a panic":         {func(l *ledger) nodes.Tool { return saying(l, func() (unwritable, error) { panic("a\xff") }) }, "a\uFFFD"},
		"a value":         {func(l *ledger) nodes.Tool { return saying(l, func() (unwritable, error) { return "\xff", nil }) }, "it ran"},
		"Text":            {func(l *ledger) nodes.Tool { return saying(l, func() (unwritable, error) { return "", nil }) }, "it ran"},
		"a wrapper":       {wrapped(message.Result{Parts: []message.Part{message.Text("a\xff")}}, ""), "a\uFFFD"},
		"a panic of it":   {wrapped(message.Result{}, "a\xff"), "a\uFFFD"},
		"no image":        {showing(message.Image{}), "without bytes or address"},
		"an odd address":  {showing(message.Image{URL: "https://a.test/\xff"}), "[https://a.test/\uFFFD]"},
		"bytes alone":     {showing(message.Image{Data: png}), "[image/png]"},
		"both ways":       {showing(message.Image{Data: png, MediaType: "image/png", URL: "https://a.test/"}), "[image/png]"},
		"another picture": {showing(message.Image{Data: []byte("%PDF-1.7"), MediaType: "application/pdf"}), "8 bytes of application/pdf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := new(ledger)
			app := appOf(t, kitOf(t, newSessions(t), c.tool(l)), wants(do("a", "x")), inMemory())
			out, err := app.Run(t.Context(), graph.ID("t"), hello(t))
			if err != nil || len(l.all()) != 1 {
				t.Fatalf("%v, did %v", err, l.all())
			}
			r := resultsOf(t, &out.Turn)["a"]
			said := r.Text()
			for _, p := range r.Parts {
				if p.Image != nil {
					said += fmt.Sprintf("[%s]", p.Image.MediaType+p.Image.URL)
				}
			}
			if !strings.Contains(said, c.want) || message.Valid(out.Messages.Slice()) != nil {
				t.Fatalf("%v: %+v", message.Valid(out.Messages.Slice()), r)
			}
		})
	}
}

// An unwritable value makes JSON that is none if it is no text.
type unwritable string

func (u unwritable) MarshalJSON() ([]byte, error) { return []byte(`"` + u + `"`), nil }

// A model makes up ids: whatever they are, the result is stored.
func TestStrangeCallIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{strings.Repeat("x", 300), "a\nb", "呼"} {
		l := new(ledger)
		_, r, err := alone(t, kitOf(t, newSessions(t), doing("do", l, options{})), call(id, "do", `{"name":"x"}`))
		if err != nil || r.Text() != "did x" {
			t.Errorf("%.20q: %v, %+v", id, err, r)
		}
	}
}

// A Fatal error fails the run, also through a wrapper; resumed, the call runs again under the same key.
func TestFatal(t *testing.T) {
	t.Parallel()
	down := errors.New("the till is down")
	var up atomic.Bool
	l, th := new(ledger), graph.ID("t")
	tool := nodes.NewTool("do", "", func(ctx context.Context, a item) (string, error) {
		in, _ := nodes.Current(ctx)
		l.note(a.Name, in.Key)
		if !up.Load() {
			return "", nodes.Fatal(down)
		}
		return "done", nil
	}, options{})
	p := wants(do("a", "x"))
	app := appOf(t, kitOf(t, newSessions(t), tool), p, inMemory())
	if _, err := app.Run(t.Context(), th, hello(t)); !errors.Is(err, down) {
		t.Fatal(err)
	}
	up.Store(true)
	if _, err := app.Resume(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	if keys := l.keys["x"]; len(keys) != 2 || keys[0] == "" || keys[0] != keys[1] {
		t.Fatalf("keys %v", keys)
	}
	if nodes.Fatal(nil) != nil {
		t.Error("nothing is fatal")
	}
}

// A tool that ends late has timed out; one that does not end is left behind, cannot touch the state any more, and is not
// run beside itself.
func TestTimeOut(t *testing.T) {
	t.Parallel()
	release, over := make(chan struct{}), make(chan bool, 1)
	var runs atomic.Int32
	deaf := nodes.NewTool("deaf", "", func(ctx context.Context, a item) (string, error) {
		runs.Add(1)
		<-release
		_, ok := nodes.TurnOf(ctx)
		over <- ok
		return "late", nil
	}, options{Timeout: time.Millisecond})
	deaf = nodes.WrapTool(deaf, func(ctx context.Context, c message.Call, next nextCall) (message.Result, error) {
		next(ctx, c)
		return next(ctx, c)
	})
	late := nodes.NewTool("late", "", func(ctx context.Context, a item) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}, options{Timeout: time.Millisecond})
	inTime := nodes.NewTool("intime", "", func(ctx context.Context, a item) (string, error) {
		<-ctx.Done()
		return "saved", nil
	}, options{Timeout: time.Millisecond})
	hurried := nodes.NewTool("hurried", "", func(ctx context.Context, a item) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}, options{})
	hurried = nodes.WrapTool(hurried, func(ctx context.Context, c message.Call, next nextCall) (message.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, 0)
		defer cancel()
		return next(ctx, c)
	})
	k := kitOf(t, newSessions(t), deaf, late, inTime, hurried)
	for tool, want := range map[string]message.Result{
		"deaf":    {Status: message.StatusTimedOut, Parts: []message.Part{message.Text("Whether it took effect is unknown.")}},
		"late":    {Status: message.StatusTimedOut, Parts: []message.Part{message.Text("It was stopped after 1ms")}},
		"hurried": {Status: message.StatusTimedOut, Parts: []message.Part{message.Text("It was stopped after")}},
		"intime":  {Status: message.StatusOK, Parts: []message.Part{message.Text("saved")}},
	} {
		_, r, err := alone(t, k, call(tool, tool, `{"name":"x"}`))
		if err != nil || r.Status != want.Status || !strings.Contains(r.Text(), want.Text()) || strings.Contains(r.Text(), "2m") {
			t.Errorf("%s: %v, %+v", tool, err, r)
		}
	}
	close(release)
	if ok := <-over; ok || runs.Load() != 1 {
		t.Errorf("it still has the Turn: %v; it ran %d times", ok, runs.Load())
	}
}

// When the run ends, a tool that ends with it has no result: it runs again.
func TestStoppedRunHasNoResult(t *testing.T) {
	t.Parallel()
	for _, swallow := range []bool{false, true} {
		began, th := make(chan struct{}), graph.ID("t")
		var first atomic.Bool
		first.Store(true)
		tool := nodes.NewTool("do", "", func(ctx context.Context, a item) (string, error) {
			if first.CompareAndSwap(true, false) {
				close(began)
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "done", nil
		}, options{})
		if swallow {
			tool = nodes.WrapTool(tool, func(ctx context.Context, c message.Call, next nextCall) (message.Result, error) {
				if r, err := next(ctx, c); err == nil {
					return r, nil
				}
				next(ctx, c)
				return c.Done("swallowed"), nil
			})
		}
		sess := newSessions(t)
		p := wants(do("a", "x"))
		app := appOf(t, kitOf(t, sess, tool), p, inMemory())
		ctx, stop := context.WithCancel(t.Context())
		go func() { <-began; stop() }()
		if _, err := app.Run(ctx, th, hello(t)); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, err := sess.State(t.Context(), scopeOf(t, "ann"), "t"); !errors.Is(err, session.ErrNotFound) {
			t.Fatalf("something was kept: %v", err)
		}
		out, err := app.Resume(t.Context(), th)
		if err != nil || resultsOf(t, &out.Turn)["a"].Text() != "done" {
			t.Fatalf("%v: %+v", err, resultsOf(t, &out.Turn))
		}
	}
}

// Two thousand lines of a log enter as an excerpt with code, time and counts; the exact bytes are stored, and the tool of
// every role reads them, for their owner alone. // R57 // R58
func TestLargeResult(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 2000 {
		level, text := "INFO", "request served"
		if i == 1234 {
			level, text = "ERROR", "code=E42 payment gateway refused the card"
		}
		fmt.Fprintf(&b, "2025-06-01T12:%02d:%02dZ %s %s id=%d\n", i/60%60, i%60, level, text, i)
	}
	sess := newSessions(t)
	k := kitOf(t, sess, nodes.NewTool("query_logs", "", func(context.Context, struct{}) (string, error) { return b.String(), nil },
		nodes.ToolOptions[struct{}, string]{ReadOnly: true}))
	turn, r, err := alone(t, k, call("q", "query_logs", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	id, _ := turn.Stored.Get("q")
	for _, want := range []string{"E42", "2025-06-01T12:", "2000", "ERROR", id} {
		if !strings.Contains(r.Text(), want) || id == "" {
			t.Errorf("the excerpt lacks %q: %s", want, r.Text())
		}
	}
	if n := working.Estimate.Count(r.Text()); n > 2000 {
		t.Errorf("%d tokens", n)
	}
	full, err := sess.Result(t.Context(), scopeOf(t, "ann"), id)
	if err != nil || string(full.Body) != b.String() || full.Call != "q" || full.Name != "query_logs" || full.Conversation != "c" {
		t.Fatalf("%v: %d bytes of %+v", err, len(full.Body), full.Name)
	}
	find := call("f", "fetch_result", fmt.Sprintf(`{"result":%q,"text":"payment gateway","max_tokens":100000}`, id))
	if turn, r, err := alone(t, k, find); err != nil || !strings.Contains(r.Text(), "id=1234") || turn.Stored.Len() != 0 {
		t.Errorf("%v: %+v", err, r)
	}
	page := call("p", "fetch_result", fmt.Sprintf(`{"result":%q,"max_tokens":100000}`, id))
	if turn, r, err := alone(t, k, page); err != nil || !strings.Contains(r.Text(), "(There is more: from ") || turn.Stored.Len() != 0 {
		t.Errorf("a page: %v: %.300s", err, r.Text())
	}
	for _, other := range []memory.Scope{scopeOf(t, "eve"), scopeOf(t, "ann")} {
		c := find
		c.ID = "g"
		turn := turnWith(t, c)
		turn.Scope.Set(other)
		if other == scopeOf(t, "ann") {
			c.Args = `{"result":"r_00000000000000000000"}`
		}
		if err := k.CallTools(graphtest.Context(t, graphtest.Options{}), turn, c); err != nil {
			t.Fatal(err)
		}
		if r := resultsOf(t, turn)["g"]; r.Status != message.StatusError || !strings.Contains(r.Text(), "no result") {
			t.Errorf("%v reads %+v", other, r)
		}
	}
}

// Facts are written with the result; those that the store refuses do not cost the result.
func TestFacts(t *testing.T) {
	t.Parallel()
	foreign := session.NewField[int]("foreign")
	for name, c := range map[string]struct {
		facts func(src session.Source, n int) []session.Change
		kept  bool
	}{
		"kept":    {func(src session.Source, n int) []session.Change { return []session.Change{session.Set(order, n, src)} }, true},
		"invalid": {func(src session.Source, n int) []session.Change { return []session.Change{session.Set(order, -n, src)} }, false},
		"unknown": {func(src session.Source, n int) []session.Change {
			return []session.Change{session.Set(foreign, n, src)}
		}, false},
		"unconfirmed": {func(session.Source, int) []session.Change {
			return []session.Change{session.Set(order, 1, session.FromTool("x"))}
		}, false},
		"panic": {func(session.Source, int) []session.Change { panic("oh") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sess := newSessions(t)
			twice := func(_ context.Context, a item) (item, error) { return item{N: a.N * 2}, nil }
			tool := nodes.NewTool("do", "", twice, nodes.ToolOptions[item, item]{
				Facts: func(_ context.Context, src session.Source, a, r item) []session.Change { return c.facts(src, a.N+r.N) },
			})
			turn, r, err := alone(t, kitOf(t, sess, tool), call("a", "do", `{"name":"x","n":2}`))
			if err != nil || r.Status != message.StatusOK {
				t.Fatalf("%v: %+v", err, r)
			}
			st, err := sess.State(t.Context(), scopeOf(t, "ann"), "c")
			if err != nil {
				t.Fatal(err)
			}
			n, ok := session.Get(st, order)
			if ok != c.kept || ok && n != 6 || (turn.Changed.Get() == 1) != c.kept || st.Conversation.Messages != 2 {
				t.Fatalf("order %d %v, changed %d, %d messages", n, ok, turn.Changed.Get(), st.Conversation.Messages)
			}
		})
	}
}

// Then writes to the state and says where to go, of a call that went well; its own error fails the run and does not repeat
// the effect.
func TestThen(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	l, th := new(ledger), graph.ID("t")
	o := options{Then: func(ctx context.Context, turn *nodes.Turn, a item, r string) (string, error) {
		if broken.Load() {
			return "", errors.New("not now")
		}
		s, ok := nodes.StateOf[desk](ctx)
		if _, other := nodes.StateOf[nodes.Turn](ctx); !ok || other || turn != &s.Turn {
			return "", errors.New("it is not the state of the node")
		}
		s.Done.Append(r)
		return graph.End, nil
	}}
	p := wants(do("a", "x"), call("b", "do", `{"nam":"y"}`))
	app := appOf(t, kitOf(t, newSessions(t), doing("do", l, o)), p, inMemory())
	if _, err := app.Run(t.Context(), th, hello(t)); err == nil {
		t.Fatal("no error")
	}
	broken.Store(false)
	out, err := app.Resume(t.Context(), th)
	if err != nil {
		t.Fatal(err)
	}
	to, _ := out.Jumps.Get("a")
	if _, also := out.Jumps.Get("b"); to != graph.End || also || !slices.Equal(out.Done.Slice(), []string{"did x"}) || len(l.all()) != 1 {
		t.Fatalf("to %q %v, wrote %v, did %v", to, also, out.Done.Slice(), l.all())
	}
}

// A call that is not recorded and comes to something else after a crash keeps the result that was stored for it.
func TestStoredResultStays(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	k := kitOf(t, newSessions(t), nodes.NewTool("count", "", func(context.Context, struct{}) (int32, error) { return n.Add(1), nil },
		nodes.ToolOptions[struct{}, int32]{ReadOnly: true}))
	c := call("a", "count", "{}")
	before := turnWith(t, c)
	history := before.Messages.Slice()
	for range 2 {
		turn := turnWith(t)
		turn.Messages.Replace(history...)
		if err := k.CallTools(graphtest.Context(t, graphtest.Options{}), turn, c); err != nil {
			t.Fatal(err)
		}
		if r := resultsOf(t, turn)["a"]; r.Text() != "1" {
			t.Fatalf("%+v", r)
		}
	}
	if n.Load() != 2 {
		t.Fatalf("it ran %d times", n.Load())
	}
	reused := turnWith(t, c) // another message with a call of the same id is no repetition
	if err := k.CallTools(graphtest.Context(t, graphtest.Options{}), reused, c); !errors.Is(err, session.ErrConflict) {
		t.Fatalf("%v: %+v", err, resultsOf(t, reused))
	}
}

// What a tool tells while it works has the id of its call. // report 217
func TestProgress(t *testing.T) {
	t.Parallel()
	k := kitOf(t, newSessions(t), nodes.NewTool("do", "", func(ctx context.Context, _ struct{}) (string, error) {
		in, _ := nodes.Current(ctx)
		if in.Role != "main" || in.Conversation != "c" || in.Scope != scopeOf(t, "ann") || in.Key == "" {
			return "", fmt.Errorf("%+v", in)
		}
		return "ok", nodes.Progress(ctx, "half")
	}, nodes.ToolOptions[struct{}, string]{}))
	ctx := graphtest.Context(t, graphtest.Options{})
	turn := turnWith(t, call("a", "do", ""))
	if err := k.CallTools(ctx, turn, call("a", "do", "")); err != nil || resultsOf(t, turn)["a"].Text() != "ok" {
		t.Fatalf("%v: %+v", err, resultsOf(t, turn))
	}
	seen := graphtest.Seen(ctx).Emitted
	if len(seen) != 1 || seen[0].Name != graph.ToolProgress || string(seen[0].Data) != `{"call":"a","tool":"do","text":"half"}` {
		t.Fatalf("%+v", seen)
	}
	if err := nodes.Progress(ctx, "x"); !errors.Is(err, nodes.ErrNoTurn) {
		t.Fatal(err)
	}
}

// An effect of which nobody knows whether it happened is not repeated where a person has to say so: their words are the
// result.
func TestUnknownEffect(t *testing.T) {
	t.Parallel()
	l := new(ledger)
	k := kitOf(t, newSessions(t), doing("do", l, options{OnUnknown: graph.AskPerson}))
	c := do("a", "x")
	ctx := graphtest.Context(t, graphtest.Options{Unknown: []string{"tool"}, Answers: []graphtest.Reply{
		graphtest.AnswerJSON("once:tool", json.RawMessage(`{"happened":true,"result":{"text":"It is refunded."}}`)),
	}})
	turn := turnWith(t, c)
	if err := k.CallTools(ctx, turn, c); err != nil || resultsOf(t, turn)["a"].Text() != "It is refunded." || len(l.all()) != 0 {
		t.Fatalf("%v: %+v, did %v", err, resultsOf(t, turn), l.all())
	}
}

// A result that no limit of the session store takes is one that says so; nothing is named that is not there.
func TestResultOverTheLimit(t *testing.T) {
	t.Parallel()
	sess, err := session.NewMemory(session.Options{ResultBytes: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	defer sess.Close()
	k := kitOf(t, sess, nodes.NewTool("long", "", func(context.Context, struct{}) (string, error) { return strings.Repeat("word ", 5000), nil },
		nodes.ToolOptions[struct{}, string]{}))
	turn, r, err := alone(t, k, call("a", "long", ""))
	if err != nil || r.Status != message.StatusError || !strings.Contains(r.Text(), "too large") || turn.Stored.Len() != 0 {
		t.Fatalf("%v: %+v, stored %d", err, r, turn.Stored.Len())
	}
}
