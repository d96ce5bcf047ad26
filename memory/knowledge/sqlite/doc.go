// Package sqlite keeps documents in one SQLite file. It is the embedded default: no server, no cgo, several processes of one machine may share
// the file, and long-term memory, conversations and threads may be in it too.
//
//	store, err := sqlite.Open("app.db", sqlite.Options{})
//
// # What it gives
//
// An acknowledged write survives a crash of the machine: every commit waits for the disk. One connection of a process writes; reads have their own
// connections, and do not wait for an index that is being made: they see the documents before, until it is there. Times are by SQLite's clock,
// which has milliseconds.
//
// Vectors are looked at one after the other, so the time of a search grows with what its reader may read. Up to some 100,000 chunks with vectors of
// 128 dimensions, or 10,000 of 1,536, that is a good choice; beyond it take memory/knowledge/postgres.
//
// # Caveats
//
//   - The file must be on a local disk: network file systems do not lock as SQLite needs it.
//   - What is removed is overwritten with zeros in the file; the log beside it (-wal) may have it until the last Close.
//   - The space of deleted rows is reused; the file shrinks with Compact and Erase.
package sqlite
