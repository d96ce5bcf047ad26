package message_test

import (
	"fmt"

	"github.com/holdfast-go/holdfast/message"
)

func Example() {
	call := message.Call{ID: "c1", Name: "track", Args: `{"parcel":"P-7"}`}
	history := []message.Message{
		message.User("Where is my parcel?"),
		message.Assistant("", call),
		message.Tool(call.Done("in Lyon")),
		message.Assistant("It is in Lyon."),
	}
	fmt.Println(message.Valid(history))
	for _, g := range message.Groups(history) {
		fmt.Println(g.Start, len(g.Messages), g.Messages[0].Role)
	}
	// Output:
	// <nil>
	// 0 1 user
	// 1 2 assistant
	// 3 1 assistant
}

func ExampleOpen() {
	pay := message.Call{ID: "c1", Name: "pay", Args: `{"amount":40}`}
	history := []message.Message{message.User("Refund me."), message.Assistant("", pay)}
	for _, c := range message.Open(history) {
		history = append(history, message.Tool(c.Ended(message.StatusCancelled, "The user stopped the run.")))
	}
	fmt.Println(message.Valid(history))
	// Output: <nil>
}

func ExampleValid() {
	reply := message.Tool(message.Call{ID: "c9", Name: "track"}.Done("in Lyon"))
	reply.ID = "m2"
	fmt.Println(message.Valid([]message.Message{message.User("Where is it?"), reply}))
	// Output:
	// message: the history is invalid
	// 	message 1 ("m2"): a result answers call "c9", which is not before it (rule orphan)
}
