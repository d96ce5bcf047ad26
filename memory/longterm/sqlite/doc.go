// Package sqlite keeps long-term memory in one SQLite file. It is the embedded default: no server, no cgo, several processes of one
// machine may share the file, and conversations and threads may be in it too.
//
//	store, err := sqlite.Open("app.db", sqlite.Options{Longterm: longterm.Options{Rules: extract.Rules()}})
//
// # What it gives
//
// An acknowledged write survives a crash of the machine: every commit waits for the disk. One connection of a process writes;
// reads have their own connections and do not wait for it. Times are by SQLite's clock, which has milliseconds.
//
// Vectors are looked at one after the other, so the time of a search grows with what its user has: see [Options.Longterm] and
// BenchmarkSearch. Up to some 100,000 vectors of 128 dimensions, or 10,000 of 1,536, of one user that is a good choice; beyond it take
// memory/longterm/postgres.
//
// # Forgetting
//
// What is deleted is overwritten with zeros in the file. What was written lately is also in the log beside it (-wal): Forget and Erase
// fold it into the file and empty it, if no other process is reading at that moment; else the next of them does, or the last Close.
// SQLite does not reach the copies that a page keeps in its gaps where rows moved to another: Erase writes the whole file anew for
// that, and after Forget it is for Compact.
//
// # Caveats
//
//   - The file must be on a local disk: network file systems do not lock as SQLite needs it.
//   - The space of deleted rows is reused; the file shrinks with Compact and Erase.
package sqlite
