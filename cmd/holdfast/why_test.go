package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	longtermsqlite "github.com/holdfast-go/holdfast/memory/longterm/sqlite"
	sessionsqlite "github.com/holdfast-go/holdfast/memory/session/sqlite"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

type helper struct{ nodes.Turn }

// mute is a model that says one word.
type mute struct{}

func (mute) Generate(context.Context, nodes.Request, func(nodes.Delta)) (nodes.Answer, error) {
	return nodes.Answer{Message: message.Assistant("Noted."), Stop: nodes.StopEnd}, nil
}

// unsure is an extractor that is sure of the half of what is said, and more if it is about tea.
type unsure struct{}

func (unsure) Extract(_ context.Context, ts []longterm.Text, _ []longterm.Item) (out []longterm.Draft, err error) {
	for _, t := range ts {
		d := longterm.Draft{Kind: longterm.Semantic, Text: t.Text, Origin: t.Origin, Source: t.Source, Confidence: 0.62, Label: memory.Internal}
		if strings.Contains(t.Text, "tea") {
			d.Confidence = 0.9
		}
		out = append(out, d)
	}
	return out, nil
}

// helped makes a file with the threads and memories of a user who has said things.
func helped(t *testing.T, says ...string) (path string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(t.TempDir(), "app.db")
	threads, err := sqlite.Open(path, sqlite.Options{})
	must(err)
	defer threads.Close()
	sessions, err := sessionsqlite.Open(path, sessionsqlite.Options{})
	must(err)
	defer sessions.Close()
	memories, err := longtermsqlite.Open(path, longtermsqlite.Options{Longterm: longterm.Options{Extractor: unsure{}}})
	must(err)
	defer memories.Close()
	a, err := memory.NewAgent("helper", memory.Internal, "prefs")
	must(err)
	kit, err := nodes.New(nodes.Config{
		Roles: []nodes.Role{{Name: "helper", System: []string{"You help."}, Models: []nodes.Model{mute{}}}}, Session: sessions,
		LongTerm: nodes.Memories{Store: memories}, Agent: a,
	})
	must(err)
	app, err := nodes.Agent[helper]("helper", kit).Compile(graph.Options{Store: threads})
	must(err)
	defer app.Close(context.Background())
	sc, err := memory.NewScope("acme", "ann")
	must(err)
	for i, text := range says {
		id := "chat-" + string(rune('a'+i))
		m := message.User(text)
		_, err := app.With(nodes.RunOptions(sc, id, m)).Run(t.Context(), graph.Thread{Tenant: "acme", ID: id}, nodes.Input[helper](sc, m))
		must(err)
		_, err = memories.Drain(t.Context())
		must(err)
	}
	return path
}

// R116: one command says what became of what a user has said, in 80 columns, in English and Chinese, or as JSON.
func TestWhy(t *testing.T) {
	t.Parallel()
	path := helped(t, "I want green tea in the morning.", "The blue bicycle belongs to my neighbour.", "What do I want in the morning?")
	why := func(args ...string) (string, string, int) {
		return holdfast(t, nil, "", append([]string{"-store", path, "why", "-tenant", "acme", "-agent-namespaces", "prefs"}, args...)...)
	}
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"ann", "the blue bicycle of the neighbour"}, []string{"filtered: ", "confidence 0.62, at least 0.70 is needed", "+ said", "x kept", "- ranked"}},
		{[]string{"ann", "green tea in the morning"}, []string{"in prompt: ", "+ ranked", "rank 1 of 1", "+ prompt", "ltm: 1 told, 0 shortened, 0 left out"}},
		{[]string{"-zh", "ann", "green tea in the morning"}, []string{"模型已经被告知", "已存储为"}},
		{[]string{"-asked", "What do I want?", "-conversation", "nowhere", "ann", "green tea in the morning"}, []string{"found", "(rank 1)"}},
		{[]string{"ann", "a house in Spain"}, []string{"never said: ", "x said"}},
		{[]string{"-clearance", "public", "ann", "green tea in the morning"}, []string{"not queued: "}},
		{[]string{"-conversation", "chat-b", "-reader", "public", "ann", "green tea in the morning"}, []string{"hidden by label: "}},
	} {
		out, errs, code := why(tc.args...)
		if code != 0 {
			t.Errorf("%q: %d, %s", tc.args, code, errs)
		}
		for _, want := range tc.want {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
				t.Errorf("%q: %q is not in\n%s", tc.args, want, out)
			}
		}
		for line := range strings.Lines(out) {
			if textwidth.Of(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%q: a line is too long: %s", tc.args, line)
			}
		}
	}
	out, _, _ := why("-json", "ann", "the blue bicycle of the neighbour")
	var e govern.Explanation
	if err := json.Unmarshal([]byte(out), &e); err != nil || e.Cause != govern.Filtered {
		t.Errorf("%v: %s", err, out)
	}
	for _, args := range [][]string{{"ann"}, {"", "tea"}, {"-clearance", "top", "ann", "tea"}, {"-agent-namespaces", "", "ann", "tea"}} {
		if _, errs, code := why(args...); code != 2 || errs == "" {
			t.Errorf("%q: %d %s", args, code, errs)
		}
	}
}
