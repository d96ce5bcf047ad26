// Package sqlite keeps an audit log in one SQLite file. Several processes of one machine may share the file. Give it a file of its own
// where others may write to the boxes' and not to this one.
//
//	log, err := sqlite.Open("audit.db", sqlite.Options{})
//
// # What it gives
//
// An access that was noted survives a crash of the machine: every commit waits for the disk. Times are by SQLite's clock, which has
// milliseconds.
//
// # Caveats
//
//   - The file must be on a local disk: network file systems do not lock as SQLite needs it.
//   - One transaction writes to a file at a time, whatever the tenant: in the file of the boxes accesses wait for their writes.
package sqlite
