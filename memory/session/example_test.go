package session_test

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

func Example() {
	ctx := context.Background()
	store, err := session.NewMemory(session.Options{})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	scope, err := memory.NewScope("acme", "ann") // from the authenticated request
	if err != nil {
		panic(err)
	}

	// A tool has found the service. The model guesses the environment, which confirms nothing.
	found := message.Tool(message.Call{ID: "call-1", Name: "find_service"}.Done("payment-api"))
	asked := message.Assistant("Do you mean production?")
	state, err := store.Write(ctx, scope, "chat-1", session.Write{
		Messages: []message.Message{message.User("look at the payment service"), found, asked},
		Set:      []session.Change{session.Set(session.CurrentService, session.Service{ID: "payment-api"}, session.FromTool("call-1"))},
		Propose:  []session.Proposal{session.Propose(session.Env, "production", asked.ID, 0)},
	})
	if err != nil {
		panic(err)
	}
	_, ok := session.Get(state, session.Env)
	fmt.Println("environment confirmed:", ok)

	// The user says yes to the only candidate.
	said := message.User("好的")
	if session.Reply(said.Text()) == session.Yes {
		state, err = store.Write(ctx, scope, "chat-1", session.Write{
			Messages: []message.Message{said},
			Confirm:  []session.Answer{{Message: said.ID}},
		})
		if err != nil {
			panic(err)
		}
	}
	fmt.Print(state.Summary())
	// Output:
	// environment confirmed: false
	// Confirmed:
	// - currentService: {"id":"payment-api"} (by a tool)
	// - env: "production" (by the user)
}

func ExampleNewField() {
	order := session.NewField("order", func(n int) error {
		if n <= 0 {
			return fmt.Errorf("an order number is above 0")
		}
		return nil
	})
	store, _ := session.NewMemory(session.Options{Fields: []session.Definition{order}})
	defer store.Close()
	scope, _ := memory.NewScope("acme", "ann")

	said := message.User("order -1")
	_, err := store.Write(context.Background(), scope, "chat-1", session.Write{
		Messages: []message.Message{said},
		Set:      []session.Change{session.Set(order, -1, session.FromUser(said.ID))},
	})
	fmt.Println(err)
	// Output: session: invalid value: "order": an order number is above 0
}

func ExampleReply() {
	for _, text := range []string{"好的", "不用了，谢谢", "好的，改成生产环境", "yes, please", "yes?"} {
		fmt.Println(text, session.Reply(text))
	}
	// Output:
	// 好的 yes
	// 不用了，谢谢 no
	// 好的，改成生产环境 unclear
	// yes, please yes
	// yes? unclear
}
