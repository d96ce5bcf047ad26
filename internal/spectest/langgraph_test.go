package spectest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// folders are the packages that docs/langgraph.md names.
var folders = map[string]string{
	"graph": "graph", "state": "state", "checkpoint": "checkpoint", "message": "message", "secure": "checkpoint/secure", "sqlite": "checkpoint/sqlite",
	"postgres": "checkpoint/postgres", "redis": "checkpoint/redis", "checkpointtest": "checkpoint/checkpointtest", "graphtest": "graph/graphtest",
	"graphotel": "graph/graphotel", "nodes": "nodes", "longterm": "memory/longterm", "knowledge": "memory/knowledge",
}

// docs/langgraph.md has whole rows, and every Go name in it exists: of a package, or a field or method of a type.
func TestLangGraphPageNamesWhatExists(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "langgraph.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for pkg, folder := range folders {
		exported(t, pkg, filepath.Join(root, folder), names)
	}
	found := 0
	for _, m := range regexp.MustCompile("`\\*?(([a-z]+)\\.[A-Z]\\w*(?:\\.[A-Z]\\w*)?)`").FindAllStringSubmatch(string(text), -1) {
		name, pkg := m[1], m[2]
		found++
		if pkg != "context" && !names[name] {
			t.Errorf("%s does not exist", name)
		}
	}
	if found < 150 {
		t.Errorf("only %d names were found", found)
	}
	checkRows(t, string(text))
}

// checkRows demands of each row three cells, the middle one with a name, or a word for what is not there.
func checkRows(t *testing.T, text string) {
	rows := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| ") || strings.TrimSpace(cells[0]) == "LangGraph" {
			continue
		}
		rows++
		if len(cells) != 3 || strings.TrimSpace(cells[0]) == "" {
			t.Errorf("not three cells: %s", line)
			continue
		}
		ours := strings.TrimSpace(cells[1])
		known := slices.ContainsFunc([]string{"`", "left out", "later", "every field", "one form", "JSON by", "Go only"}, func(s string) bool { return strings.Contains(ours, s) })
		if !known {
			t.Errorf("neither a name nor a reason in %q of: %s", ours, line)
		}
		if strings.HasPrefix(ours, "later") && strings.TrimSpace(cells[2]) == "" {
			t.Errorf("nothing is said about what comes later: %s", line)
		}
	}
	if rows < 100 {
		t.Errorf("the page has only %d rows", rows)
	}
}

// theirs are the public names of LangGraph's runtime: its modules graph, types, func, channels, managed, runtime, config, errors, store and cache, the methods of
// a compiled graph and of a saver, and the options of these. Each must be on the page.
var theirs = strings.Fields(`
	StateGraph add_node add_edge add_conditional_edges add_sequence set_entry_point set_finish_point set_conditional_entry_point set_node_defaults
	compile validate START END MessagesState add_messages RemoveMessage REMOVE_ALL_MESSAGES push_message push_ui_message
	Command Send interrupt Interrupt Overwrite StateUpdate RetryPolicy CachePolicy TimeoutPolicy StreamWriter TypedDict Annotated defer
	input_schema output_schema context_schema LastValue Topic BinaryOperatorAggregate EphemeralValue UntrackedValue AnyValue NamedBarrierValue
	LastValueAfterFinish DeltaChannel IsLastStep RemainingSteps Runtime get_runtime get_config get_store get_stream_writer
	entrypoint previous entrypoint.final @task invoke ainvoke stream astream batch stream_mode values updates messages custom tasks debug checkpoints
	subgraphs get_state get_state_history update_state bulk_update_state get_subgraphs clear_cache get_graph draw_mermaid RemoteGraph
	recursion_limit max_concurrency durability sync async exit step_timeout interrupt_before interrupt_after thread_id checkpoint_id checkpointer
	configurable tags metadata run_id output_keys print_mode RunControl GraphCallbackHandler join_stream nostream
	InMemorySaver SqliteSaver PostgresSaver RedisSaver ShallowRedisSaver BaseCheckpointSaver put_writes get_tuple JsonPlusSerializer EncryptedSerializer
	delete_thread copy_thread delete_for_runs prune BaseStore InMemoryStore PostgresStore error_handler
	GraphRecursionError InvalidUpdateError GraphInterrupt NodeInterrupt NodeTimeoutError GraphDrained EmptyInputError EmptyChannelError TaskNotFound ParentCommand GraphBubbleUp
	ToolNode tools_condition InjectedState InjectedStore create_react_agent create_agent Pregel NodeBuilder reject enqueue rollback assistants cron webhooks Studio LangSmith`)

func TestLangGraphPageLeavesNothingOut(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "langgraph.md"))
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if left, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && strings.HasPrefix(line, "| ") {
			for _, w := range regexp.MustCompile(`@?\w+(\.\w+)?`).FindAllString(left, -1) {
				for part := range strings.SplitSeq(w, ".") {
					words[strings.TrimPrefix(part, "@")] = true
				}
				words[w] = true
			}
		}
	}
	for _, name := range theirs {
		if !words[name] && name != "START" && name != "END" { // these are in the first example
			t.Errorf("%s is in no row", name)
		}
	}
}

// exported notes the exported names of a package as pkg.Name and pkg.Type.Member.
func exported(t *testing.T, pkg, folder string, names map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", folder, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			for name := range maps.Keys(declared(decl)) {
				names[pkg+"."+name] = true
			}
		}
	}
}

func declared(decl ast.Decl) map[string]bool {
	out := map[string]bool{}
	if fn, ok := decl.(*ast.FuncDecl); ok {
		if fn.Recv == nil {
			out[fn.Name.Name] = true
		} else {
			out[typeName(fn.Recv.List[0].Type)+"."+fn.Name.Name] = true
		}
		return out
	}
	for _, spec := range decl.(*ast.GenDecl).Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, id := range s.Names {
				out[id.Name] = true
			}
		case *ast.TypeSpec:
			out[s.Name.Name] = true
			for _, m := range members(s.Type) {
				out[s.Name.Name+"."+m] = true
			}
		}
	}
	return out
}

// members are the fields of a struct and the methods of an interface.
func members(e ast.Expr) (names []string) {
	var list *ast.FieldList
	switch e := e.(type) {
	case *ast.StructType:
		list = e.Fields
	case *ast.InterfaceType:
		list = e.Methods
	default:
		return nil
	}
	for _, f := range list.List {
		for _, id := range f.Names {
			names = append(names, id.Name)
		}
	}
	return names
}

// typeName is the name of a receiver's type, without pointer and type parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
