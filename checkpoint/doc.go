// Package checkpoint is the contract between the graph runtime and the place where threads are kept.
//
// # Promise
//
// Every accepted step is recorded exactly once. A node runs at least once; a node whose result was acknowledged never
// runs again, unless the step refused it. An outside effect happens exactly once only if it uses the idempotency key it
// is handed.
//
// # The nouns
//
// A [Key] names a thread. A thread is a tree of branches; each branch is a set of chains, one for each [Namespace]; a
// chain is a row of immutable [Record]s numbered 0, 1, 2 ... without gaps. A [Head] is the one mutable row of a thread:
// who holds it, which run it is in, what waits for it. [Question]s are asked of people, [Command]s come from outside.
//
// A [Store] is dumb on purpose. It appends, reads, lists and deletes; it takes, renews and releases leases. What a
// record means, when a snapshot is due, how a fork is made: all of that lives once, above it, in package graph.
//
// # Rules that every store obeys
//
//   - A write is atomic: all of it or nothing.
//   - A write is fenced: it carries the [Nonce] of its acquisition, and a store refuses any other with [ErrStale].
//   - A record is written at the position after the tail of its chain, or the whole write is [ErrStale].
//   - Any call may have happened although it returned an error. Repeating the same call unchanged is safe and tells.
//   - Lease decisions use the store's clock, never the caller's.
//   - Bodies are opaque bytes and come back as they were.
//   - Reading what is not there creates nothing.
//
// A new store proves itself with checkpointtest.Run.
package checkpoint
