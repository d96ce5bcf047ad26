package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/state"
)

// Care is the state of an agent: what the ready nodes keep, and whatever else.
type Care struct {
	nodes.Turn
	Paid state.Sum[int] `json:"paid"`
}

// Order is a fact that a conversation may have.
var Order = session.NewField[int]("order")

type orderArgs struct {
	Order int `json:"order" description:"number of the order"`
}

var latest = nodes.NewTool("latest_order", "The user's latest order.",
	func(ctx context.Context, _ struct{}) (int, error) { return 1042, nil },
	nodes.ToolOptions[struct{}, int]{ReadOnly: true,
		Facts: func(_ context.Context, src session.Source, _ struct{}, order int) []session.Change {
			return []session.Change{session.Set(Order, order, src)} // "it" is this order from now on
		}})

var refund = nodes.NewTool("refund_order", "Refunds an order in full.",
	func(ctx context.Context, a orderArgs) (string, error) {
		call, _ := nodes.Current(ctx)
		_ = call.Key // the bank's Idempotency-Key: the same for this call in every process
		return fmt.Sprintf("order %d is refunded", a.Order), nil
	},
	nodes.ToolOptions[orderArgs, string]{Actions: []string{"refund"}, Policy: nodes.Ask})

// scripted stands for a model. It knows what the prompt says, and nothing else.
var scripted = nodes.ModelFunc(func(_ context.Context, r nodes.Request, stream func(nodes.Delta)) (nodes.Answer, error) {
	last := r.Messages[len(r.Messages)-1]
	answer := message.Assistant("What can I do for you?")
	switch {
	case last.Role == message.RoleTool:
		answer = message.Assistant("Done: " + last.Text() + ".")
	case strings.Contains(last.Text(), "latest order"):
		answer = message.Assistant("", message.Call{ID: "c1", Name: "latest_order", Args: "{}"})
	case strings.Contains(last.Text(), "refund it") && strings.Contains(r.Messages[0].Text(), "1042"): // in the session state
		answer = message.Assistant("", message.Call{ID: "c2", Name: "refund_order", Args: `{"order":1042}`})
	}
	return nodes.Answer{Message: answer, Stop: nodes.StopEnd}, nil
})

func ExampleAgent() {
	ctx := context.Background()
	conversations, err := session.NewMemory(session.Options{Fields: []session.Definition{Order}})
	check(err)
	kit, err := nodes.New(nodes.Config{
		Session: conversations,
		Roles: []nodes.Role{{
			Name:   "support",
			System: []string{"You help with orders."},
			Models: []nodes.Model{scripted},
			Tools:  []nodes.Tool{latest, refund},
		}},
	})
	check(err)
	app, err := nodes.Agent[Care]("aftersales", kit).Compile(graph.Options{Store: new(checkpoint.Memory)})
	check(err)
	defer app.Close(ctx)

	scope, err := memory.NewScope("acme", "ann") // of the authenticated request
	check(err)
	say := func(text string) (*Care, error) {
		m := message.User(text)
		return app.With(nodes.RunOptions(scope, "chat-1", m)).Run(ctx, graph.Thread{Tenant: "acme", ID: "chat-1"}, nodes.Input[Care](scope, m))
	}
	s, err := say("Where is my latest order?")
	check(err)
	fmt.Println(nodes.Reply(&s.Turn).Text())

	_, err = say("Then refund it.")
	open, ok := errors.AsType[*graph.Interrupted](err)
	if !ok {
		check(err)
	}
	asked, err := graph.PromptOf[nodes.Approval](open.Questions[0])
	check(err)
	fmt.Println("May it?", asked.Call.Name, string(asked.Args))
	s, err = app.Resume(ctx, open.Thread, graph.Answer(open.Questions[0], nodes.Approve()).By("bob")) // in any process, any time
	check(err)
	fmt.Println(nodes.Reply(&s.Turn).Text())
	// Output:
	// Done: 1042.
	// May it? refund_order {"order":1042}
	// Done: order 1042 is refunded.
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
