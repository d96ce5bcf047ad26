// Package message holds what people, models and tools say to each other: messages, their parts, tool calls and results,
// and the rules that keep a history acceptable to every model provider.
//
// # The nouns
//
// A [Message] has an id, a [Role] and [Part]s. An assistant message may hold [Call]s of tools; a tool message holds the
// [Result]s. A history is a []Message. A [Group] is a piece of a history that must never be cut: an assistant message
// with calls and everything up to its last result, or any other message alone.
//
//	question := message.User("Where is my parcel?")
//	call := message.Call{ID: "c1", Name: "track", Args: `{"parcel":"P-7"}`}
//	history := []message.Message{
//		question,
//		message.Assistant("", call),
//		message.Tool(call.Done("in Lyon")),
//		message.Assistant("It is in Lyon."),
//	}
//	err := message.Valid(history) // nil: any provider takes it
//
// # Rules
//
//   - A message is plain data. It holds no interface and no hidden field, so it survives JSON exactly, in a graph's state
//     or in [Encode] and [Decode].
//   - A message's id is its key: in a state.Keyed[message.Message] a message with the same id replaces the earlier one.
//     Constructors give random ids. A history that names an id twice is invalid.
//   - A call is open until it has a result that is not interim. [Open] lists the open calls. Do not summarize or drop them.
//   - A history can be whatever a program made of it. Only [Valid] says whether a provider will take it.
//
// # Caveats
//
// Text must be valid UTF-8. [Encode] and [Valid] refuse other text, and so does a graph's state; make text valid where it
// enters the program (strings.ToValidUTF8). Messages share their slices when they are copied by assignment;
// [Message.Clone] copies all of one.
package message
