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

func ExampleRepair() {
	pay := message.Call{ID: "c1", Name: "pay", Args: `{"amount":40}`}
	mail := message.Call{ID: "c2", Name: "mail", Args: `{"to":`} // cut off
	history := []message.Message{
		message.User("Refund me."),
		message.Assistant("", pay, mail),
		message.User("Hello?"), // the user came before the result
		message.Tool(pay.Done("paid")),
	}
	for i := range history {
		history[i].ID = fmt.Sprint("m", i)
	}
	history, fixes := message.Repair(history, message.RepairOptions{
		Outcome: func(c message.Call) message.Result {
			return c.Ended(message.StatusCancelled, "The user stopped the run.")
		},
	})
	for _, f := range fixes {
		fmt.Println(f)
	}
	for _, m := range history {
		fmt.Printf("%s %v %q\n", m.Role, m.Calls(), m.Text())
	}
	fmt.Println(message.Valid(history))
	// Output:
	// message 1 ("m1"): call "c2" had no final result and was ended as cancelled (rule open)
	// message 1 ("m1"): the arguments of call "c2" are no JSON object and were put into one (rule args)
	// message 3 ("m3"): the result of call "c1" was moved up to it (rule place)
	// user [] "Refund me."
	// assistant [{c1 pay {"amount":40}} {c2 mail {"_raw":"{\"to\":"}}] ""
	// tool [] "paid"
	// tool [] "The user stopped the run."
	// user [] "Hello?"
	// <nil>
}

// A person is asked before money is paid. Until the answer comes, the call stays open in the store and waits in the prompt.
func ExampleRepair_pending() {
	pay := message.Call{ID: "c1", Name: "pay", Args: `{"amount":40}`}
	loaded := []message.Message{message.User("Refund me."), message.Assistant("", pay), message.User("Hello?")}
	asked := func(c message.Call) bool { return c.ID == "c1" }

	stored, _ := message.Repair(loaded, message.RepairOptions{Pending: asked})
	fmt.Println("open:", message.Open(stored))

	prompt, _ := message.Repair(stored, message.RepairOptions{Pending: asked, Waiting: "Waiting for approval."})
	fmt.Println("told:", prompt[2].Text())

	stored = append(stored, message.Tool(pay.Done("paid"))) // the answer, after other messages
	prompt, _ = message.Repair(stored, message.RepairOptions{Pending: asked, Waiting: "Waiting for approval."})
	fmt.Println("told:", prompt[2].Text())
	// Output:
	// open: [{c1 pay {"amount":40}}]
	// told: Waiting for approval.
	// told: paid
}

func ExampleTrim() {
	ask := message.Call{ID: "c1", Name: "approve", Args: "{}"}
	history := []message.Message{
		message.System("Be kind."),
		message.User("Where is my parcel?"),
		message.Assistant("In Lyon."),
		message.Assistant("", ask), // still open
		message.User("Thanks. And the refund?"),
	}
	total, most := 4, 2 // messages that are not from the system; a program counts tokens
	kept, dropped := message.Trim(history, func(g message.Group) bool {
		fits := total <= most
		if !fits {
			total -= len(g.Messages)
		}
		return !fits
	})
	fmt.Println(len(dropped), "dropped")
	for _, m := range kept {
		fmt.Printf("%s %v %q\n", m.Role, m.Calls(), m.Text())
	}
	// Output:
	// 2 dropped
	// system [] "Be kind."
	// assistant [{c1 approve {}}] ""
	// user [] "Thanks. And the refund?"
}

func ExampleValid() {
	reply := message.Tool(message.Call{ID: "c9", Name: "track"}.Done("in Lyon"))
	reply.ID = "m2"
	fmt.Println(message.Valid([]message.Message{message.User("Where is it?"), reply}))
	// Output:
	// message: the history is invalid
	// 	message 1 ("m2"): a result answers call "c9", which is not before it (rule orphan)
}
