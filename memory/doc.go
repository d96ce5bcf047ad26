// Package memory names whose memory a call is about, and what the boxes share.
//
// There are four boxes, each a package with a store of its own, and no call of one writes another:
//
//   - memory/working assembles the prompt of one model call and keeps nothing.
//   - memory/session keeps what was confirmed in one conversation.
//   - memory/longterm keeps what one user told us, across conversations.
//   - memory/knowledge keeps what the documents of the company say.
//
// Every call of a box that keeps something takes a [Scope]. There is no call without one, and no default user: two people
// who forgot to say who they are must not share a memory.
package memory
