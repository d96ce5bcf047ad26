// Package postgres keeps threads in a Postgres database, for programs that run on several machines. It needs Postgres 12 or
// newer, an UTF8 database, and no extension.
//
// # How it works
//
// A call is one round trip. What belongs together goes to the server as one pipeline, which is one transaction that the server
// ends by itself: no connection is held between calls, and no lock while a client thinks, sleeps or is frozen. The ordinary
// superstep is one statement, which touches one table and one index and changes no row of the thread. When many appends are
// under way they share commits. Renewals of leases have a connection of their own and pass over rows that are locked.
//
// # What it gives
//
// With [On], the default, an acknowledged write survives a crash of the server's machine, and reaches those replicas that
// synchronous_commit and synchronous_standby_names of the server name. With [Off] a crash of the server may take the last
// moments, in whole writes, from the end, and so may a failover to a replica that was behind. A run that lives on is then told so
// at its next write, and nothing of that is stored. Info names the class, and says so if the server runs with fsync=off.
//
// # Roles and row-level security
//
// Open makes and migrates the tables, so its role needs the right to do so, once. To keep the program's role apart, have the
// owner call [Migrate] and grant the rest:
//
//	grant usage on schema holdfast to app;
//	grant select, insert, update, delete on all tables in schema holdfast to app;
//
// With [Options.RowSecurity] the policies bind every statement to the tenant of its call. Open refuses a role that they would
// not bind. Lists over all tenants, so also Recover, need a store of another role, which has BYPASSRLS.
//
// # Poolers
//
// Behind a pooler in transaction mode set [Options.Pooler]; the test is PgBouncer 1.18. A pooler in session mode needs no
// option. Without the option Open refuses a pooler that refuses settings of a session.
//
// # Caveats
//
//   - Lease decisions use the server's clock. A clock that jumps costs work, never safety.
//   - A body of almost 1 GB is checkpoint.ErrTooLarge. Bodies of 100 MB work; they need several times their size in memory,
//     on both sides. The lease of a thread is not extended while an append of it is under way.
//   - A call whose context ends may cost its connection; the pool makes another.
//   - The space of deleted rows is for autovacuum, as everywhere in Postgres.
package postgres
