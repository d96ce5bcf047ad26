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
//   - A history can be whatever a program made of it. Only [Valid] says whether a provider will take it, and [Repair] makes
//     it so.
//   - A history is cut between groups only. [Trim] does that, and keeps what must stay.
//
// # Repair
//
// A cancelled run, a crash, a lost connection or a careless cut leave a history that providers refuse, and with it the
// conversation is locked for good. [Repair] makes any history valid:
//
//	history, fixes := message.Repair(history, message.RepairOptions{})
//
// It is run twice. First when a history was loaded, and before it is trimmed or summarized: what is known of calls that
// ended without a result goes in by RepairOptions.Outcome, calls that may still end stay open by RepairOptions.Pending, and
// what comes out can be stored. Then before each call of a model, with RepairOptions.Waiting: now pending calls are answered
// too, for this one prompt. Who has stored nothing repaired loses nothing: the next Repair gives the same, ids included.
//
// What it does, by the rule that was broken:
//
//   - form: other text than UTF-8 gets the replacement character; a part that holds several things becomes several; text and
//     images in a tool's message go into the result before them; a status that is none is ok; a role that is none is the
//     assistant's if the message has calls, a tool's if it has only results, else the user's; results name the tool of their
//     call. What has no place is dropped.
//   - empty: empty texts go, and messages of which nothing is left.
//   - first: a conversation that begins with the assistant gets a short message of the user before it.
//   - messageid: a copy of a message goes; another message with its id gets a new id.
//   - callid: the call that comes later gets a new id, and its results with it.
//   - args: they become {"_raw": "..."}, so that the model sees what it wrote; {} if there were none.
//   - open: the call is ended as Outcome says, or as crashed: its outcome is not known. If the model was cut off while it
//     wrote the call, it is cancelled. What an interim result has said stays.
//   - once: the first final result stays. Later ones, and interim ones that another followed, are dropped.
//   - orphan: the result is dropped. It is not quoted elsewhere, since nobody knows what it answers.
//   - place: results move up to their call.
//
// Each [Fix] says what was done and holds what was dropped, for a log or for a person. Its Detail has no contents.
//
// # Caveats
//
// Text must be valid UTF-8. [Encode] and [Valid] refuse other text, and so does a graph's state; make text valid where it
// enters the program (strings.ToValidUTF8). Messages share their slices when they are copied by assignment;
// [Message.Clone] copies all of one.
package message
