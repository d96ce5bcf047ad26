package nodes_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/nodes"
)

// All that is wrong with a config is told at once.
func TestConfigFaults(t *testing.T) {
	t.Parallel()
	store, err := session.NewMemory(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	model := &lines{}
	good := nodes.Role{Name: "r", Models: []nodes.Model{model}}
	broken := working.Default()
	broken.MaxInput = 10
	tool := func(name string) nodes.Tool {
		return nodes.NewTool(name, "", func(context.Context, struct{}) (string, error) { return "", nil }, nodes.ToolOptions[struct{}, string]{})
	}
	for name, c := range map[string]struct {
		config nodes.Config
		faults []string
	}{
		"nothing":        {nodes.Config{}, []string{"Session:", "Roles:"}},
		"empty role":     {nodes.Config{Session: store, Roles: []nodes.Role{{}}}, []string{"it has no name", "Models:"}},
		"nil model":      {nodes.Config{Session: store, Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{nil}}}}, []string{"no nil"}},
		"twice":          {nodes.Config{Session: store, Roles: []nodes.Role{good, good}}, []string{`"r" is there twice`}},
		"no agent":       {nodes.Config{Session: store, Roles: []nodes.Role{good}, LongTerm: &box{}}, []string{"Agent:"}},
		"profile":        {nodes.Config{Session: store, Roles: []nodes.Role{good}, Profile: broken}, []string{"Profile:", "add up"}},
		"compact":        {nodes.Config{Session: store, Roles: []nodes.Role{good}, Compact: compact.Options{Budget: 100, Trigger: 2}}, []string{"Compact:"}},
		"negative":       {nodes.Config{Session: store, Roles: []nodes.Role{good}, Attempts: -1}, []string{"not below zero"}},
		"hands to none":  {nodes.Config{Session: store, Roles: []nodes.Role{{Name: "r", Models: good.Models, HandOff: []string{"s"}}}}, []string{`no other role "s"`}},
		"hands to self":  {nodes.Config{Session: store, Roles: []nodes.Role{{Name: "r", Models: good.Models, HandOff: []string{"r"}}}}, []string{`no other role "r"`}},
		"tools":          {nodes.Config{Session: store, Roles: []nodes.Role{{Name: "r", Models: good.Models, Tools: []nodes.Tool{tool("a b"), tool("x"), tool("x")}}}}, []string{`tool "a b"`, `tool "x" is there twice`}},
		"a name of ours": {nodes.Config{Session: store, Roles: []nodes.Role{{Name: "r", Models: good.Models, Tools: []nodes.Tool{tool("fetch_result")}}}}, []string{"there twice"}},
	} {
		_, err := nodes.New(c.config)
		e, ok := errors.AsType[*nodes.ConfigError](err)
		if !ok || !errors.Is(err, nodes.ErrConfig) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.faults {
			if !strings.Contains(e.Error(), want) {
				t.Errorf("%s: %q is not told in %v", name, want, err)
			}
		}
	}
	if _, err := nodes.New(nodes.Config{Session: store, Roles: []nodes.Role{good}}); err != nil {
		t.Error(err)
	}
}

func TestOutsideOfANode(t *testing.T) {
	t.Parallel()
	if err := nodes.Progress(t.Context(), "x"); !errors.Is(err, nodes.ErrNoTurn) {
		t.Errorf("%v", err)
	}
	if _, ok := nodes.StateOf[shop](t.Context()); ok {
		t.Error("there is a state outside of a node")
	}
	if _, ok := nodes.Current(t.Context()); ok {
		t.Error("there is a call outside of a tool")
	}
}
