// Package postgres keeps documents in a Postgres database, for programs that run on several machines. It needs Postgres 12 or newer and an UTF8
// database; with an embedder also the extension pgvector, 0.8 or newer. Its tables begin with hfk_ and may share a schema with those of other
// stores.
//
//	store, err := postgres.Open(ctx, "postgres://localhost/app", postgres.Options{})
//
// # What it gives
//
// An index locks the row of its tenant, so indexes of one tenant happen one after the other, whatever machine they come from. Who searches waits for
// none of them, and sees the documents before until it is there. Times are by the server's clock. An acknowledged write is as durable as the setting
// synchronous_commit of the server, the database or the role says.
//
// Vectors are looked at one by one up to [Options.Exact]; beyond it they are found by an HNSW index, which goes on until enough are found that the
// reader may read.
//
// # Roles
//
// Open makes and migrates the tables, so its role needs the right to do so, once; with an embedder also to make the extension, which on most servers a
// superuser does beforehand. Later a role is enough that may select, insert, update and delete.
//
// # Caveats
//
//   - Behind a pooler in transaction mode set [Options.Pooler].
//   - A call whose context ends may cost its connection; the pool makes another.
//   - What is removed is gone from the tables; from their files with Compact, or when VACUUM has been there and the space was used again.
package postgres
