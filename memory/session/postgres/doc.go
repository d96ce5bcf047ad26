// Package postgres keeps conversations in a Postgres database, for programs that run on several machines. It needs Postgres 12
// or newer, an UTF8 database, and no extension. Its tables begin with hfs_ and may share a schema with those of a checkpoint
// store.
//
//	store, err := postgres.Open(ctx, "postgres://localhost/app", postgres.Options{})
//
// # What it gives
//
// A write locks the row of its conversation, so writes to one conversation happen one after the other, whatever machine they come
// from. It takes about five round trips. Times are by the server's clock. An acknowledged write is as durable as the
// setting synchronous_commit of the server, the database or the role says.
//
// # Roles
//
// Open makes and migrates the tables, so its role needs the right to do so, once. Later a role is enough that may select,
// insert, update and delete.
//
// # Caveats
//
//   - Behind a pooler in transaction mode set [Options.Pooler].
//   - A call whose context ends may cost its connection; the pool makes another.
package postgres
