package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

type mixed struct {
	List   state.List[string]     `json:"list"`
	Map    state.Map[int, string] `json:"map"`
	Sum    state.Sum[int]         `json:"sum"`
	Last   state.Last[*size]      `json:"last"`
	Secret state.Last[string]     `json:"secret" state:"hidden"`
}

func mixedGraph() *graph.Graph[mixed] {
	g := graph.New[mixed]("mixed")
	g.Node("a", func(ctx context.Context, s *mixed) error {
		s.Sum.Add(2)
		s.Map.Put(7, "<seven>")
		return nil
	})
	g.Node("b", func(ctx context.Context, s *mixed) error {
		a, err := graph.Ask[size](ctx, "size", "how large?")
		s.Last.Set(&a)
		return err
	})
	g.Edge(graph.Start, "a")
	g.Edge("a", "b")
	return g
}

// Run, Resume, Stream and State work without the type, and the typed and untyped forms are equal byte for byte. // E58
func TestViewIsTheAppInJSON(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	app := compile(t, mixedGraph(), graph.Options{Store: store})
	v := compile(t, mixedGraph(), graph.Options{Store: store}).View()
	typed, untyped := graph.ID("typed"), graph.ID("untyped")
	_, err := app.Run(t.Context(), typed, func(s *mixed) { s.List.Append("x"); s.Secret.Set("canary") })
	tq := paused(t, err).Questions[0]
	mid, err := v.Run(t.Context(), untyped, json.RawMessage(`{"list":["x"]}`))
	uq := paused(t, err).Questions[0]
	if want := `{"list":["x"],"map":[[7,"<seven>"]],"sum":2}`; !sameJSON(t, mid, want) {
		t.Errorf("waiting: %s", mid)
	}
	for _, bad := range []string{`{"lists":["x"]}`, `{"secret":"x"}`, `{"list":7}`, `[]`, `{"list":["x"]`} {
		if _, err := v.Run(t.Context(), graph.ID("bad"), json.RawMessage(bad)); err == nil {
			t.Errorf("input %s was taken", bad)
		}
	}
	if _, err := v.State(t.Context(), graph.ID("bad")); !errors.Is(err, graph.ErrNoThread) {
		t.Errorf("a refused input made a thread: %v", err)
	}
	if _, err := app.Resume(t.Context(), typed, graph.Answer(tq, size{3, 4})); err != nil {
		t.Fatal(err)
	}
	out, err := v.Resume(t.Context(), untyped, graph.AnswerJSON(uq.ID, json.RawMessage(`{"w":3,"h":4}`)))
	if err != nil {
		t.Fatal(err)
	}
	ts, err1 := v.State(t.Context(), typed)
	us, err2 := v.State(t.Context(), untyped)
	if err1 != nil || err2 != nil || string(ts.JSON) != string(us.JSON) || string(us.JSON) != string(out) {
		t.Fatalf("%v %v: states\n%s\n%s, returned\n%s", err1, err2, ts.JSON, us.JSON, out)
	}
	var values string
	for e, err := range v.With(graph.RunOptions{Kinds: []graph.EventKind{graph.StateValues}}).Stream(t.Context(), graph.ID("streamed"), json.RawMessage(`{"list":["x"]}`)) {
		if err != nil {
			break
		}
		doc, err := e.State()
		if err != nil {
			t.Fatal(err)
		}
		values = string(doc)
	}
	if values != string(mid) {
		t.Errorf("streamed %s, returned %s", values, mid)
	}
	var schema struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(v.Schema(), &schema); err != nil || schema.Properties["list"] == nil || v.Name() != "mixed" {
		t.Errorf("%v: schema %s", err, v.Schema())
	}
}

func sameJSON(t testing.TB, got []byte, want string) bool {
	t.Helper()
	var a, b any
	if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		return false
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// The head folds without the program: the log says the kinds of its fields. // E58
func TestHeadFoldsWithoutTheProgram(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	v := compile(t, mixedGraph(), graph.Options{Store: store}).View()
	want, err := v.Run(t.Context(), graph.ID("t"), json.RawMessage(`{"list":["x","y"],"sum":5}`))
	paused(t, err)
	l, err := store.Load(t.Context(), key(graph.ID("t")), checkpoint.Active, "")
	if err != nil {
		t.Fatal(err)
	}
	th, err := record.Fold(l.Records)
	if err != nil {
		t.Fatal(err)
	}
	got, err := th.State.JSON()
	if err != nil || string(got) != string(want) {
		t.Fatalf("%v: folded\n%s\nrun says\n%s", err, got, want)
	}
}

// A field that was renamed has its new name in the state, whoever reads it. // E9 // E58
func TestViewShowsRenamedFields(t *testing.T) {
	t.Parallel()
	type before struct {
		Old  state.Last[string] `json:"old"`
		Gone state.Last[int]    `json:"gone"`
	}
	type after struct {
		New state.Last[string] `json:"new" state:"alias=old"`
	}
	store := new(checkpoint.Memory)
	g := graph.New[before]("g")
	g.Node("a", func(ctx context.Context, s *before) error { s.Old.Set("x"); s.Gone.Set(1); return nil })
	g.Edge(graph.Start, "a")
	if _, err := compile(t, g, graph.Options{Store: store}).Run(t.Context(), graph.ID("t"), nil); err != nil {
		t.Fatal(err)
	}
	h := graph.New[after]("g")
	h.Node("a", func(ctx context.Context, s *after) error { return nil })
	h.Edge(graph.Start, "a")
	v := compile(t, h, graph.Options{Store: store}).View()
	st, err := v.State(t.Context(), graph.ID("t"))
	if err != nil || !sameJSON(t, st.JSON, `{"new":"x"}`) || len(st.Unknown) != 1 || st.Unknown[0] != "gone" {
		t.Fatalf("%v %s, unknown %v", err, st.JSON, st.Unknown)
	}
	out, err := v.Run(t.Context(), graph.ID("t"), nil)
	if err != nil || string(out) != string(st.JSON) {
		t.Fatalf("%v: run says %s, state says %s", err, out, st.JSON)
	}
}
