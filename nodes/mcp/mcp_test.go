package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/mcp"
)

// child makes this binary a server on its standard input and output.
const child = "HOLDFAST_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		if err := childServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func childServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "child"}, nil)
	s.AddTool(tool("key"), func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return saying(fmt.Sprint(r.Params.Meta[mcp.KeyMeta], " ", string(r.Params.Arguments))), nil
	})
	s.AddTool(tool("die"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		os.Exit(3)
		return nil, nil
	})
	return s
}

func tool(name string) *sdk.Tool {
	return &sdk.Tool{Name: name, Description: "does " + name, InputSchema: json.RawMessage(`{"type":"object"}`)}
}

func saying(texts ...string) *sdk.CallToolResult {
	r := &sdk.CallToolResult{}
	for _, t := range texts {
		r.Content = append(r.Content, &sdk.TextContent{Text: t})
	}
	return r
}

func answers(r *sdk.CallToolResult) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return r, nil }
}

// connect connects a client to a server in this process.
func connect(t *testing.T, s *sdk.Server) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	served, err := s.Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test"}, &sdk.ClientOptions{ProgressNotificationHandler: mcp.Progress})
	session, err := client.Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		served.Wait()
	})
	return session
}

func server(t *testing.T, tools map[*sdk.Tool]sdk.ToolHandler) *sdk.ClientSession {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "server"}, &sdk.ServerOptions{PageSize: 2})
	for tool, handle := range tools {
		s.AddTool(tool, handle)
	}
	return connect(t, s)
}

// free lets every tool be called.
func free(*sdk.Tool) (mcp.Rule, bool) { return mcp.Rule{}, true }

func list(t *testing.T, s *sdk.ClientSession, o mcp.Options) []nodes.Tool {
	t.Helper()
	tools, err := mcp.Tools(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func names(tools []nodes.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.Spec().Name)
	}
	return out
}

type desk struct {
	nodes.Turn
}

// bench is an app that makes calls of tools, one result each.
func bench(t *testing.T, tools []nodes.Tool, calls ...message.Call) *graph.App[desk] {
	t.Helper()
	sessions, err := session.NewMemory(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sessions.Close() })
	mute := nodes.ModelFunc(func(context.Context, nodes.Request, func(nodes.Delta)) (nodes.Answer, error) {
		return nodes.Answer{}, errors.New("not asked for")
	})
	kit, err := nodes.New(nodes.Config{Session: sessions, Roles: []nodes.Role{{Name: "r", Tools: tools, Models: []nodes.Model{mute}}}})
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New[desk]("bench")
	send := nodes.AddEach(g, "call_tools", kit.CallTools)
	g.Branch("begin", func(_ context.Context, s *desk) (graph.Next, error) {
		s.Messages.Append(message.Assistant("", calls...))
		return send.Send(calls...), nil
	}, "call_tools")
	g.Edge(graph.Start, "begin")
	app, err := g.Compile(graph.Options{Store: &checkpoint.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

func input(t *testing.T) func(*desk) {
	t.Helper()
	scope, err := memory.NewScope("tenant", "user")
	if err != nil {
		t.Fatal(err)
	}
	return nodes.Input[desk](scope, message.User("q"))
}

// call makes one call and returns its result.
func call(t *testing.T, tools []nodes.Tool, name, args string) message.Result {
	t.Helper()
	out, err := bench(t, tools, message.Call{ID: "c1", Name: name, Args: args}).Run(t.Context(), graph.ID("t"), input(t))
	if err != nil {
		t.Fatal(err)
	}
	return resultOf(t, out)
}

func resultOf(t *testing.T, out *desk) message.Result {
	t.Helper()
	for _, m := range out.Messages.Slice() {
		if rs := m.Results(); len(rs) > 0 {
			return rs[0]
		}
	}
	t.Fatal("no result")
	return message.Result{}
}

func TestToolsAreListed(t *testing.T) {
	t.Parallel()
	tools := map[*sdk.Tool]sdk.ToolHandler{}
	for i := range 5 {
		tools[tool(fmt.Sprintf("t%d", i))] = answers(saying("ok"))
	}
	got := list(t, server(t, tools), mcp.Options{Prefix: "x_", Rule: func(t *sdk.Tool) (mcp.Rule, bool) { return mcp.Rule{Skip: t.Name == "t3"}, true }})
	if want := []string{"x_t0", "x_t1", "x_t2", "x_t4"}; !reflect.DeepEqual(names(got), want) {
		t.Errorf("got %v, want %v", names(got), want)
	}
	if d := got[0].Spec().Description; d != "does t0" {
		t.Errorf("description %q", d)
	}
}

func TestNamesAreWhatProvidersTake(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 70)
	all := []string{"plain", "a.b", "a/b", "a_b", long + "1", long + "2"}
	tools := map[*sdk.Tool]sdk.ToolHandler{}
	for _, n := range all {
		tools[tool(n)] = answers(saying("I am " + n))
	}
	session := server(t, tools)
	var asked []string
	got := list(t, session, mcp.Options{Rule: func(t *sdk.Tool) (mcp.Rule, bool) { asked = append(asked, t.Name); return mcp.Rule{}, true }})
	ok := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := map[string]bool{}
	for i, n := range names(got) {
		if !ok.MatchString(n) || seen[n] {
			t.Errorf("name %q of %q", n, asked[i])
		}
		seen[n] = true
		if r := call(t, got, n, "{}"); r.Text() != "I am "+asked[i] {
			t.Errorf("%s calls %q", n, r.Text())
		}
	}
	if len(got) != len(all) || !seen["plain"] || !seen["a_b"] {
		t.Errorf("got %v", names(got))
	}
	one := list(t, session, mcp.Options{Rule: func(t *sdk.Tool) (mcp.Rule, bool) { return mcp.Rule{Skip: t.Name != long+"1"}, true }})
	if !seen[names(one)[0]] {
		t.Errorf("the name %s depends on the other tools", names(one)[0])
	}
}

// A server's words about itself go into prompts, but nothing that nobody sees.
func TestWhatAServerSaysIsCleaned(t *testing.T) {
	t.Parallel()
	bad := &sdk.Tool{Name: "bad", Description: "looks\x1b[2K\u202e\U000E0041\x00 nice\n" + strings.Repeat("é", 5000),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"description":{"type":"string","description":"x\u202ey","enum":["a\u202eb"]},"n":{"type":"integer","minimum":3}}}`)}
	got := list(t, server(t, map[*sdk.Tool]sdk.ToolHandler{bad: answers(saying(""))}), mcp.Options{})[0].Spec()
	if !strings.HasPrefix(got.Description, "looks[2K nice\né") || len(got.Description) > 1024 || !strings.HasSuffix(got.Description, "é…") {
		t.Errorf("description of %d bytes: %.40q", len(got.Description), got.Description)
	}
	var schema, want any
	if err := json.Unmarshal([]byte(got.Schema), &schema); err != nil {
		t.Fatal(err)
	}
	clean := `{"type":"object","properties":{"description":{"type":"string","description":"xy","enum":["a\u202eb"]},"n":{"type":"integer","minimum":3}}}`
	if err := json.Unmarshal([]byte(clean), &want); err != nil || !reflect.DeepEqual(schema, want) {
		t.Errorf("got %s, %v", got.Schema, err)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "s"}, &sdk.ServerOptions{Instructions: "use\u202e me " + strings.Repeat("x", 10000)})
	if got := mcp.Instructions(connect(t, s)); !strings.HasPrefix(got, "use me x") || len(got) > 8192 {
		t.Errorf("instructions of %d bytes: %.20q", len(got), got)
	}
}

// listing is a server that lists what a test wants.
func listing(t *testing.T, page func(cursor string) *sdk.ListToolsResult) *sdk.ClientSession {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "s"}, nil)
	s.AddTool(tool("any"), answers(saying("")))
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if p, ok := r.GetParams().(*sdk.ListToolsParams); ok {
				return page(p.Cursor), nil
			}
			return next(ctx, method, r)
		}
	})
	return connect(t, s)
}

func TestListsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	huge, text, many := tool("huge"), tool("text"), []*sdk.Tool{}
	text.InputSchema = json.RawMessage(`{"type":"string"}`)
	for i := range 1001 {
		many = append(many, tool(fmt.Sprint("t", i)))
	}
	huge.InputSchema = json.RawMessage(`{"type":"object","$comment":"` + strings.Repeat("x", 70000) + `"}`)
	for name, page := range map[string]func(string) *sdk.ListToolsResult{
		"a name twice": func(string) *sdk.ListToolsResult {
			return &sdk.ListToolsResult{Tools: []*sdk.Tool{tool("a"), tool("a")}}
		},
		"no end": func(c string) *sdk.ListToolsResult {
			return &sdk.ListToolsResult{Tools: []*sdk.Tool{}, NextCursor: c + "x"}
		},
		"no end of tools": func(c string) *sdk.ListToolsResult {
			return &sdk.ListToolsResult{Tools: []*sdk.Tool{tool("a" + c)}, NextCursor: c + "x"}
		},
		"many tools at once": func(string) *sdk.ListToolsResult { return &sdk.ListToolsResult{Tools: many} },
		"no object":          func(string) *sdk.ListToolsResult { return &sdk.ListToolsResult{Tools: []*sdk.Tool{text}} },
		"a huge schema":      func(string) *sdk.ListToolsResult { return &sdk.ListToolsResult{Tools: []*sdk.Tool{huge}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := mcp.Tools(t.Context(), listing(t, page), mcp.Options{}); !errors.Is(err, mcp.ErrList) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What a server leaves out of a schema is no reason to do without the tool.
func TestSchemasWithoutAType(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`null`:                           `{"type":"object"}`,
		`true`:                           `{"type":"object"}`,
		`{}`:                             `{"type":"object"}`,
		`{"type":["object","null"]}`:     `{"type":"object"}`,
		`{"anyOf":[{"required":["a"]}]}`: `{"anyOf":[{"required":["a"]}],"type":"object"}`,
		`{"$ref":"#/definitions/X","definitions":{"X":{"type":"object"}}}`: `{"$ref":"#/definitions/X","definitions":{"X":{"type":"object"}},"type":"object"}`,
	} {
		bare := tool("bare")
		bare.InputSchema = json.RawMessage(schema)
		page := func(string) *sdk.ListToolsResult { return &sdk.ListToolsResult{Tools: []*sdk.Tool{bare}} }
		got := list(t, listing(t, page), mcp.Options{Rule: free})
		if s := got[0].Spec().Schema; s != want {
			t.Errorf("%s: got %s", schema, s)
		}
		if r := call(t, got, "bare", `{"a":1}`); !strings.Contains(r.Text(), "unknown tool") { // it got as far as the server
			t.Errorf("%s: %+v", schema, r)
		}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	png := []byte{0x89, 'P'}
	text := func(s ...string) (out []message.Part) {
		for _, s := range s {
			out = append(out, message.Text(s))
		}
		return out
	}
	for name, c := range map[string]struct {
		result *sdk.CallToolResult
		status message.Status
		want   []message.Part
	}{
		"texts": {saying("a", "b"), message.StatusOK, text("a", "b")},
		"a picture": {&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a"}, &sdk.ImageContent{MIMEType: "image/png", Data: png}}},
			message.StatusOK, []message.Part{message.Text("a"), message.ImageData("image/png", png)}},
		"a picture of a kind that nobody takes": {&sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/svg+xml", Data: png}}},
			message.StatusOK, text("[An image (image/svg+xml, 2 bytes) is not shown.]")},
		"a sound": {&sdk.CallToolResult{Content: []sdk.Content{&sdk.AudioContent{MIMEType: "audio/wav", Data: png}}},
			message.StatusOK, text("[A sound (audio/wav, 2 bytes) is not shown.]")},
		"structured alone": {&sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: map[string]any{"a": "<1>"}}, message.StatusOK, text(`{"a":"<1>"}`)},
		"structured and a text that says the same": {&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: `{ "a": 1 }`}},
			StructuredContent: map[string]any{"a": 1}}, message.StatusOK, text(`{ "a": 1 }`)},
		"structured and another text": {&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}},
			StructuredContent: map[string]any{"a": 1}}, message.StatusOK, text("done", `{"a":1}`)},
		"a resource": {&sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a", Text: "hi"}}}},
			message.StatusOK, text("Resource file:///a:\nhi")},
		"bytes": {&sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a", MIMEType: "application/pdf", Blob: png}}}},
			message.StatusOK, text("[Resource file:///a (application/pdf, 2 bytes) is not shown.]")},
		"a link": {&sdk.CallToolResult{Content: []sdk.Content{&sdk.ResourceLink{URI: "file:///a", Name: "a"}}}, message.StatusOK, text("Resource a: file:///a")},
		"an error": {&sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no such order"}}},
			message.StatusError, text("no such order")},
		"an error without words": {&sdk.CallToolResult{IsError: true, Content: []sdk.Content{}}, message.StatusError, text("The tool failed and did not say why.")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := list(t, server(t, map[*sdk.Tool]sdk.ToolHandler{tool("f"): answers(c.result)}), mcp.Options{Rule: free})
			if r := call(t, tools, "f", "{}"); r.Status != c.status || !reflect.DeepEqual(r.Parts, c.want) {
				t.Errorf("got %s %+v, want %s %+v", r.Status, r.Parts, c.status, c.want)
			}
		})
	}
}

func TestRefusedCall(t *testing.T) {
	t.Parallel()
	s := sdk.NewServer(&sdk.Implementation{Name: "s"}, nil)
	s.AddTool(tool("gone"), answers(saying("")))
	session := connect(t, s)
	tools := list(t, session, mcp.Options{Rule: free})
	s.RemoveTools("gone")
	if r := call(t, tools, "gone", "{}"); r.Status != message.StatusError || !strings.HasPrefix(r.Text(), "The server refused the call: ") {
		t.Errorf("got %+v", r)
	}
}

// A tool of which the program has said nothing is not called without a person, whatever the server says of it.
func TestUnknownToolsAskAPerson(t *testing.T) {
	t.Parallel()
	harmless := tool("harmless")
	harmless.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	var calls atomic.Int32
	session := server(t, map[*sdk.Tool]sdk.ToolHandler{harmless: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		calls.Add(1)
		return saying("ok"), nil
	}})
	for _, rule := range []func(*sdk.Tool) (mcp.Rule, bool){nil, func(*sdk.Tool) (mcp.Rule, bool) { return mcp.Rule{}, false }} {
		calls.Store(0)
		app := bench(t, list(t, session, mcp.Options{Rule: rule}), message.Call{ID: "c1", Name: "harmless", Args: "{}"})
		_, err := app.Run(t.Context(), graph.ID("t"), input(t))
		open, ok := errors.AsType[*graph.Interrupted](err)
		if !ok || len(open.Questions) != 1 || calls.Load() != 0 {
			t.Fatalf("got %v after %d calls", err, calls.Load())
		}
		out, err := app.Resume(t.Context(), graph.ID("t"), graph.Answer(open.Questions[0], nodes.Approve()))
		if err != nil || resultOf(t, out).Text() != "ok" || calls.Load() != 1 {
			t.Errorf("approved: %v after %d calls", err, calls.Load())
		}
	}
	denied := list(t, session, mcp.Options{Rule: func(*sdk.Tool) (mcp.Rule, bool) { return mcp.Rule{Policy: nodes.Deny}, true }})
	calls.Store(0)
	if r := call(t, denied, "harmless", "{}"); r.Status != message.StatusDenied || calls.Load() != 0 {
		t.Errorf("denied: %+v after %d calls", r, calls.Load())
	}
}

func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	watched := make(chan struct{})
	session := server(t, map[*sdk.Tool]sdk.ToolHandler{tool("slow"): func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for _, token := range []any{"of nobody", r.Params.GetProgressToken()} {
			p := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2, Message: "half\x1b"}
			if err := r.Session.NotifyProgress(ctx, p); err != nil {
				return nil, err
			}
		}
		select {
		case <-watched:
		case <-ctx.Done():
		}
		return saying("ok"), nil
	}})
	app := bench(t, list(t, session, mcp.Options{Rule: free}), message.Call{ID: "c1", Name: "slow", Args: "{}"})
	var told []nodes.ToolProgress
	for e, err := range app.Stream(t.Context(), graph.ID("t"), input(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Name == graph.ToolProgress {
			p, err := graph.Custom[nodes.ToolProgress](e)
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, p)
			close(watched)
		}
	}
	if want := []nodes.ToolProgress{{Call: "c1", Tool: "slow", Text: "1 of 2 half"}}; !reflect.DeepEqual(told, want) {
		t.Errorf("got %+v, want %+v", told, want)
	}
}

func TestCallEndsWithTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	session := server(t, map[*sdk.Tool]sdk.ToolHandler{tool("hang"): func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		cancel()
		<-ctx.Done() // the server is told
		close(stopped)
		return nil, ctx.Err()
	}})
	app := bench(t, list(t, session, mcp.Options{Rule: free}), message.Call{ID: "c1", Name: "hang", Args: "{}"})
	out, err := app.Run(ctx, graph.ID("t"), input(t))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, %+v", err, out)
	}
	<-stopped
}

// process connects to a server that is another process.
func process(t *testing.T) *sdk.ClientSession {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), child+"=1")
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func TestServerInAnotherProcess(t *testing.T) {
	t.Parallel()
	tools := list(t, process(t), mcp.Options{Rule: free})
	r := call(t, tools, "key", `{"b":1, "a":9007199254740993}`)
	key, args, _ := strings.Cut(r.Text(), " ")
	if r.Status != message.StatusOK || len(key) < 8 || args != `{"b":1,"a":9007199254740993}` {
		t.Errorf("got %+v", r)
	}
}

func TestServerThatDies(t *testing.T) {
	t.Parallel()
	tools := list(t, process(t), mcp.Options{Rule: free})
	for _, name := range []string{"die", "key"} { // the second call finds no connection
		r := call(t, tools, name, "{}")
		if r.Status != message.StatusError || !strings.HasPrefix(r.Text(), mcp.ErrLost.Error()) {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}
