// Package redis keeps threads in Redis 6.0 or newer, or Valkey: plain, with Sentinel, or a cluster. No module is needed.
//
// # How it works
//
// A thread is three keys with one hash tag, however many branches and namespaces it has, so that one script can read or
// write all of it. A superstep is one script, one round trip. Lists over threads read candidate sets: a thread is put into
// one before it becomes what the list is about, and looked at again when the list is read. That costs one more round trip
// at the start of a run, at a pause and for a command, and none a step. Renewals of leases have a connection of their own.
//
// # What it gives
//
// What the server gives, read when the store is opened and named by Info: with appendfsync always nothing acknowledged is
// lost when the machine crashes, with everysec up to two seconds may be, without an append-only file all since the last
// dump. A failover loses what had not reached the replica, whatever appendfsync says. A holder whose last record was lost
// is told so by checkpoint.ErrRolledBack at its next write; what it did since repeats under the same Once keys.
//
// # Caveats
//
//   - The server must not evict: with any maxmemory-policy but noeviction it would drop threads that people wait for.
//   - Everything is in memory. Options.TTL lets threads expire some time after they have ended.
//   - A body must be smaller than the server's proto-max-bulk-len (512 MB). While a body of 100 MB is stored the server serves
//     nobody else, and for a moment needs several times its size.
//   - Lease decisions use the server's clock. Lists over threads of a cluster compare the clocks of two nodes: these must stay within
//     seconds of each other, as with NTP. New refuses a cluster whose masters are more than three seconds apart, or a quarter
//     of ten OpTimeouts if that is less. A node whose clock is wrong later may make a list miss threads until their next run.
package redis
