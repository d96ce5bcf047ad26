package nodes_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// R112: whatever an agent reads and writes in a turn is noted as its own: by its name, or else by that of the role that answers.
func TestATurnIsAudited(t *testing.T) {
	t.Parallel()
	agent := agentOf(t, memory.Public, "shop")
	for want, c := range map[string]nodes.Config{agent.Name(): {Agent: agent}, "main": {}} {
		log, err := audit.NewMemory(audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		if c.Session, err = session.NewMemory(session.Options{Auditor: log}); err != nil {
			t.Fatal(err)
		}
		defer c.Session.Close()
		verbs := map[string]bool{"Write": true}
		if c.Agent.Valid() == nil {
			docs := newDocuments(t, knowledge.Options{Auditor: log}, returns)
			c.Knowledge = docs
			verbs["Retrieve"] = true
		}
		inner := 0
		look := nodes.NewTool("look", "Looks.", func(ctx context.Context, _ struct{}) (string, error) {
			inner++
			_, err := c.Session.State(ctx, scopeOf(t, "ann"), "chat-1")
			return "seen", err
		}, nodes.ToolOptions[struct{}, string]{ReadOnly: true})
		script := &lines{steps: []func(nodes.Request) (nodes.Answer, error){calls(message.Call{ID: "c1", Name: "look", Args: "{}"}), tells("Done.")}}
		c.Roles = []nodes.Role{{Name: "main", System: []string{"You help."}, Models: []nodes.Model{script}, Tools: []nodes.Tool{look}}}
		app, err := nodes.Agent[shop]("shop", kitWith(t, c)).Compile(graph.Options{Store: new(checkpoint.Memory)})
		if err != nil {
			t.Fatal(err)
		}
		defer app.Close(context.Background())
		if _, err := app.Run(t.Context(), graph.ID("chat-1"), nodes.Input[shop](scopeOf(t, "ann"), message.User("Within how many days can I return it?"))); err != nil {
			t.Fatal(err)
		}
		entries, err := log.List(t.Context(), audit.Filter{Tenant: "acme"})
		if err != nil || inner != 1 {
			t.Fatal(err, inner)
		}
		verbs["State"] = true // of the tool
		for _, e := range entries {
			if e.Verb == "Index" {
				continue // of the test
			}
			delete(verbs, e.Verb)
			if e.Agent != want || e.Result != "ok" && e.Result != "begun" || e.Box == "session" && (e.User != "ann" || e.Conversation != "chat-1") {
				t.Errorf("as %s: %+v", want, e)
			}
		}
		if len(verbs) > 0 {
			t.Errorf("nothing was noted of %v", verbs)
		}
	}
}
