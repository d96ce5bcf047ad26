// Package audit keeps a log of every read and write of the boxes of memory: who, when, on which conversation, which items, with what
// result. It has nothing of their content.
//
//	log, err := sqlite.Open("audit.db", sqlite.Options{})
//	...
//	store, err := longterm.NewMemory(longterm.Options{Auditor: log})
//
// # The chain
//
// Each tenant has a chain of its own: an [Entry] has a number and a SHA-256 hash of the hash before and of all its columns, and a head row
// has the last number and hash. [Log.Verify] finds an entry that was changed, removed, added or moved, the last one too. Who
// knows all that and may write to the tables can make the end of the chain anew, and the head; that is found by an [Anchor],
// which was exported before to a place where they cannot write.
//
// # Persons
//
// The chain knows users by pseudonyms. A table of names says whose they are, and has a secret for each; ids of conversations and items are
// sealed with it. [Log.Forget] removes the row: the chain stays valid, and nobody can say any more whom it was of. A pseudonym is made of the name and
// the secret, so that Verify finds a name that was changed, or removed in another way.
//
// # Caveats
//
//   - Who guesses a user can find out from the hash of the scope that they were forgotten.
//   - Agents, boxes, verbs, and the ids of what belongs to a tenant and to no user are in the clear.
//   - A chain that was removed as a whole, with its head, is found by an anchor alone.
//   - A write that has only begun may have happened or not: the process died.
package audit
