// Package sqlite keeps threads in one SQLite file. It is the embedded default: no server, no cgo, several processes of one
// machine may share the file.
//
// # How it works
//
// One goroutine of a process writes to a file, on a connection of its own. What is queued while a commit waits for the
// disk shares the next commit, so that many threads together write far faster than one. Renewals of leases go first.
// Reads have their own connections and never wait for the writer. WAL checkpoints run beside the writer. Several stores
// opened on one path in one process share all of this.
//
// # What it gives
//
// With [Full], the default, an acknowledged write survives a crash of the machine. With [Normal] it survives a crash of
// the process; a crash of the machine may take the last second.
//
// # Caveats
//
//   - The file must be on a local disk: network file systems do not lock as SQLite needs it.
//   - Lease decisions use the host's clock. A clock that jumps costs work, never safety.
//   - A body of 1 GB or more is checkpoint.ErrTooLarge. Bodies of 100 MB work; other writes wait behind them.
//   - The space of deleted rows is reused; the file shrinks only with VACUUM, which also wipes what was deleted.
//   - Opening a file switches SQLite in this process from fsync to fdatasync where the system has it, as SQLite on Linux
//     is usually built. It is as durable and takes less time.
package sqlite
