package graphotel_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphotel"
)

// table reads a table below a heading of docs/observability.md: its rows by their first cell.
func table(t *testing.T, heading string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("there is no section %s", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string][]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if name := strings.TrimSpace(cells[0]); strings.HasPrefix(line, "|") && strings.HasPrefix(name, "`") {
			if rows[strings.Trim(name, "`")] != nil {
				t.Errorf("%s has two rows", name)
			}
			rows[strings.Trim(name, "`")] = cells[1:]
		}
	}
	return rows
}

// words are the items of a list in a cell, sorted.
func words(cell string) []string {
	var out []string
	for w := range strings.SplitSeq(cell, ",") {
		if w = strings.Trim(strings.TrimSpace(w), "`"); w != "" {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}

// A sight is where an attribute was seen, and its type.
type sight struct {
	kind  string
	where map[string]bool
}

type sights map[string]*sight

func (s sights) note(where string, kvs []attribute.KeyValue) {
	for _, kv := range kvs {
		name := string(kv.Key)
		if strings.HasPrefix(name, graphotel.StatePrefix) {
			name = graphotel.StatePrefix + "<field>"
		}
		if s[name] == nil {
			s[name] = &sight{strings.TrimSuffix(strings.ToLower(kv.Value.Type().String()), "64"), map[string]bool{}}
		}
		s[name].where[where] = true
	}
}

// exercise does what makes every attribute appear, and tells where each was seen and what metrics there are.
func exercise(t *testing.T) (sights, map[string]metricdata.Metrics) {
	l := newLab(t, graphotel.Options{Fields: []string{"status", "log"}, CountQuestions: true})
	store := l.Store(new(checkpoint.Memory))
	defer store.Close()
	app := compile(t, refund(t, l, true), graph.Options{Store: store, Tracer: l})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	q := question(t, err)
	if _, err := app.Resume(t.Context(), th, graph.Answer(q, true)); err == nil {
		t.Fatal("notify did not fail")
	}
	other, err := app.Fork(t.Context(), th, -1, graph.ForkOptions{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.Resume(t.Context(), other); err == nil {
		t.Fatal("notify did not fail")
	}
	if _, err := app.Run(t.Context(), graph.ID("second"), nil); !errors.Is(err, graph.ErrInterrupted) {
		t.Fatal(err)
	}
	ctx, span := l.tracer.Start(t.Context(), "program")
	if _, err := store.Post(ctx, checkpoint.Command{Key: checkpoint.Key{Tenant: "a", Thread: "b"}, Kind: checkpoint.CommandCancel}); !errors.Is(err, checkpoint.ErrNoThread) {
		t.Fatal(err)
	}
	span.End()
	seen := sights{}
	for _, s := range l.spans.Ended() {
		kind, _, _ := strings.Cut(s.Name(), " ")
		seen.note(kind, s.Attributes())
	}
	all := l.metrics(t)
	for name, m := range all {
		switch d := m.Data.(type) {
		case metricdata.Histogram[float64]:
			for _, p := range d.DataPoints {
				seen.note(name, p.Attributes.ToSlice())
			}
		case metricdata.Gauge[int64]:
			for _, p := range d.DataPoints {
				seen.note(name, p.Attributes.ToSlice())
			}
		}
	}
	return seen, all
}

// docs/observability.md has every attribute, with the type that it has and the places where it is, and every metric. // E50
func TestAttributesAreDocumented(t *testing.T) {
	t.Parallel()
	seen, metrics := exercise(t)
	rows := table(t, "Attributes")
	for name, s := range seen {
		row := rows[name]
		if row == nil {
			t.Errorf("%s has no row", name)
			continue
		}
		if got := strings.TrimSpace(row[0]); got != s.kind {
			t.Errorf("%s is documented as %s and is %s", name, got, s.kind)
		}
		if got, want := words(row[1]), slices.Sorted(maps.Keys(s.where)); !slices.Equal(got, want) {
			t.Errorf("%s is documented on %v and was seen on %v", name, got, want)
		}
	}
	for name := range rows {
		if seen[name] == nil {
			t.Errorf("%s has a row and was never seen", name)
		}
	}
	rows = table(t, "Metrics")
	for name, m := range metrics {
		row := rows[name]
		if row == nil {
			t.Errorf("%s has no row", name)
			continue
		}
		if strings.TrimSpace(row[1]) != m.Unit || m.Description == "" {
			t.Errorf("%s: unit %q", name, m.Unit)
		}
		for _, a := range words(row[2]) {
			if seen[a] == nil || !seen[a].where[name] {
				t.Errorf("%s has no attribute %s", name, a)
			}
		}
	}
	if len(rows) != len(metrics) {
		t.Errorf("%d metrics are documented, there are %d", len(rows), len(metrics))
	}
}

// docs/observability.md has every line of the log and every event of a span, with the keys it has. // E50
func TestLogLinesAreDocumented(t *testing.T) {
	t.Parallel()
	rows := table(t, "Log lines and span events")
	lines := logLines(t)
	if len(lines) < 10 {
		t.Fatalf("only %d lines were found", len(lines))
	}
	for msg, l := range lines {
		row := rows[msg]
		if row == nil {
			t.Errorf("the line %q has no row", msg)
			continue
		}
		if got := strings.TrimSpace(row[0]); got != map[bool]string{true: "yes", false: "no"}[l.event] {
			t.Errorf("%q: event %s", msg, got)
		}
		if got, want := words(row[1]), slices.Sorted(maps.Keys(l.keys)); !slices.Equal(got, want) {
			t.Errorf("%q is documented with %v and has %v", msg, got, want)
		}
	}
	for msg := range rows {
		if _, ok := lines[msg]; !ok {
			t.Errorf("the line %q is documented and never written", msg)
		}
	}
}

type logLine struct {
	event bool
	keys  map[string]bool
}

// logLines reads the calls that write lines in the source of package graph.
func logLines(t *testing.T) map[string]logLine {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]logLine{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				addLine(out, call)
			}
			return true
		})
	}
	return out
}

func addLine(out map[string]logLine, call *ast.CallExpr) {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"log", "note", "Info", "Warn", "Error", "Debug"}, fun.Sel.Name) {
		return
	}
	args := call.Args
	if fun.Sel.Name == "log" && len(args) > 0 { // the run comes first
		args = args[1:]
	}
	if len(args) == 0 || text(args[0]) == "" {
		return
	}
	l, ok := out[text(args[0])]
	if !ok {
		l = logLine{event: fun.Sel.Name == "note", keys: map[string]bool{}}
		out[text(args[0])] = l
	}
	if l.event && lastName(fun.X) == "t" { // of a task, which says which
		l.keys["node"], l.keys["task"] = true, true
	}
	for i := 1; i < len(args); i += 2 {
		if key := text(args[i]); !slices.Contains([]string{"graph", "thread", "run"}, key) {
			l.keys[key] = true
		}
	}
}

// lastName is x of x and of y.x.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// text is the value of a string literal.
func text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}
