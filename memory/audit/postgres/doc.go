// Package postgres keeps an audit log in a Postgres database, for programs that run on several machines. It needs Postgres 12 or newer, an
// UTF8 database, and no extension. Its tables begin with hfa_ and may share a schema with those of the boxes.
//
//	log, err := postgres.Open(ctx, "postgres://localhost/app", postgres.Options{})
//
// # What it gives
//
// A group of accesses locks the head of its tenant's chain, so entries come one after the other, whatever machine they come from. It takes
// about five round trips, for all of the group. Times are by the server's clock. An access that was noted is as durable as the setting
// synchronous_commit of the server, the database or the role says.
//
// # Roles
//
// Open makes and migrates the tables, so its role needs the right to do so, once. Later a role is enough that may select and insert, update
// hfa_chain, and delete from hfa_name and hfa_entry where it is to Forget and Trim.
//
// # Caveats
//
//   - Behind a pooler in transaction mode set [Options.Pooler].
package postgres
