// Package nodes has the ready nodes of an agent, and the standard agent made of them, over any state that embeds a Turn.
//
//	type Shop struct {
//		nodes.Turn
//		Refunds state.List[Refund] `json:"refunds"`
//	}
//
//	kit, err := nodes.New(nodes.Config{
//		Roles:   []nodes.Role{{Name: "support", System: []string{"You help with orders."}, Models: []nodes.Model{model}, Tools: tools}},
//		Session: sessions,
//	})
//	app, err := nodes.Agent[Shop]("shop", kit).Compile(graph.Options{Store: store})
//	out, err := app.Run(ctx, thread, nodes.Input[Shop](scope, message.User("Where is my latest order?")))
//	fmt.Println(nodes.Reply(&out.Turn).Text())
//
// # The nouns
//
// A Turn is what the nodes keep in the thread: the working copy of the history, what was loaded and recalled, what the calls of
// tools came to. A Config names what they work with, a Kit has the nodes of one Config. A Role is who answers: instructions,
// tools, models. A Model answers a Request with an Answer. A Tool is a Go function that a model may call. Memories and Documents are
// long-term memory and documents over the stores of memory/longterm and memory/knowledge.
//
// # The nodes
//
//	load_working_state    the user's message into the conversation; its denials into pins; session state, read once
//	load_long_term_memory items about the user, if there is a LongTerm
//	retrieve_knowledge    items of documents, if there is a Knowledge
//	assemble              the prompt under its budget, and the manifest that explains it
//	call_model            the model, with retries, fallbacks, structured output
//	call_tools            one task for each call: gate, approval, effect, result
//	approve               questions about calls before any of them runs, where Config.ApproveFirst says so
//	compact               results cut to excerpts between two steps, old rounds summed up after the reply
//	write_back            the reply into the conversation, what may be remembered into the outbox
//
// # Promises
//
//   - A call that has a recorded result never runs again; of parallel calls a crash repeats only those without one, under the
//     same idempotency key.
//   - A tool that a person, a pin or a policy refuses is not invoked, whatever wraps it.
//   - A reply that was cut is never taken for a reply. What had been written when a run was stopped is kept, marked Partial.
//   - Whatever ended the last turn, the next one is a history that every provider takes.
//   - The thread of one user takes no message of another.
package nodes
