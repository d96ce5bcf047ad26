package nodes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// Four eyes are for what the tool's author asks about. Where only a pin of the user asks, the user's own word is what is missing. // R50
func TestFourEyesAndThePinsOfTheUser(t *testing.T) {
	t.Parallel()
	type args struct {
		Amount int `json:"amount"`
	}
	for name, tc := range map[string]struct {
		o      nodes.ToolOptions[args, string]
		amount string
		said   string
		user   error // of the user's own approval
	}{
		"a pin alone":           {said: "Don't refund anything without asking me.", amount: `{"amount":5}`},
		"AskIf":                 {said: "Refund it.", amount: `{"amount":500}`, user: checkpoint.ErrNotAllowed},
		"AskIf without a word":  {said: "Refund it.", amount: `{"amount":5000}`, user: checkpoint.ErrNotAllowed},
		"a pin and AskIf":       {said: "Don't refund anything without asking me.", amount: `{"amount":500}`, user: checkpoint.ErrNotAllowed},
		"a pin and the policy":  {said: "Don't refund anything without asking me.", amount: `{"amount":5}`, o: nodes.ToolOptions[args, string]{Policy: nodes.Ask}, user: checkpoint.ErrNotAllowed},
		"the policy, and AskIf": {said: "Refund it.", amount: `{"amount":500}`, o: nodes.ToolOptions[args, string]{Policy: nodes.Ask}, user: checkpoint.ErrNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.o.Actions, tc.o.FourEyes = []string{"refund"}, true
			tc.o.AskIf = func(_ context.Context, a args) (string, bool) {
				reason := map[bool]string{true: "", false: "that is much"}[a.Amount > 1000]
				return reason, a.Amount > 100
			}
			ran := 0
			tool := nodes.NewTool("refund", "pays back", func(context.Context, args) (string, error) { ran++; return "paid", nil }, tc.o)
			b := newBench(t, nodes.Config{Roles: []nodes.Role{{Name: "support", Tools: []nodes.Tool{tool}}}},
				calls(message.Call{ID: "c1", Name: "refund", Args: tc.amount}), tells("done"))
			_, err := b.app.Run(t.Context(), b.thread, nodes.Input[shop](b.scope, message.User(tc.said)))
			open, ok := errors.AsType[*graph.Interrupted](err)
			if !ok || len(open.Questions) != 1 {
				t.Fatalf("got %v; want one question", err)
			}
			answer := graph.Answer(open.Questions[0], nodes.Approve())
			if _, err = b.app.Resume(t.Context(), b.thread, answer.By("ann")); !errors.Is(err, tc.user) {
				t.Errorf("the user's own approval: %v; want %v", err, tc.user)
			}
			if tc.user != nil {
				if _, err = b.app.Resume(t.Context(), b.thread, answer.By("bob")); err != nil {
					t.Errorf("another's approval: %v", err)
				}
			}
			if ran != 1 {
				t.Errorf("it ran %d times", ran)
			}
		})
	}
}
