// Package sqlite keeps conversations in one SQLite file. It is the embedded default: no server, no cgo, several processes of one
// machine may share the file, and a checkpoint store may be in it too.
//
//	store, err := sqlite.Open("app.db", sqlite.Options{})
//
// # What it gives
//
// An acknowledged write survives a crash of the machine: every commit waits for the disk. One connection of a process writes;
// reads have their own connections and do not wait for it.
//
// # Caveats
//
//   - The file must be on a local disk: network file systems do not lock as SQLite needs it.
//   - Times are by SQLite's clock, which has milliseconds.
//   - The space of deleted rows is reused; the file shrinks with Compact and Erase, which also wipe what was deleted.
package sqlite
