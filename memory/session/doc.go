// Package session keeps what was said and what was confirmed in one conversation of one user.
//
// # The nouns
//
// A [Store] keeps conversations. A [Conversation] has messages, which are for a page and an audit and are never compacted, and a
// [State]: the [Fact] of each field that was confirmed, [Candidate]s that were guessed and wait for the user, and pins. A
// [Field] is a typed name, such as [Env] or [CurrentService]; a store is opened with the fields that its conversations may have.
//
//	var Order = session.NewField[int]("order")
//
//	store, err := session.NewMemory(session.Options{Fields: []session.Definition{session.Env, Order}})
//	...
//	state, err := store.Write(ctx, scope, "chat-1", session.Write{
//		Messages: []message.Message{said}, // "order 1042, please"
//		Set:      []session.Change{session.Set(Order, 1042, session.FromUser(said.ID))},
//	})
//	order, ok := session.Get(state, Order)
//
// # Trust
//
// A model confirms nothing. A fact refers to a call that has a successful result in this conversation, or to a message of the
// user in it, and the store looks it up in the transaction that writes the fact; anything else is [ErrUnconfirmed]. The call must have
// ended well in the last result that was stored for it. A value that was guessed is proposed: it becomes a fact when a
// later message of the user confirms its id, within its time, once. What an answer means is for the caller to say; [Reply] reads
// the plain ones.
//
// # Writing
//
// [Store.Write] is called when something happened and before anything follows from it: the message or tool result and what it
// confirms are stored together or not at all. Every write may be repeated: messages, candidates and pins are known by id, facts
// by field, reference and value. Ids of messages and calls must therefore be unique in their conversation, and stay the same when
// a step is run again.
//
// # Runs
//
// A conversation, its messages and its runs are three records. A run is the checkpoint store's: start it with the metadata
// "conversation" and "message" (the id of the user's message), and its directory of runs finds those of a conversation.
//
// # Caveats
//
//   - Times are by the store's clock: the database server's for Postgres, the machine's for the others. The order of
//     facts and messages does not depend on it.
//   - Pins that conversations of one user say at the same moment are counted one by one, so a few more than Options.Pins may be
//     in force.
//   - A message or call id of more than 256 bytes, or with control characters: such a message is refused, such a call is
//     stored and confirms nothing.
//   - A string that is no valid UTF-8 is stored as encoding/json writes it, with U+FFFD.
package session
