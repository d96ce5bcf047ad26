// Package postgres keeps long-term memory in a Postgres database, for programs that run on several machines. It needs Postgres 12 or
// newer and an UTF8 database; with an embedder Postgres 13 and the extension pgvector 0.8 or newer, which Open makes where it may. Its tables
// begin with hfl_ and may share a schema with those of the other boxes.
//
//	store, err := postgres.Open(ctx, "postgres://localhost/app", postgres.Options{Longterm: longterm.Options{Rules: extract.Rules()}})
//
// # What it gives
//
// A write locks the row of its user, so writes of one user happen one after the other, whatever machine they come from. Workers on
// several machines never wait for each other's jobs. Times are by the server's clock. An acknowledged write is as durable as the
// setting synchronous_commit of the server, the database or the role says.
//
// # Vectors
//
// Vectors have a table of their own, which is made when a store is first opened with an embedder; embedders may be added or changed
// later. Users with few vectors are searched by looking at each of them, which is exact; the others by an HNSW index of the space
// and its dimensions, which is made when its first vector comes: for up to 4,000 dimensions, above 2,000 in half precision. The
// index is asked for more until enough of its rows are the user's (hnsw.iterative_scan), and where it gives up before, each is looked at.
//
// # Roles
//
// Open makes and migrates the tables, so its role needs the right to do so, once. Later a role is enough that may select,
// insert, update and delete; an index of a new space it cannot make, which is logged, and every search of that space is exact.
//
// # Forgetting
//
// What was deleted stays in the files of the server until Compact, or until VACUUM has been there and the space was used again, in its
// log until that is recycled, and in backups. Call Compact after Forget or Erase where that matters.
//
// # Caveats
//
//   - Behind a pooler in transaction mode set [Options.Pooler].
//   - A call whose context ends may cost its connection; the pool makes another.
package postgres
