// Package golden keeps threads as each released format has left them, in every state that a thread can be in, on every store that
// outlives a process. Its tests have the present program continue all of them (C15, E45), and continue threads whose process
// died behind any write.
//
// Each folder of testdata is one database in three forms: a SQLite file, the statements that make the tables of a Postgres schema and fill
// them, and the keys of a Redis prefix, all compressed; and what has to become of each thread. They are what a user of that
// release has, so they are read by the store and not through it. A new format gets new files by
//
//	go test ./internal/golden -run TestGolden -update
//
// and those of a released format are never written again.
package golden
